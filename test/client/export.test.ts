/** The client's export. */
import { beforeEach, expect, test } from 'vitest';
import { ConnectionError, ServiceError, Yardgraph } from '../../client/index.ts';
import { clientOf, errorOf } from '../support/client.ts';
import { useScriptedServer } from '../support/scripted-server.ts';
import { useService } from '../support/service.ts';

const service = useService();
const script = useScriptedServer();
let yardgraph: Yardgraph;

beforeEach(async () => {
  yardgraph = await clientOf(service);
});

async function all(rows: AsyncIterable<unknown>): Promise<unknown[]> {
  const read: unknown[] = [];
  for await (const row of rows) read.push(row);
  return read;
}

test('yields the records of a kind that match, or of all kinds', async () => {
  await yardgraph.assets.create([{ name: 'Crane', externalIds: { erp: '1' } }, { name: 'Pump' }]);
  await yardgraph.workOrders.create([{ name: 'Set up' }]);

  const options = { where: { name: { eq: 'Crane' } }, externalIds: ['erp'] };
  expect(await all(yardgraph.export('assets', options))).toMatchObject([
    { kind: 'ASSET', name: 'Crane', 'externalIds.erp': '1' },
  ]);
  expect(await all(yardgraph.export('workOrders'))).toMatchObject([{ kind: 'WORK_ORDER', name: 'Set up' }]);
  expect(await all(yardgraph.export('all'))).toHaveLength(3);
});

test('opens a file with the number of its records', async () => {
  await yardgraph.locations.create([{ name: '=North' }]);

  const { count, body } = await yardgraph.exportFile('locations', 'csv', { excel: true });

  expect(count).toBe(1);
  expect(await new Response(body).text()).toContain(",'=North,");
});

test('throws what the service says', async () => {
  const { message } = await errorOf(ServiceError, all(yardgraph.export('assets', { where: { nmae: {} } })));

  expect(message).toContain('Did you mean "name"?');
});

test.each([
  ['in the middle of the file', 1_000],
  ['at the end of a row, so that the response seems whole', undefined],
])('throws if the export is cut off %s', async (_, length) => {
  const row = '{"kind":"ASSET","id":"asset_1"}\n';
  script.replies = [
    (response) => {
      const headers = { 'export-count': '2', ...(length !== undefined && { 'content-length': length }) };
      response.writeHead(200, headers).write(row, () => (length === undefined ? response.end() : response.destroy()));
    },
  ];
  const rows = new Yardgraph({ serverURL: script.url, retries: 0 }).export('assets');

  const { code } = await errorOf(ConnectionError, all(rows));
  expect(code).toBe('CUT_OFF');
});

test('leaves no timer behind if the service cannot be reached, which would keep a program from ending', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const nobody = new Yardgraph({ serverURL: 'http://127.0.0.1:1', retries: 0 });

  await errorOf(ConnectionError, nobody.exportFile('assets', 'csv'));
  expect(timers()).toBeLessThanOrEqual(before);
});

test('rejects options that it does not know, which would export more than is meant', async () => {
  const { message } = await errorOf(TypeError, all(yardgraph.export('assets', { were: {} } as object)));

  expect(message).toBe('export: unknown option were');
});

test('ends when it is not read to its end, and another can begin', async () => {
  await yardgraph.assets.create(Array.from({ length: 5_000 }, () => ({ name: 'x'.repeat(500) })));
  for await (const _ of yardgraph.export('assets')) break;

  expect(await all(yardgraph.export('assets'))).toHaveLength(5_000);
});
