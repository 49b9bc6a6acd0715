/** Creations that SQLite stores by a script: statements that are a whole transaction. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { location } from '../../../src/records/index.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { createStatements } from '../../../src/store/sqlite/statements.ts';
import type { WorkspaceStore } from '../../../src/store/workspace-store.ts';
import { insert } from '../../support/insert.ts';
import { storeOpener } from '../../support/open-store.ts';

let database: Database;
let store: WorkspaceStore;

/** In memory: all would be lost with the connection. */
beforeEach(async () => {
  database = await openDatabase('sqlite::memory:');
  await migrate(database.knex, database.dialect);
  store = storeOpener(database)('acme');
  await insert(store, location, [{ name: 'North yard' }]);
});

afterEach(() => database.close());

const names = async () => (await store.list(location)).map(({ name }) => name);

/** What makes the script fail. */
const failures = {
  'inside of it': [`create trigger failing before insert on changes begin select raise(abort, 'no'); end`],
  'at its COMMIT': [
    'create table pending (id integer primary key, other integer references pending (id) deferrable initially deferred)',
    'create trigger failing after insert on changes begin insert into pending (other) values (4711); end',
  ],
};

test.each(Object.entries(failures))('an error %s rolls back, and the connection goes on', async (_, statements) => {
  for (const sql of statements) await database.run(sql);

  await expect(insert(store, location, [{ name: 'South yard' }])).rejects.toThrow('database error: SQLITE_CONSTRAINT');
  await database.run('drop trigger failing');
  await insert(store, location, [{ name: 'West yard' }]);

  expect(await names()).toEqual(['North yard', 'West yard']);
  expect((await store.changes({ after: 0, limit: 10, withBefore: false })).map(({ number }) => number)).toEqual([1, 2]);
});

test('an error is reported as it was, also if SQLite has rolled back by itself', async () => {
  const executed: string[] = [];
  const statements = createStatements({
    prepare: () => Promise.reject(new Error('nothing is to be prepared')),
    execute: async (script) => {
      executed.push(script);
      throw new Error(script === 'rollback' ? 'no transaction is active' : 'disk full');
    },
    interrupt: () => undefined,
  });

  await expect(statements.run('begin immediate; select 1; commit', [])).rejects.toThrow('disk full');
  expect(executed).toEqual(['begin immediate; select 1; commit', 'rollback']);
});
