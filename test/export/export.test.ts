/** `GET /export/…`: files of records, streamed from one state of the database. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { pathName } from '../../src/model/labels.ts';
import { recordKinds } from '../../src/records/index.ts';
import { isPostgres } from '../support/database.ts';
import { fullRecord } from '../support/records.ts';
import { listen, startService, useSharedService, useWorkspaces } from '../support/service.ts';
import { openTemporaryFiles } from '../support/temporary-files.ts';

const service = useWorkspaces();

const rowsOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

test('a file has all fields of each record but the workspace, as REST returns them, and in CSV a header', async () => {
  for (const kind of recordKinds) {
    const name = pathName(kind);
    expect((await service.get(`/export/${name}.ndjson`)).text).toBe('');
    expect((await service.get(`/export/${name}.csv`)).text).toMatch(/^id,name,.*\n$/);
    const [created] = await service.create(`/${name}`, fullRecord(kind));
    const { workspaceId: _, ...fields } = created;

    const { status, headers, text } = await service.get(`/export/${name}.ndjson`);

    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': `attachment; filename="${name}.ndjson"`,
      'export-count': '1',
    });
    const withValues = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
    expect(rowsOf(text)).toEqual([{ kind: expect.stringMatching(/^[A-Z_]+$/), ...withValues }]);
    const [header, row] = (await service.get(`/export/${name}.csv`)).text.split('\n');
    expect(header?.split(',')).toEqual(Object.keys(kind.storedFields).filter((field) => field !== 'workspaceId'));
    expect(row).toContain(created.id);
  }

  const kinds = rowsOf((await service.get('/export/all.ndjson')).text).map(({ kind }) => kind);
  expect(kinds.toSorted()).toEqual(['ASSET', 'ASSET_CATEGORY', 'LOCATION', 'PROJECT', 'TRANSPORT_ORDER', 'WORK_ORDER']);
  const inOrder = ['LOCATION', 'PROJECT', 'WORK_ORDER'].map((kind) => kinds.indexOf(kind));
  expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
});

test('a cell has any text as it is, and an empty text is not the same as no value', async () => {
  const name = 'a "quoted", \r\n text 🏗 \u0001 ';
  await service.create('/locations', { name, city: '', state: ' x', country: null });

  const { text } = await service.get('/export/locations.csv');

  expect(text.slice(text.indexOf('\n') + 1)).toContain(',"a ""quoted"", \r\n text 🏗 \u0001 ",,,,,""," x",,,,');
});

test('for spreadsheet programs, no text begins as a formula', async () => {
  await service.create('/locations', {
    name: '=1+1',
    city: '+49',
    state: '-x',
    country: '@a',
    address1: 'a=b',
    latitude: -8,
  });

  const { text } = await service.get('/export/locations.csv?excel=true');

  expect(text.charCodeAt(0)).toBe(0xfeff);
  expect(text).toContain(",'=1+1,-8,,a=b,,'+49,'-x,,'@a,");
});

test('external IDs have columns of their own, also those of the records that links lead to', async () => {
  const [location] = await service.create('/locations', { name: 'North', externalIds: { erp: 'L1', other: 'x' } });
  await service.create('/projects', { name: 'Wall', locationId: location.id, externalIds: { erp: 'P1' } });
  await service.create('/projects', { name: 'Quay', locationId: 'ERP-9' });

  expect(rowsOf((await service.get('/export/projects.ndjson?externalIds=erp,crm')).text)).toEqual([
    expect.objectContaining({
      name: 'Wall',
      locationId: location.id,
      'location.externalIds.erp': 'L1',
      'externalIds.erp': 'P1',
    }),
    expect.not.objectContaining({ 'location.externalIds.erp': expect.anything() }),
  ]);
  const { text } = await service.get('/export/projects.csv?externalIds=erp,crm');
  expect(text).toContain(
    'locationId,location.externalIds.erp,location.externalIds.crm,externalIds.erp,externalIds.crm,',
  );
});

describe('the filter', () => {
  const where = (filter: unknown) => `/export/assets.csv?where=${encodeURIComponent(JSON.stringify(filter))}`;

  test('is that of GraphQL', async () => {
    const [location] = await service.create('/locations', { name: 'North' });
    await service.create('/assets', { name: 'Crane', currentLocationId: location.id }, { name: 'Pump' });

    const { text, headers } = await service.get(where({ currentLocation: { name: { startsWith: 'No' } } }));

    expect(headers['export-count']).toBe('1');
    expect(text).toContain('Crane');
    expect(text).not.toContain('Pump');
  });

  test('and other parameters are checked', async () => {
    const invalid = [
      [where({ nmae: { eq: 'x' } }), 'where: Field "nmae" is not defined by type "AssetFilter". Did you mean "name"?'],
      [
        where({ currentLocation: { projects: { some: { location: { projects: { some: { name: { eq: 'x' } } } } } } } }),
        'where: expected a filter that costs at most 500,000, received one that costs more',
      ],
      ['/export/assets.csv?where={', 'where: expected a filter as JSON, such as {"name":{"eq":"Crane"}}, received "{"'],
      ['/export/assets.csv?were=1', 'were: unknown parameter, did you mean "where"?'],
      ['/export/assets.csv?where={}&where={}', 'where: expected it once, received it several times'],
      ['/export/assets.csv?excel=1', 'excel: expected true or false, received "1"'],
      [
        '/export/assets.csv?externalIds=erp,',
        'externalIds: expected names of systems such as erp,crm, received "erp,"',
      ],
      [
        `/export/assets.csv?externalIds=${'a,b,c,d,e,f,g,h,i,j,k'}`,
        'externalIds: expected at most 10 names, received 11',
      ],
    ] as const;
    for (const [path, message] of invalid) {
      const { status, body } = await service.get(path);
      expect([status, body.code, body.error.slice(0, message.length)]).toEqual([400, '400', message]);
    }
  });
});

test("a file has the records of the key's workspace only, also for a key that may not write", async () => {
  await service.create('/assets', { name: 'Crane' });

  expect((await service.as(await service.key({ workspace: 'other' })).get('/export/all.ndjson')).text).toBe('');
  expect((await service.as(await service.key({ readOnly: true })).get('/export/assets.ndjson')).text).toContain(
    'Crane',
  );
  expect((await service.inject({ url: '/export/assets.ndjson' })).status).toBe(401);
  expect((await service.send('POST', '/export/assets.csv', [])).status).toBe(405);
});

/** Holds the next export where it would begin to read, until the function is called. */
function holdNext({ database }: Pick<typeof service, 'database'>, exports = 1): () => void {
  const { longSnapshot } = database;
  let go = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const spy = vi.spyOn(database, 'longSnapshot');
  for (let n = 0; n < exports; n += 1) {
    spy.mockImplementationOnce(async (workspaceId, work) => {
      await gate;
      return longSnapshot(workspaceId, work);
    });
  }
  onTestFinished(() => spy.mockRestore());
  return go;
}

async function startImpatient(settings: Readonly<Record<string, string>>) {
  const started = await startService(settings);
  onTestFinished(() => started.stop());
  return started;
}

describe('an export', () => {
  test('is of one state, whatever is written after it began', async () => {
    await service.create('/assets', { name: 'Crane' });
    const { longSnapshot } = service.database;
    const spy = vi.spyOn(service.database, 'longSnapshot').mockImplementationOnce((workspaceId, work) =>
      longSnapshot(workspaceId, async (run) => {
        await run('select name from workspaces');
        await service.create('/assets', { name: 'late' });
        return work(run);
      }),
    );
    onTestFinished(() => spy.mockRestore());

    expect(rowsOf((await service.get('/export/assets.ndjson')).text).map(({ name }) => name)).toEqual(['Crane']);
    expect(rowsOf((await service.get('/export/assets.ndjson')).text)).toHaveLength(2);
  });

  test('is one of two of its workspace at a time: a third gets 429 and when to try again', async () => {
    const impatient = await startImpatient({});
    const go = holdNext(impatient, 2);
    const running = [impatient.get('/export/assets.csv'), impatient.get('/export/assets.csv')];
    await expect.poll(() => impatient.database.longSnapshot).toHaveBeenCalledTimes(2);

    const { status, body, headers } = await impatient.get('/export/assets.csv');
    expect([status, body.error]).toEqual([429, 'a workspace may have 2 exports at a time: try again later']);
    expect(headers['retry-after']).toBe('1');
    go();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await impatient.get('/export/assets.csv')).status).toBe(200);
  });

  test('gets 503 while too many others are read', async () => {
    const impatient = await startImpatient({ DATABASE_CONNECTION_TIMEOUT: '200' });
    let end = () => {};
    const held = new Promise<void>((resolve) => {
      end = resolve;
    });
    const others = (isPostgres ? [1_001, 1_002] : [1_001]).map((workspaceId) =>
      impatient.database.longSnapshot(workspaceId, async (run) => {
        await run('select 1');
        await held;
      }),
    );

    const { status, headers } = await impatient.get('/export/assets.csv');
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    end();
    await Promise.all(others);
    expect((await impatient.get('/export/assets.csv')).status).toBe(200);
  });

  test('that takes too long to read gets 413, before the response begins', async () => {
    const slow = await startImpatient({ EXPORT_TIMEOUT: '100' });
    const go = holdNext(slow);
    setTimeout(go, 150);

    const { status, body } = await slow.get('/export/assets.csv');
    expect([status, body.error]).toEqual([
      413,
      'an export is read for at most 100 ms: export fewer records at a time, with `where`',
    ]);
    // On a busy machine, even an empty one may take that long.
    await expect.poll(async () => (await slow.get('/export/assets.csv')).status, { timeout: 20_000 }).toBe(200);
  });

  test('ends when its client has left, and leaves no file', async () => {
    await service.create('/assets', { name: 'Crane' });
    const go = holdNext(service);
    const { headers } = service;
    const request = get(`${await listen(service.app)}/export/assets.csv`, { headers, agent: false });
    request.on('error', () => {});
    await expect.poll(() => service.database.longSnapshot).toHaveBeenCalled();
    request.destroy();
    await expect.poll(() => service.logs.some((line) => line.includes('connection closed'))).toBe(true);
    go();

    expect((await service.get('/export/assets.csv')).status).toBe(200);
    await expect.poll(openTemporaryFiles).toEqual([]);
  });
});

describe('a long file', () => {
  // Longer than what stays in memory, and than what the buffers of a connection hold.
  const records = Array.from({ length: 2_000 }, () => ({ name: 'Wall', notes: randomBytes(3_000).toString('hex') }));
  const notes = records.map((record) => record.notes);

  const own = useSharedService();

  beforeAll(async () => {
    for (let n = 0; n < records.length; n += 1_000) await own.create('/projects', ...records.slice(n, n + 1_000));
  });

  async function open(headers = {}): Promise<[ClientRequest, IncomingMessage]> {
    const request = get(`${await listen(own.app)}/export/projects.ndjson`, { headers, agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return [request, response];
  }

  const notesIn = (text: string) => rowsOf(text).map((row) => row.notes);

  test('arrives whole, with its length, or compressed', async () => {
    const [, plain] = await open();
    const bytes = await buffer(plain);
    expect(Number(plain.headers['content-length'])).toBe(bytes.length);
    expect(notesIn(bytes.toString())).toEqual(notes);

    const [, compressed] = await open({ 'accept-encoding': 'gzip' });
    expect(notesIn(gunzipSync(await buffer(compressed)).toString())).toEqual(notes);
    await expect.poll(openTemporaryFiles).toEqual([]);
  });

  test('that is not read holds nothing but a file: others are exported meanwhile, and it ends with its client', async () => {
    const [request, response] = await open();

    expect((await own.get('/export/locations.csv')).status).toBe(200);
    response.on('error', () => {});
    request.destroy();
    await expect.poll(openTemporaryFiles).toEqual([]);
  });
});
