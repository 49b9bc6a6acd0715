/** Creations that SQLite stores by one statement, which fires a trigger of the connection. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { location } from '../../../src/records/index.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import type { WorkspaceStore } from '../../../src/store/workspace-store.ts';
import { insert } from '../../support/insert.ts';
import { storeOpener } from '../../support/open-store.ts';

let database: Database;
let store: WorkspaceStore;

/** In memory: all would be lost with the connection. */
beforeEach(async () => {
  database = await openDatabase('sqlite::memory:');
  await database.migrate();
  store = storeOpener(database)('acme');
  await insert(store, location, [{ name: 'North yard' }]);
});

afterEach(() => database.close());

const names = async () => (await store.list(location)).map(({ name }) => name);

/** What makes the statement fail. */
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
