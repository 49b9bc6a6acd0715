/** Deleting a workspace while others write in it: what they have committed is deleted with it, and what they have not fails. */
import type { Client } from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';
import { createKey } from '../../../src/auth/keys.ts';
import { location, recordKinds } from '../../../src/records/index.ts';
import { createKeyStore } from '../../../src/store/admin/api-keys.ts';
import { createWorkspaces } from '../../../src/store/admin/workspaces.ts';
import type { Database } from '../../../src/store/database.ts';
import { insert } from '../../support/insert.ts';
import { connectTo, untilWaiting } from '../../support/locks.ts';
import { addWorkspace, numberOf, storeOpener } from '../../support/open-store.ts';
import { openOwnDatabase } from '../../support/own-database.ts';

let database: Database;
let other: Client;

beforeEach(async () => {
  const own = await openOwnDatabase();
  database = own.database;
  other = await connectTo(own.url);
  for (const workspace of ['acme', 'yard']) {
    await addWorkspace(database, workspace);
    await createKey(createKeyStore(database), { workspace, user: 'erp', readOnly: false });
  }
  await insert(storeOpener(database)('acme'), location, [{ name: 'a' }]);
  return async () => {
    await other.end();
    await own.close();
  };
});

const insertLate = `insert into locations (workspace_id, id, name, created_at, updated_at)
  values (${numberOf('acme')}, 'location_late', 'late', now(), now())`;
const takeNumber = `update change_numbers set number = number + 1 where workspace_id = ${numberOf('acme')}`;
const log = `insert into changes (workspace_id, number, kind, action, record_id, at)
  values (${numberOf('acme')}, 2, 'Location', 'created', 'location_late', now())`;

const names = async (workspace: string) =>
  (await storeOpener(database)(workspace).list(location)).map(({ name }) => name).toSorted();

describe('deleting a workspace', () => {
  const remove = () => createWorkspaces(database, recordKinds).remove('acme');

  test('takes along what is committed after its records were deleted and before writes are stopped', async () => {
    for (const sql of ['begin', insertLate, takeNumber, log]) await other.query(sql);

    const ending = remove();
    await untilWaiting(database, 1);
    await other.query('commit');
    await ending;

    expect(await names('acme')).toEqual([]);
    expect(await database.knex('changes').where('workspace_id', numberOf('acme'))).toEqual([]);
  });

  test('waits for an upsert before it takes a number, for which the upsert could wait in turn', async () => {
    await other.query(`insert into locks (workspace_id, name) values (${numberOf('acme')}, 'upsert locations')`);
    await other.query('begin');
    await other.query(`update locks set name = name where workspace_id = ${numberOf('acme')}`);

    const ending = remove();
    await untilWaiting(database, 1);
    // Before the server notices that the two wait for each other, and ends one of them.
    await other.query(`set local lock_timeout = '500ms'`);
    for (const sql of [insertLate, takeNumber, log, 'commit']) await other.query(sql);

    await ending;
    expect(await names('acme')).toEqual([]);
  });

  test('waits for nobody who has not taken a number yet, who then can take none', async () => {
    await other.query('begin');
    await other.query(insertLate);

    await remove();

    await expect(other.query(takeNumber)).rejects.toThrow('change_numbers_open');
    await other.query('rollback');
    expect(await names('acme')).toEqual([]);
  });
});
