/** What concurrent writes wait for on Postgres, and in which order: otherwise they would wait for each other, or for longer than needed. */
import { Client } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { asset } from '../../../src/records/index.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createDatabase } from '../../support/database.ts';
import { insert } from '../../support/insert.ts';
import { storeOpener } from '../../support/open-store.ts';

let database: Database;
let other: Client;
let remove: () => Promise<void>;

beforeEach(async () => {
  const { url, remove: removeDatabase } = await createDatabase();
  remove = removeDatabase;
  database = await openDatabase(url);
  other = new Client({ connectionString: url });
  await other.connect();
});

afterEach(async () => {
  await other.end();
  await database.close();
  await remove();
});

/** Waits until this many connections wait for a lock. */
async function untilWaiting(connections: number): Promise<void> {
  const waiting = 'select from pg_locks where not granted and pid <> pg_backend_pid()';
  while ((await database.read(waiting)).length < connections);
}

test('creations that are stored together lock the numbers of their workspaces in the order of bytes, as other writes do', async () => {
  const open = storeOpener(database);
  // By the collation of the tests' server, `a` would be first.
  const both = () => Promise.all(['a', 'B'].map((workspace) => insert(open(workspace), asset, [{ name: 'Crane' }])));
  await both();
  await other.query('begin');
  await other.query(`update change_numbers set number = number where workspace_id = 'B'`);

  const creations = both();
  await untilWaiting(1);
  const free = await other.query(`select number from change_numbers where workspace_id = 'a' for update skip locked`);
  await other.query('commit');

  expect(free.rows).toHaveLength(1);
  expect(await creations).toHaveLength(2);
});

test('an idempotency key is stored before the number is taken, for which all writes of the workspace wait', async () => {
  const store = storeOpener(database)('ours').withIdempotencyKey({ operation: 'test', key: 'a', requestHash: '' });
  await other.query('begin');
  await other.query(`insert into change_numbers (workspace_id, number) values ('ours', 1)`);
  const creation = insert(store, asset, [{ name: 'Crane' }]);
  await untilWaiting(1);

  const twin = database.run(
    `insert into idempotency_keys values ('ours', 'test', 'a', '', now(), '{}') on conflict do nothing returning 1`,
  );
  await untilWaiting(2);
  await other.query('commit');

  expect(await creation).toMatchObject([{ name: 'Crane' }]);
  expect(await twin).toEqual([]);
});
