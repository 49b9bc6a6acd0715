/** `GET /export/…`: files of records, streamed from one state of the database. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { constantCase, pathName } from '../../src/model/labels.ts';
import { isPostgres } from '../support/database.ts';
import { fullRecord, restKinds } from '../support/records.ts';
import { listen, startForTest, useSharedService, useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

/** The descriptors of the temporary files that this process has open; none where the system does not list them. */
const openTemporaryFiles = (): string[] =>
  (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd') : []).filter((descriptor) => {
    try {
      return /\/yardgraph-[-0-9a-f]{36} \(deleted\)$/.test(readlinkSync(`/proc/self/fd/${descriptor}`));
    } catch {
      return false;
    }
  });

const rowsOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

test('a file has all fields of each record but the workspace, as REST returns them, and in CSV a header', async () => {
  for (const { kind, path } of restKinds) {
    const name = pathName(kind);
    expect((await service.get(`/export/${name}.ndjson`)).text).toBe('');
    expect((await service.get(`/export/${name}.csv`)).text).toMatch(/^id,name,.*\n$/);
    const [created] = await service.create(path, fullRecord(kind));
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
  expect(kinds.toSorted()).toEqual(restKinds.map(({ kind }) => constantCase(kind.name)).toSorted());
  const inOrder = ['LOCATION', 'PROJECT', 'WORK_ORDER'].map((kind) => kinds.indexOf(kind));
  expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
});

test('a cell has any text as it is, and an empty text is not the same as no value', async () => {
  const name = 'a "quoted", \r\n text 🏗 \u0001 ';
  await service.create('/locations', { name, city: '', state: ' x', country: null });
  const { text } = await service.get('/export/locations.csv');
  expect(text.slice(text.indexOf('\n') + 1)).toContain(',"a ""quoted"", \r\n text 🏗 \u0001 ",,,,,""," x",,,,');
});

test.each([
  ...['00815', '1E5', '123456789012', '1-2', '3/4', '(7)', '8:30', '5 pm', '5 €', 'MAR1', '1. déc.', 'true'],
  ...['7', '12345678901', 'Mai', 'M-5', 'Kran 12', 'E5', 'a='],
])('for spreadsheet programs, a text is in a formula if they would change it: %s', async (city) => {
  await service.create('/locations', { name: 'A', city });
  const isKept = /^(?:7|12345678901|Mai|M-5|Kran 12|E5|a=)$/.test(city);
  const { text } = await service.get('/export/locations.csv?excel=true');
  expect(text).toContain(isKept ? `,${city},` : `,"=""${city}""",`);
  expect((await service.get('/export/locations.csv')).text).toContain(`,${city},`);
});

test('for spreadsheet programs, no text begins as a formula, and an import gets all as they were', async () => {
  const others = { address1: 'a=b', address2: "'=a", postalCode: "'b", latitude: -8 };
  await service.create('/locations', { name: '=1+1', city: '+49', state: '-x', country: '@a', ...others });
  const { text } = await service.get('/export/locations.csv?excel=true');
  expect(text.charCodeAt(0)).toBe(0xfeff);
  expect(text).toContain(",'=1+1,-8,,a=b,''=a,'+49,'-x,'b,'@a,");
});

describe('CSV for Excel in a language', () => {
  test.each([
    ['de-DE', ';', '53,08', '01.03.2026', '24.12.2026 08:30:15'],
    ['sv-SE', ';', '53,08', '2026-03-01', '2026-12-24 08:30:15'],
    ['hu-HU', ';', '53,08', '2026.03.01', '2026.12.24 08:30:15'],
    ['nl-NL', ';', '53,08', '01-03-2026', '24-12-2026 08:30:15'],
    ['en-US', ',', '53.08', '03/01/2026', '12/24/2026 08:30:15'],
    ['en-GB', ',', '53.08', '01/03/2026', '24/12/2026 08:30:15'],
    ['th-TH-u-nu-thai-ca-buddhist', ',', '53.08', '01/03/2026', '24/12/2026 08:30:15'],
  ])('%s has its separator, decimal sign and dates, and IDs after names', async (excel, mark, number, date, time) => {
    const [yard] = await service.create('/locations', { name: '=Yard', latitude: 53.08 });
    const times = { startDate: '2026-03-01', endDate: '2026-12-24T07:30:15Z' };
    const [wall] = await service.create('/projects', { name: 'Wall', locationId: yard.id, statusId: 's', ...times });
    const file = async (list: string) =>
      (await service.get(`/export/${list}.csv?excel=${excel}&timeZone=Europe/Berlin`)).text.split('\n');

    expect((await file('locations'))[1]?.split(mark).slice(0, 2)).toEqual(["'=Yard", number]);
    const [head = '', row = ''] = await file('projects');
    const shown = 'Name Reference Start_date End_date Notes Status Company Location';
    const others = 'External_IDs Created_at Updated_at Created_by Updated_by';
    const ids = 'ID Status_ID Company_ID Location_ID Created_by_ID Updated_by_ID';
    expect(head.slice(1).replaceAll(' ', '_').split(mark)).toEqual(`${shown} ${others} ${ids}`.split(' '));
    // With milliseconds, Excel would show, and save, no day.
    const stamp = expect.stringMatching(/^[\d./-]+( \d\d:\d\d)?$/);
    expect(row.split(mark)).toEqual([
      ...['Wall', '', date, time, '', '', '', "'=Yard", '', stamp, stamp],
      ...['', '', wall.id, 's', '', yard.id, 'erp-sync', 'erp-sync'],
    ]);
  });

  test('has the offset of a time that clocks show twice, and other parameters have their effect', async () => {
    const times = { startDate: '2026-10-25T00:30:00Z', endDate: '2026-10-25T01:30:00.500Z' };
    await service.create('/projects', { name: 'Wall', ...times });
    const csv = async (more: string) => (await service.get(`/export/projects.csv?excel=de-DE&${more}`)).text;
    const twice = ['25.10.2026 02:30 +02:00', '25.10.2026 02:30:00.500 +01:00'];
    expect(await csv('timeZone=Europe/Berlin')).toContain(`Wall;;${twice.join(';')};`);
    expect(await csv('names=false')).not.toContain('Location;');
    const chosen = 'delimiter=tab&dates=12/31/2026&decimalComma=false';
    expect(await csv(chosen)).toContain('Wall\t\t10/25/2026 00:30 UTC\t10/25/2026 01:30:00.500 UTC\t');
  });
});

const at = (startDate: string) => ({ name: 'Wall', startDate });
const berlin = { dates: '31.12.2026', timeZone: 'Europe/Berlin' };

test.each<[kind: string, record: object, parameters: Record<string, string>, cells: string]>([
  ['locations', { name: 'a;b' }, { delimiter: ';' }, ';"a;b";;;'],
  ['locations', { name: 'a\tb' }, { delimiter: '\t' }, '\t"a\tb"\t\t\t'],
  ['locations', { name: 'a\tb' }, { delimiter: 'tab' }, '\t"a\tb"\t\t\t'],
  ['locations', { latitude: 53.08, longitude: -8 }, { decimalComma: 'true', delimiter: ';' }, ';53,08;-8;'],
  ['locations', { latitude: 53.08, longitude: 1e-7 }, { decimalComma: 'true' }, ',"53,08",1e-7,'],
  ['projects', at('2026-03-01T07:30:00Z'), { dates: '31/12/2026' }, ',01/03/2026 07:30 UTC,'],
  ['projects', at('2026-03-01T07:30:00Z'), { timeZone: 'Asia/Tokyo' }, ',2026-03-01 16:30,'],
  ['projects', at('2026-03-01'), berlin, ',01.03.2026,'],
  ['projects', at('2026-07-01T07:30:15.120Z'), berlin, ',01.07.2026 09:30:15.120,'],
  // Clocks show 02:30 twice in this night, and in Berlin of 1890 they differed by seconds.
  ['projects', at('2026-10-25T00:30:00Z'), berlin, ',25.10.2026 00:30 UTC,'],
  ['projects', at('1890-01-01T01:00:00Z'), berlin, ',01.01.1890 01:00 UTC,'],
  ['projects', at('9999-12-31T23:30:00Z'), berlin, ',31.12.9999 23:30 UTC,'],
])('CSV for a spreadsheet: of %s, %j is with %j %s', async (kind, record, parameters, cells) => {
  await service.create(`/${kind}`, record);
  const { text } = await service.get(`/export/${kind}.csv?${new URLSearchParams(parameters)}`);
  expect(text).toContain(cells);
});

test('external IDs, and the names of what links and labels lead to, have columns of their own', async () => {
  await service.create('/labels', { key: 'STATUS:status-7', name: 'Idle' }, { key: 'COMPANY:status-7', name: 'Koch' });
  const [location] = await service.create('/locations', { name: 'North', externalIds: { erp: 'L1', other: 'x' } });
  const linked = { statusId: 'status-7', companyId: 'status-7', locationId: location.id, externalIds: { erp: 'P1' } };
  await service.create('/projects', { name: 'Wall', ...linked }, { name: 'Quay', statusId: 'x', locationId: 'ERP-9' });

  const csv = (await service.get('/export/projects.csv?names=true&externalIds=erp,crm')).text;
  expect(csv).toContain(',statusId,status.name,companyId,company.name,locationId,location.name,');
  expect(csv).toContain(',location.externalIds.erp,location.externalIds.crm,externalIds.erp,externalIds.crm,');
  expect(csv).toContain(`,status-7,Idle,status-7,Koch,${location.id},North,L1,,P1,,`);
  expect(csv).toContain(',x,,,,ERP-9,,,,,,');
  const rows = rowsOf((await service.get('/export/all.ndjson?names=true&externalIds=erp,crm')).text);
  const names = { 'status.name': 'Idle', 'company.name': 'Koch', 'location.name': 'North' };
  expect(rows.filter((row) => row['status.name'] ?? row['location.name'])).toEqual([
    expect.objectContaining({ name: 'Wall', ...names, 'location.externalIds.erp': 'L1', 'externalIds.erp': 'P1' }),
  ]);
});

const where = (filter: unknown) => `csv?where=${encodeURIComponent(JSON.stringify(filter))}`;

test.each([
  [where({ nmae: { eq: 'x' } }), 'where: Field "nmae" is not defined by type "AssetFilter". Did you mean "name"?'],
  [
    where({ currentLocation: { projects: { some: { location: { projects: { some: { name: { eq: 'x' } } } } } } } }),
    'where: expected a filter that costs at most 500,000, received one that costs more',
  ],
  ['csv?where={', 'where is not valid JSON: '],
  ['csv?were=1', 'were: unknown parameter, did you mean "where"?'],
  ['csv?where={}&where={}', 'where: expected it once, received it several times'],
  ...['1', 'xx', 'german', 'de_DE', ''].map((tag) => [
    `csv?excel=${tag}`,
    `excel: expected true, false or a language such as de-DE, received "${tag}"`,
  ]),
  ['csv?externalIds=erp,', 'externalIds: expected names of systems such as erp,crm, received "erp,"'],
  ['csv?externalIds=a,b,c,d,e,f,g,h,i,j,k', 'externalIds: expected at most 10 names, received 11'],
  ['csv?delimiter=%7C', 'delimiter: expected a comma, a semicolon or tab, received "|"'],
  ['csv?delimiter=constructor', 'delimiter: expected a comma, a semicolon or tab, received "constructor"'],
  ['csv?dates=1.2.2026', 'dates: expected one of 31.12.2026, 31/12/2026, 12/31/2026, received "1.2.2026"'],
  ['csv?timeZone=Berlin', 'timeZone: expected a time zone such as Europe/Berlin, received "Berlin"'],
  ['ndjson?delimiter=%3B', 'delimiter: unknown parameter'],
])('the filter of an export, and its other parameters, are checked: %s', async (query, message) => {
  const { status, body } = await service.get(`/export/assets.${query}`);
  expect([status, body.code, body.error.slice(0, message.length)]).toEqual([400, '400', message]);
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
    const impatient = await startForTest();
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
    const impatient = await startForTest({ DATABASE_CONNECTION_TIMEOUT: '1000' });
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
    const slow = await startForTest({ EXPORT_TIMEOUT: '100' });
    const go = holdNext(slow);
    const response = slow.get('/export/assets.csv');
    await expect.poll(() => slow.database.longSnapshot).toHaveBeenCalled();
    setTimeout(go, 150);

    const { status, body } = await response;
    expect([status, body.error]).toEqual([
      413,
      'an export is read for at most 100 ms: export fewer records at a time, with `where`',
    ]);
    // On a busy machine, even an empty one may take that long.
    await expect.poll(async () => (await slow.get('/export/assets.csv')).status).toBe(200);
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
  const records = Array.from({ length: 1_000 }, () => ({ name: 'Wall', notes: randomBytes(3_000).toString('hex') }));
  const notes = records.map((record) => record.notes);

  const own = useSharedService();

  beforeAll(async () => {
    await own.create('/projects', ...records);
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
