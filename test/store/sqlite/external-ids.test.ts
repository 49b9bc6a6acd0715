/** What SQLite's triggers write for external IDs. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { asset } from '../../../src/records/index.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import type { WorkspaceStore } from '../../../src/store/workspace-store.ts';
import { change, insert } from '../../support/insert.ts';
import { storeOpener } from '../../support/open-store.ts';

let database: Database;
let store: WorkspaceStore;
let id: string;

beforeEach(async () => {
  database = await openDatabase('sqlite::memory:');
  store = storeOpener(database)('acme');
  const [crane] = await insert(store, asset, [{ name: 'Crane', externalIds: { erp: '1', legacy: '2', '': '3' } }]);
  id = crane?.id ?? '';
});

afterEach(() => database.close());

const rowsWritten = async (): Promise<number> => {
  const [row] = await database.run('select total_changes() as count');
  return Number(row?.count);
};

/** How many rows a change writes in addition to those of a change of the name. */
async function writtenFor(externalIds: Readonly<Record<string, string>> | null): Promise<number> {
  const start = await rowsWritten();
  await change(store, asset, id, { name: `at ${start}` });
  const plain = (await rowsWritten()) - start;
  await change(store, asset, id, { externalIds });
  return (await rowsWritten()) - start - 2 * plain;
}

const kept = () => database.run('select key, value from assets_external_ids order by key');

test('an update writes only the external IDs that differ', async () => {
  expect(await writtenFor({ erp: '1', legacy: '2', '': '3', other: '4' })).toBe(1);
  expect(await writtenFor({ '': '3', other: '4', legacy: '2', erp: '1' })).toBe(0);
  expect(await writtenFor({ '': '3', other: '5', legacy: '2', erp: '1' })).toBe(2);
  expect(await writtenFor({ legacy: '2', erp: '1' })).toBe(2);
  expect(await kept()).toEqual([
    { key: 'erp', value: '1' },
    { key: 'legacy', value: '2' },
  ]);
  expect(await writtenFor(null)).toBe(2);
  expect(await writtenFor({ erp: '1' })).toBe(1);
  expect(await kept()).toEqual([{ key: 'erp', value: '1' }]);
});
