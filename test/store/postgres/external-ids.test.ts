/** Looking up thousands of external IDs while others write: what they write must not be read again for each of the lookups. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { asset } from '../../../src/records/index.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createDatabase } from '../../support/database.ts';
import { dry, inSteps, insert } from '../../support/insert.ts';
import { storeOpener } from '../../support/open-store.ts';
import { hasTriggers } from '../../support/postgres.ts';

let database: Database;
let remove: () => Promise<void>;

beforeEach(async () => {
  const created = await createDatabase();
  remove = created.remove;
  database = await openDatabase(created.url);
});

afterEach(async () => {
  await database.close();
  await remove();
});

const erp = (value: string) => ({ key: 'erp', value });
const assets = (prefix: string) =>
  Array.from({ length: 1_000 }, (_, n) => ({ name: 'Crane', externalIds: { erp: `${prefix}${n}` } }));

/** The pages of the index's unsorted entries, which are sorted by this. */
const unsortedPages = async (): Promise<number> => {
  const [row] = await database.run(`select gin_clean_pending_list('assets_external_ids') as pages`);
  return Number(row?.pages);
};

test.runIf(hasTriggers)('entries that others add during the lookups are sorted into the index', async () => {
  const open = storeOpener(database);
  await insert(open('acme'), asset, assets('A-'));
  await unsortedPages();
  const wanted = Array.from({ length: 3_000 }, (_, n) => erp(`A-${n}`));
  const { query } = database.driver;
  let isWritten = false;
  database.driver.query = async (connection, sql, values) => {
    const rows = await query(connection, sql, values);
    // After the entries were sorted that there were before.
    if (sql.includes('set_config') && !isWritten) {
      isWritten = true;
      await insert(open('bolt'), asset, assets('B-'));
    }
    return rows;
  };

  const found = await inSteps(dry(open('acme')), (find) => find.findByExternalId(asset, wanted));

  expect(isWritten).toBe(true);
  expect(found.filter((ids) => ids.length === 1)).toHaveLength(1_000);
  expect(await unsortedPages()).toBe(0);
});
