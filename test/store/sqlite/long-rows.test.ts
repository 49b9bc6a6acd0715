/** What the driver returns for rows that may be long. */
import { expect, test } from 'vitest';
import { project } from '../../../src/records/index.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { createDatabase } from '../../support/database.ts';
import { insert } from '../../support/insert.ts';
import { storeOpener } from '../../support/open-store.ts';

test('rows with JSON come as bytes, of which the driver does not make texts all at once', async () => {
  const { url, remove } = await createDatabase();
  const database = await openDatabase(url);
  const store = storeOpener(database)('acme');
  const externalIds = { erp: 'x'.repeat(1_000), '"quoted"': '\\' };
  await insert(store, project, [{ name: 'Harbour wall', externalIds }]);
  const { driver } = database;
  const { query } = driver;
  const returned: unknown[] = [];
  driver.query = async (...statement) => {
    const rows = await query(...statement);
    returned.push(...rows.flatMap((row) => Object.values(row)));
    return rows;
  };

  const [found] = await store.list(project, { limit: 1 });

  expect(found?.externalIds).toEqual(externalIds);
  expect(returned.filter((value) => typeof value === 'string' && value.length > 1_000)).toEqual([]);
  // Once as JSON, and not as a text in JSON.
  const [row] = returned.filter(Buffer.isBuffer);
  expect(JSON.parse(String(row))).toContainEqual(externalIds);
  await database.close();
  await remove();
});
