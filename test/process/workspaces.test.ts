/** `yardgraph workspaces`: what the commands say, and what running services notice. */

import { afterEach, expect, test } from 'vitest';
import { listField } from '../../src/model/labels.ts';
import { location, recordKinds } from '../../src/records/index.ts';
import { findOrCreateWorkspace } from '../../src/store/admin/api-keys.ts';
import { createWorkspaces, recordCount } from '../../src/store/admin/workspaces.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { createStoreOpener } from '../../src/store/workspace-store.ts';
import { eventually, passTime } from '../support/clock.ts';
import { runCommand } from '../support/command.ts';
import { useTestDatabase } from '../support/database.ts';
import { insert } from '../support/insert.ts';
import { nobody } from '../support/open-store.ts';
import { startOn, stopServices } from '../support/service.ts';

const database = useTestDatabase();

afterEach(stopServices);

const run = (...command: string[]) => runCommand({ DATABASE_URL: database.url }, ...command);
const newKey = async (workspace: string) =>
  (await run('keys', 'create', '--workspace', workspace, '--user', 'erp')).out;

/** Runs work on the database, while no other process uses it. */
async function inDatabase<T>(work: (opened: Database) => Promise<T>): Promise<T> {
  const opened = await openDatabase(database.url);
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

const storeOf = async (opened: Database, name: string) =>
  createStoreOpener(opened)(await findOrCreateWorkspace(opened, name), { author: nobody });

const add = (workspace: string, count: number) =>
  inDatabase(async (opened) => {
    const names = Array.from({ length: count }, (_, index) => ({ name: `location ${index}` }));
    return insert(await storeOf(opened, workspace), location, names);
  });

/** Milliseconds that a running service may use a workspace or key that it has cached. */
const fiveSeconds = 5_000;

/** The number of records of each workspace. */
const sizes = () =>
  inDatabase(async (opened) => {
    const list = await createWorkspaces(opened, recordKinds).list();
    return Object.fromEntries(list.map((workspace) => [workspace.name, recordCount(workspace)]));
  });

test('list --json shows the records of each kind and the keys of each workspace', async () => {
  await add('default', 1_234);
  const prefix = (await newKey('acme')).slice(0, -44);
  await newKey('acme');
  await run('keys', 'revoke', prefix);

  const json = JSON.parse((await run('workspaces', 'list', '--json')).out);

  const none = Object.fromEntries(recordKinds.map((kind) => [listField(kind), 0]));
  expect(json).toEqual([
    { workspace: 'acme', records: 0, recordsByKind: none, keys: 2, validKeys: 1 },
    { workspace: 'default', records: 1_234, recordsByKind: { ...none, locations: 1_234 }, keys: 0, validKeys: 0 },
  ]);
});

test('rename says what it renamed; a running service gives the old keys access to the new workspace within five seconds', async () => {
  const key = await newKey('acme');
  const client = (await startOn(database.url)).as(key);
  await client.create('/asset-categories', { name: 'Cranes' });
  const list = async () => (await client.get('/asset-categories')).body;
  expect(await list()).toMatchObject([{ workspaceId: 'acme' }]);

  const { code, out } = await run('workspaces', 'rename', 'acme', 'harbour');

  expect([code, out.split('\n')]).toEqual([
    0,
    ['Renamed acme to harbour with 1 asset category and 1 key.', 'Its keys keep working, with acme in their prefix.'],
  ]);
  await passTime(fiveSeconds);
  expect(await list()).toMatchObject([{ name: 'Cranes', workspaceId: 'harbour' }]);
});

test('delete leaves nothing, also of what services store and repeat meanwhile', async () => {
  const key = await newKey('acme');
  await newKey('yard');
  const clients = [(await startOn(database.url)).as(key), (await startOn(database.url)).as(key)] as const;
  const request = (client: (typeof clients)[number], name: string) =>
    client.post('/assets', [{ name, uid: name }], { 'idempotency-key': name });
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
    const counts = Object.values(await sizes());
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(20);
  });

  const { code, out } = await run('workspaces', 'delete', 'acme', '--yes');
  await writing;

  expect([code, out.split('\n')]).toEqual([
    0,
    [expect.stringMatching(/^The workspace acme has [\d,]+ assets and 1 key\.$/), 'Deleted acme.'],
  ]);
  expect([...statuses].filter((status) => ![201, 401, 503].includes(status))).toEqual([]);
  expect(await sizes()).toEqual({ yard: 0 });
  for (const table of ['changes', 'idempotency_keys']) expect(await inDatabase(({ knex }) => knex(table))).toEqual([]);
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
  await add('acme', 3);
  const { code, err } = await run('workspaces', ...command);
  expect([code, err.split('\n').at(-1)]).toEqual([1, line]);
  expect(await sizes()).toEqual({ acme: 3 });
});
