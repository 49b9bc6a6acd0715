/** Ancestors and descendants in a tree of one kind: all of them, however deep the tree is. */
import { beforeAll, expect, test } from 'vitest';
import type { ReverseLink } from '../../src/model/reverse-link.ts';
import { assetCategory, treeOf } from '../../src/records/index.ts';
import type { LinkToRead } from '../../src/store/records/read-records.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';
import { change, inSteps } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';
import { useSharedDatabase } from '../support/own-database.ts';

const database = useSharedDatabase();
const levels = 500;
let store: WorkspaceStore;
/** Each is the parent of the next. */
const chain: string[] = [];

beforeAll(async () => {
  store = storeOpener(database)('ours');
  await inSteps(store, async (steps) => {
    for (let level = 0; level < levels; level += 1) {
      const [category] = steps.add(assetCategory, [{ name: `level ${level}`, parentId: chain.at(-1) ?? null }]);
      chain.push(category?.id ?? '');
    }
  });
});

const ancestors = treeOf('AssetCategory') as ReverseLink;
const children = { ...ancestors, name: 'children', direction: 'referring' } as const;

test('a page whose records have more than 20,000 ancestors together is rejected, one with fewer of them is not', async () => {
  await expect(store.pages(ancestors, chain, { withCount: true })).rejects.toMatchObject({
    status: 400,
    message: '500 asset categories have more than 20,000 ancestors together: request fewer at a time',
  });
  const pages = await store.pages(ancestors, chain.slice(0, 200), { withCount: true });
  expect([...pages.values()].map(({ count }) => count)).toEqual(chain.slice(0, 200).map((_, level) => level));
});

test('a page whose records have more than 100,000 records below is rejected, one with fewer of them is not', async () => {
  const below = { below: ancestors, withCount: true };
  await expect(store.pages(children, chain, below)).rejects.toMatchObject({
    status: 400,
    message:
      '500 asset categories together have more than 100,000 asset categories below: request smaller parts of the tree',
  });
  const pages = await store.pages(children, chain.slice(-10), below);
  expect([...pages.values()].map(({ count }) => count)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
});

test('a record is read with all fields of its twenty ancestors, more values than a function of Postgres takes', async () => {
  const fields = new Set(Object.keys(assetCategory.storedFields));
  const linkTo = (links: readonly LinkToRead[]): LinkToRead[] => [
    { name: 'parent', field: 'parentId', kind: assetCategory, fields, links },
  ];
  let links: readonly LinkToRead[] = [];
  for (let level = 0; level < 20; level += 1) links = linkTo(links);
  const limits = {
    maxTextLength: 10_000,
    maxExternalIds: 10,
    maxRecordLength: 100_000,
    maxResponseLength: 100_000_000,
  };
  const where = { field: 'id', in: [chain[20] ?? ''] };

  const [found] = await store.withBudget(limits).list(assetCategory, { where, limit: 1 }, links);

  for (let level = 20, record: unknown = found; level >= 0; level -= 1) {
    const { parent, ...values } = record as { parent?: unknown };
    expect(values).toEqual((await store.find(assetCategory, [chain[level] ?? '']))[0]);
    record = parent;
  }
});

test('a cycle, which two updates at once could make, ends', async () => {
  const deepest = chain.at(-1) ?? '';
  await change(store, assetCategory, chain[0] ?? '', { parentId: deepest });
  expect((await store.pages(ancestors, [deepest], { withCount: true })).get(deepest)?.count).toBe(levels);
  const belowRoot = { reverse: ancestors, quantifier: 'some', matches: { field: 'name', in: ['level 0'] } } as const;
  expect(await store.count(assetCategory, { where: belowRoot })).toBe(levels);
  expect(await store.count(assetCategory, { where: { within: deepest, tree: ancestors } })).toBe(levels);
});
