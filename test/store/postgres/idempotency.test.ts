/** Requests with the same key at the same time: the second waits for the first at the key, and not with the workspace's number in hand. */
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

test('the key is stored before the number is taken, for which all writes of the workspace wait', async () => {
  const store = storeOpener(database)('ours').withIdempotencyKey({ operation: 'test', key: 'a', requestHash: '' });
  await other.query('begin');
  await other.query(`insert into change_numbers (workspace_id, number) values ('ours', 1)`);
  const creation = insert(store, asset, [{ name: 'Crane' }]);
  const waiting = `select from pg_locks where not granted and pid <> pg_backend_pid()`;
  while ((await database.read(waiting)).length === 0);

  const twin = database.run(
    `insert into idempotency_keys values ('ours', 'test', 'a', '', now(), '{}') on conflict do nothing returning 1`,
  );
  while ((await database.read(waiting)).length < 2);
  await other.query('commit');

  expect(await creation).toMatchObject([{ name: 'Crane' }]);
  expect(await twin).toEqual([]);
});
