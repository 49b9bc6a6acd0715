/** `GET /export/…`: files of records, streamed from one state of the database. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { pathName } from '../../src/model/labels.ts';
import { recordKinds } from '../../src/records/index.ts';
import { listen } from '../support/browser.ts';
import { fullRecord } from '../support/records.ts';
import { startService, useService } from '../support/service.ts';

const service = useService();

const rowsOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

describe.each(recordKinds.map((kind) => ({ kind, name: pathName(kind) })))('$name', ({ kind, name }) => {
  test('has all fields of each record but the workspace, as REST returns them', async () => {
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
  });

  test('is empty without records, in CSV but for its header', async () => {
    expect((await service.get(`/export/${name}.ndjson`)).text).toBe('');
    expect((await service.get(`/export/${name}.csv`)).text).toMatch(/^id,name,.*\n$/);
  });
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

test('all kinds are in one file, each after those to which it links', async () => {
  for (const kind of recordKinds) await service.create(`/${pathName(kind)}`, fullRecord(kind));

  const kinds = rowsOf((await service.get('/export/all.ndjson')).text).map(({ kind }) => kind);

  expect(kinds.toSorted()).toEqual(['ASSET', 'ASSET_CATEGORY', 'LOCATION', 'PROJECT', 'TRANSPORT_ORDER', 'WORK_ORDER']);
  const inOrder = ['LOCATION', 'PROJECT', 'WORK_ORDER'].map((kind) => kinds.indexOf(kind));
  expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
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

  test.each([
    [where({ nmae: { eq: 'x' } }), 'where: Field "nmae" is not defined by type "AssetFilter". Did you mean "name"?'],
    [where({ name: { eq: 5 } }), 'where.name.eq: '],
    [where({ uid: { in: Array(2_000).fill('x') } }), 'where'],
    ['/export/assets.csv?where={', 'where: expected a filter as JSON, such as {"name":{"eq":"Crane"}}, received "{"'],
    ['/export/assets.csv?were=1', 'were: unknown parameter, did you mean "where"?'],
    ['/export/assets.csv?where={}&where={}', 'where: expected it once, received it several times'],
    ['/export/assets.csv?excel=1', 'excel: expected true or false, received "1"'],
    ['/export/assets.ndjson?excel=true', 'excel: unknown parameter'],
    ['/export/all.ndjson?where={}', 'where: unknown parameter'],
    ['/export/assets.csv?externalIds=erp,', 'externalIds: expected names of systems such as erp,crm, received "erp,"'],
    ['/export/assets.csv?externalIds=a,a', 'externalIds: expected each name once, received "a,a"'],
    [
      `/export/assets.csv?externalIds=${'a,b,c,d,e,f,g,h,i,j,k'}`,
      'externalIds: expected at most 10 names, received 11',
    ],
  ])('and other parameters are checked: %s', async (path, message) => {
    const { status, body } = await service.get(path);

    expect([status, body.code]).toEqual([400, '400']);
    expect(body.error.slice(0, message.length)).toBe(message);
  });
});

test("a file has the records of the key's workspace only, also for a key that may not write", async () => {
  const acme = service.as(await service.key());
  await acme.create('/assets', { name: 'Crane' });

  expect((await service.as(await service.key({ workspace: 'other' })).get('/export/all.ndjson')).text).toBe('');
  expect((await service.as(await service.key({ readOnly: true })).get('/export/assets.ndjson')).text).toContain(
    'Crane',
  );
  expect((await service.get('/export/assets.ndjson')).status).toBe(401);
  expect((await acme.send('POST', '/export/assets.csv', [])).status).toBe(405);
});

describe('a long file', () => {
  // Longer than what the buffers of a connection hold, also when it is compressed.
  const records = Array.from({ length: 9_000 }, () => ({ name: randomBytes(1_000).toString('hex') }));

  const fill = async ({ create }: Pick<typeof service, 'create'>) => {
    for (let n = 0; n < records.length; n += 3_000) await create('/assets', ...records.slice(n, n + 3_000));
  };

  /** Opens the file, without reading its body. */
  async function open(app: typeof service, headers = {}): Promise<[ClientRequest, IncomingMessage]> {
    const request = get(`${await listen(app.app)}/export/assets.ndjson`, { headers, agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return [request, response];
  }

  test('is of the state at which it began, whatever is written meanwhile', async () => {
    await fill(service);
    const [, response] = await open(service);
    await service.create('/assets', { name: 'late' });
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);

    expect(rowsOf(Buffer.concat(chunks).toString()).map(({ name }) => name)).toEqual(records.map(({ name }) => name));
  });

  test('is compressed on the way, if the client accepts it', async () => {
    await fill(service);
    const [, response] = await open(service, { 'accept-encoding': 'gzip' });
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);

    expect(rowsOf(gunzipSync(Buffer.concat(chunks)).toString())).toHaveLength(9_000);
  });

  test('is the only one of its workspace at a time: another gets 429, until the first has ended', async () => {
    const impatient = await startService({ DATABASE_CONNECTION_TIMEOUT: '200' });
    onTestFinished(() => impatient.stop());
    await fill(impatient);
    const [request, response] = await open(impatient as typeof service);

    const { status, body } = await impatient.get('/export/assets.csv');
    expect([status, body.error]).toEqual([429, 'a workspace may have one export at a time: try again later']);

    // The client leaves before the end.
    response.on('error', () => {});
    request.destroy();
    await expect.poll(async () => (await impatient.get('/export/assets.csv')).status).toBe(200);
  });

  // It depends on time, which a busy machine has not.
  test('is cut off when it takes too long, without an end that could be taken for that of the file', {
    retry: 3,
  }, async () => {
    const slow = await startService({ EXPORT_TIMEOUT: '700' });
    try {
      await fill(slow);
      await fill(slow);
      for (const headers of [{}]) {
        const [, response] = await open(slow as typeof service, headers);
        expect(response.statusCode).toBe(200);
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        response.resume();
        await expect(once(response, 'end')).rejects.toThrow('aborted');
      }
      // The connection that it used is free, and clean.
      expect((await slow.get('/export/assets.csv?where={"name":{"eq":"none"}}')).headers['export-count']).toBe('0');
    } finally {
      await slow.stop();
    }
  });
});
