/** What fields declare to be indexed, compared with the indexes that the migrations create. */
import { expect, test } from 'vitest';
import { recordKinds } from '../../src/records/index.ts';
import { columnName } from '../../src/store/columns.ts';
import { openDatabase } from '../../src/store/database.ts';
import { isIndexed } from '../../src/store/query/comparisons.ts';
import { createOwnDatabase, isPostgres } from '../support/database.ts';

const indexes = isPostgres
  ? 'select tablename as name, indexdef as sql from pg_indexes'
  : 'select tbl_name as name, sql from sqlite_schema';

test('fields are indexed if and only if they are declared so', async () => {
  const { url, remove } = await createOwnDatabase();
  const database = await openDatabase(url);
  const rows = await database.run(indexes, []);
  await database.close();
  await remove();

  for (const { table, storedFields } of recordKinds) {
    const sql = rows.filter(({ name }) => name === table).map((row) => String(row.sql));
    for (const [field, stored] of Object.entries(storedFields)) {
      if (field === 'id' || field === 'workspaceId' || stored.type === 'externalIds') continue;
      const inIndex = new RegExp(String.raw`\(workspace_id, (?:"left"\()?${columnName(field)}\b`);
      expect(isIndexed(stored), `${table} ${field}`).toBe(sql.some((text) => inIndex.test(text)));
    }
  }
});
