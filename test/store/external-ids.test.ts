/** Records are found by their external IDs, whatever has happened to them. */
import { beforeEach, expect, test } from 'vitest';
import { asset, recordKinds } from '../../src/records/index.ts';
import { copyTables } from '../../src/store/admin/copy.ts';
import { createWorkspaces } from '../../src/store/admin/workspaces.ts';
import type { Database } from '../../src/store/database.ts';
import { isPostgres } from '../support/database.ts';
import { change, insert } from '../support/insert.ts';
import { addWorkspace, storeOpener } from '../support/open-store.ts';
import { openOwnDatabase } from '../support/own-database.ts';

let database: Database;

beforeEach(async () => {
  const own = await openOwnDatabase();
  database = own.database;
  return own.close;
});

const store = (workspace = 'acme', opened = database) => storeOpener(opened)(workspace);

/** The names of the assets with an external ID. */
async function named(key: string, value?: string, workspace = 'acme', opened = database): Promise<string[]> {
  const where = { field: 'externalIds', key, value };
  return (await store(workspace, opened).list(asset, { where })).map(({ name }) => name);
}

/** The rows that SQLite keeps for external IDs. */
const rowsKept = async (): Promise<number> => {
  if (isPostgres) return 0;
  const [row] = await database.run(
    `select (select count(*) from assets_external_ids) + (select count(*) from projects_external_ids) as count`,
  );
  return Number(row?.count);
};

test('external IDs find records that were created, changed and deleted', async () => {
  const [crane, pump] = await insert(store(), asset, [
    { name: 'Crane', externalIds: { erp: '4711', legacy: 'A-1' } },
    { name: 'Pump', externalIds: { erp: '4711' } },
    { name: 'Excavator' },
  ]);
  expect([await named('erp', '4711'), await named('legacy', 'A-1')]).toEqual([['Crane', 'Pump'], ['Crane']]);
  expect([await named('erp'), await named('erp', 'A-1'), await named('4711')]).toEqual([['Crane', 'Pump'], [], []]);

  await change(store(), asset, crane?.id ?? '', { externalIds: { erp: '4712' } });
  await change(store(), asset, pump?.id ?? '', { externalIds: null, name: 'Big pump' });

  expect([await named('erp', '4711'), await named('erp', '4712'), await named('legacy')]).toEqual([[], ['Crane'], []]);
  await addWorkspace(database, 'acme');
  await createWorkspaces(database, recordKinds).remove('acme');
  expect([await named('erp', '4712'), await rowsKept()]).toEqual([[], 0]);
});

test('external IDs find records in a copy of the database', async () => {
  const { database: target, close } = await openOwnDatabase();
  await insert(store(), asset, [{ name: 'Crane', externalIds: { erp: '4711' } }]);

  await copyTables(database, target, recordKinds, { start() {}, step() {} });

  expect(await named('erp', '4711', 'acme', target)).toEqual(['Crane']);
  await close();
});
