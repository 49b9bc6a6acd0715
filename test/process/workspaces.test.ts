/** `yardgraph workspaces`: what the commands say, and what running services notice. */

import { afterEach, expect, test } from 'vitest';
import { listField } from '../../src/model/labels.ts';
import { recordKinds } from '../../src/records/index.ts';
import { eventually, passTime } from '../support/clock.ts';
import { runCommand } from '../support/command.ts';
import { useTestDatabase } from '../support/database.ts';
import { startOn, stopServices } from '../support/service.ts';

const database = useTestDatabase();

afterEach(stopServices);

const run = (...command: string[]) => runCommand({ DATABASE_URL: database.url }, ...command);
const newKey = async (workspace: string) =>
  (await run('keys', 'create', '--workspace', workspace, '--user', 'erp')).out;

/** Milliseconds that a running service may use a workspace or key that it has cached. */
const fiveSeconds = 5_000;

const list = async () => JSON.parse((await run('workspaces', 'list', '--json')).out);
const sizes = async (): Promise<Record<string, number>> =>
  Object.fromEntries((await list()).map(({ workspace, records }: Record<string, unknown>) => [workspace, records]));

test('list --json shows the records of each kind and the keys of each workspace', async () => {
  await (await startOn(database.url)).create('/locations', ...Array(1_234).fill({}));
  const prefix = (await newKey('acme')).slice(0, -44);
  await newKey('acme');
  await run('keys', 'revoke', prefix);

  const none = Object.fromEntries(recordKinds.map((kind) => [listField(kind), 0]));
  expect(await list()).toEqual([
    { workspace: 'acme', records: 0, recordsByKind: none, keys: 2, validKeys: 1 },
    { workspace: 'default', records: 1_234, recordsByKind: { ...none, locations: 1_234 }, keys: 0, validKeys: 0 },
  ]);
});

test('rename says what it renamed; a running service gives the old keys access to the new workspace within five seconds', async () => {
  const key = await newKey('acme');
  const client = (await startOn(database.url)).as(key);
  await client.create('/asset-categories', { name: 'Cranes' });
  const categories = async () => (await client.get('/asset-categories')).body;
  expect(await categories()).toMatchObject([{ workspaceId: 'acme' }]);

  const { code, out } = await run('workspaces', 'rename', 'acme', 'harbour');

  expect([code, out.split('\n')]).toEqual([
    0,
    ['Renamed acme to harbour with 1 asset category and 1 key.', 'Its keys keep working, with acme in their prefix.'],
  ]);
  await passTime(fiveSeconds);
  expect(await categories()).toMatchObject([{ name: 'Cranes', workspaceId: 'harbour' }]);
});

test('delete leaves nothing, also of what services store and repeat meanwhile', async () => {
  const key = await newKey('acme');
  await newKey('yard');
  const services = [await startOn(database.url), await startOn(database.url)] as const;
  const clients = [services[0].as(key), services[1].as(key)] as const;
  const request = (client: (typeof clients)[number], name: string) =>
    client.post('/assets', [{ name, uid: name }], { 'idempotency-key': name, 'x-import-run': 'erp' });
  const statuses = new Set<number>();
  const write = async (writer: number) => {
    for (let n = 0, status = 0; status !== 401; n += 1) {
      ({ status } = await request(clients[n % 2 === 0 ? 0 : 1], `${writer}-${n >> 1}`));
      statuses.add(status);
    }
  };
  const writing = Promise.all([0, 1, 2].map(write));
  // Some of their records are stored, and more are on their way.
  await eventually(async () => {
    expect((await sizes()).acme).toBeGreaterThan(20);
  });

  const { code, out } = await run('workspaces', 'delete', 'acme', '--yes');
  await writing;

  expect([code, out.split('\n')]).toEqual([
    0,
    [expect.stringMatching(/^The workspace acme has [\d,]+ assets and 1 key\.$/), 'Deleted acme.'],
  ]);
  expect([...statuses].filter((status) => ![201, 401, 503].includes(status))).toEqual([]);
  expect(await sizes()).toEqual({ yard: 0 });
  for (const table of ['changes', 'import_runs', 'idempotency_keys'])
    expect(await services[0].database.knex(table)).toEqual([]);
});

test.each([
  [
    ['rename', 'acme', 'Acme Corp'],
    '<new-name>: expected 1 to 63 lower-case letters, digits and hyphens, no hyphen first or last',
  ],
  [['delete', 'acme'], 'not confirmed: in a script, confirm with --yes'],
  [['delete', 'acm', '--yes'], 'there is no workspace acm: see node dist/src/cli.js workspaces list'],
  [['rename', 'acm', 'yard'], 'there is no workspace acm: see node dist/src/cli.js workspaces list'],
])('%j is refused, and nothing is changed', async (command, line) => {
  await (await startOn(database.url)).as(await newKey('acme')).create('/assets', { name: 'Crane' });
  const { code, err } = await run('workspaces', ...command);
  expect([code, err.split('\n').at(-1)]).toEqual([1, line]);
  expect(await sizes()).toEqual({ acme: 1 });
});
