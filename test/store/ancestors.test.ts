/** Ancestors in a tree of one kind: all of them, however deep the tree is. */
import { beforeAll, expect, test } from 'vitest';
import { assetCategory, reverseLinksOf } from '../../src/records/index.ts';
import type { Database } from '../../src/store/database.ts';
import type { Condition } from '../../src/store/query/record-query.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';
import { change, inSteps, insert } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';
import { openOwnDatabase } from '../support/own-database.ts';

const levels = 70;

let database: Database;
let store: WorkspaceStore;
/** Each is the parent of the next. */
const chain: string[] = [];

beforeAll(async () => {
  const own = await openOwnDatabase();
  database = own.database;
  store = storeOpener(database)('ours');
  for (let level = 0; level < levels; level += 1) {
    const [category] = await insert(store, assetCategory, [{ name: `level ${level}`, parentId: chain.at(-1) ?? null }]);
    chain.push(category?.id ?? '');
  }
  return own.close;
});

const [ancestors] = reverseLinksOf('AssetCategory').filter(({ direction }) => direction === 'ancestors');
if (!ancestors) throw new Error('asset categories have no ancestors');
const deepest = () => chain.at(-1) ?? '';

const pageOf = async (id: string) =>
  (await store.pages(ancestors, [id], { limit: 100, withCount: true })).get(id) ?? { records: [] };

const belowRoot: Condition = {
  reverse: ancestors,
  quantifier: 'some',
  matches: { field: 'name', in: ['level 0'] },
};

test('a page whose records have more than 20,000 ancestors together is rejected, one with fewer of them is not', async () => {
  const deep: string[] = [];
  await inSteps(store, async (steps) => {
    for (let level = 0; level < 500; level += 1) {
      const [category] = steps.add(assetCategory, [{ name: 'deep', parentId: deep.at(-1) ?? null }]);
      deep.push(category?.id ?? '');
    }
  });

  await expect(store.pages(ancestors, deep, { withCount: true })).rejects.toMatchObject({
    status: 400,
    message: '500 asset categories have more than 20,000 ancestors together: request fewer at a time',
  });
  const pages = await store.pages(ancestors, deep.slice(0, 200), { withCount: true });
  expect([...pages.values()].map(({ count }) => count)).toEqual(deep.slice(0, 200).map((_, level) => level));
});

test('a cycle, which two updates at once could make, ends', async () => {
  await change(store, assetCategory, chain[0] ?? '', { parentId: deepest() });

  expect((await pageOf(deepest())).count).toBe(levels);
  expect(await store.count(assetCategory, { where: belowRoot })).toBe(levels);
});
