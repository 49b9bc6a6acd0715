/** Values derived from records are cached until the next change is committed, by whatever connection. On a server without other tests. */
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { location } from '../../../src/records/index.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import type { WorkspaceStore } from '../../../src/store/workspace-store.ts';
import { insert } from '../../support/insert.ts';
import { numberOf, storeOpener } from '../../support/open-store.ts';
import { databaseUrl, query, startPostgres } from '../../support/postgres.ts';

let server: Awaited<ReturnType<typeof startPostgres>>;
let url: string;
let database: Database;
let store: WorkspaceStore;
let other: Client;
let made: number;
let databases = 0;

beforeAll(async () => {
  server = await startPostgres(['-c', 'max_prepared_transactions=2', '-c', 'autovacuum=off']);
});

afterAll(() => server.stop());

beforeEach(async () => {
  databases += 1;
  await query(server.url, `create database derived_${databases}`);
  url = databaseUrl(server.url, `derived_${databases}`);
  database = await openDatabase(url);
  store = storeOpener(database)('ours');
  other = new Client({ connectionString: url });
  other.on('error', () => {});
  await other.connect();
  made = 0;
});

afterEach(async () => {
  await other.end().catch(() => {});
  await database.close();
});

/** The names of all locations. */
async function names(): Promise<unknown[]> {
  const text = await store.deriveText('names', async () => {
    made += 1;
    return JSON.stringify((await store.list(location)).map(({ name }) => name));
  });
  return JSON.parse(text);
}

/** What a write does so that others notice it. */
const numbered = (sql: string) =>
  `${sql}; insert into change_numbers values (${numberOf('ours')}, 1) on conflict (workspace_id) do update set number = change_numbers.number + 1`;

const insertSql = (name: string) =>
  numbered(`insert into locations (workspace_id, id, name, created_at, updated_at)
    values (${numberOf('ours')}, 'location_${name}', '${name}', now(), now())`);

test('a text is cached from its second request on, and looked up with one statement, until something is written', async () => {
  await insert(store, location, [{ name: 'yard' }]);
  const usage = { statements: 0 };
  store = storeOpener(database)('ours', usage);

  for (let time = 0; time < 5; time += 1) expect(await names()).toEqual(['yard']);

  expect(made).toBe(2);
  expect(usage.statements).toBe(6);
});

describe('of another connection,', () => {
  test('a write counts from when it is committed', async () => {
    await other.query(`begin; ${insertSql('one')}`);
    expect(await names()).toEqual([]);
    expect(await names()).toEqual([]);

    await other.query('commit');

    expect(await names()).toEqual(['one']);
    await other.query(numbered("update locations set name = 'changed'"));
    expect(await names()).toEqual(['changed']);
    await other.query(numbered('delete from locations'));
    expect(await names()).toEqual([]);
  });

  test('a write that began before the value was made counts too', async () => {
    await other.query('begin; select 1');
    expect(await names()).toEqual([]);

    await other.query(`${insertSql('one')}; savepoint later; ${insertSql('two')}; commit`);

    expect(await names()).toEqual(['one', 'two']);
  });

  test('a write that is rolled back changes nothing', async () => {
    await other.query(`begin; ${insertSql('one')}`);
    expect(await names()).toEqual([]);

    await other.query('rollback');

    expect(await names()).toEqual([]);
  });

  test('a prepared transaction counts from when it is committed', async () => {
    await other.query(`begin; ${insertSql('one')}`);
    await other.query("prepare transaction 'first'");
    expect(await names()).toEqual([]);

    await other.query("commit prepared 'first'");

    expect(await names()).toEqual(['one']);
  });
});

test('after a crash of the server, a write that takes the number of one that was lost counts', async () => {
  await insert(store, location, [{ name: 'yard' }]);
  await names();
  await names();
  const before = made;
  await other.query(`begin; ${insertSql('lost')}`);
  expect(await names()).toEqual(['yard']);

  await server.halt('immediate');
  await server.start();

  // Connections from before the crash fail first.
  await vi.waitFor(async () => expect(await names()).toEqual(['yard']), { timeout: 30_000, interval: 100 });
  expect(made).toBe(before);
  await insert(store, location, [{ name: 'dock' }]);
  expect(await names()).toEqual(['yard', 'dock']);
});
