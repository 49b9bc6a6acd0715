/** What concurrent writes wait for on Postgres, and in which order: otherwise they would wait for each other, or for longer than needed. */
import { Client } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { asset } from '../../../src/records/index.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import type { IdempotencyKey } from '../../../src/store/idempotency.ts';
import { type Addition, createAdditionStore } from '../../../src/store/store-additions.ts';
import { createDatabase } from '../../support/database.ts';
import { nobody } from '../../support/open-store.ts';

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

/** Stores additions like a group, except that they wait for locks as long as a statement may run. */
const storeTogether = (group: readonly Addition[]) =>
  createAdditionStore(database.dialect, () => ({
    existingValues: async () => new Set(),
    idempotencyResults: async () => [],
  }))(group, 'database', database.transaction);

const addition = (workspaceId: string, key?: IdempotencyKey): Addition => ({
  workspaceId,
  kind: asset,
  records: [{ name: 'Crane', createdAt: '2026-03-01T00:00:00.000Z', updatedAt: '2026-03-01T00:00:00.000Z' }],
  check: async () => {},
  author: nobody,
  usage: { statements: 0 },
  key,
});

test('creations that are stored together lock the numbers of their workspaces in the order of bytes, as other writes do', async () => {
  // By the collation of the tests' server, `a` would be first.
  const both = () => storeTogether([addition('a'), addition('B')]);
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
  await other.query('begin');
  await other.query(`insert into change_numbers (workspace_id, number) values ('ours', 1)`);
  const creation = storeTogether([addition('ours', { operation: 'test', key: 'a', requestHash: '' })]);
  await untilWaiting(1);

  const twin = database.run(
    `insert into idempotency_keys values ('ours', 'test', 'a', '', now(), '{}') on conflict do nothing returning 1`,
  );
  await untilWaiting(2);
  await other.query('commit');

  expect(await creation).toEqual([{ status: 'fulfilled' }]);
  expect(await twin).toEqual([]);
});
