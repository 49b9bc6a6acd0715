/** The store: bound to one workspace, all or nothing, and silent about SQL. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { location, project } from '../../src/records/index.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { createWorkspaceStore, type Draft, type WorkspaceStore } from '../../src/store/workspace-store.ts';
import { createDatabase } from '../support/database.ts';

let url: string;
let remove: () => Promise<void>;
let database: Database;
let ours: WorkspaceStore;
let theirs: WorkspaceStore;

beforeEach(async () => {
  ({ url, remove } = await createDatabase());
  database = await openDatabase(url);
  ours = createWorkspaceStore(database, 'ours');
  theirs = createWorkspaceStore(database, 'theirs');
});

afterEach(async () => {
  await database.close();
  await remove();
});

const now = '2026-03-01T00:00:00.000Z';
const draft: Draft<typeof location> = {
  name: 'Yard',
  latitude: null,
  longitude: null,
  address1: null,
  address2: null,
  city: null,
  state: null,
  postalCode: null,
  country: null,
  externalIds: null,
  createdAt: now,
  updatedAt: now,
};

test('what one workspace stores, another does not see, count, find, page over or change', async () => {
  const [record] = await ours.insert(location, [draft]);
  const id = record?.id ?? '';

  expect(await ours.list(location)).toEqual([record]);
  expect(await theirs.list(location)).toEqual([]);
  expect(await theirs.list(location, { after: `${location.idPrefix}_0` })).toEqual([]);
  expect(await theirs.count(location)).toBe(0);
  expect(await theirs.find(location, [id])).toEqual([]);
  expect(await theirs.existing(location, 'id', [id])).toEqual(new Set());
  expect(await theirs.findForUpdate(location, id)).toBeUndefined();
  await theirs.update(location, id, { name: 'taken over' });
  expect(await ours.find(location, [id])).toEqual([record]);
});

test('stored records are stamped with the workspace, inside a transaction too', async () => {
  const [record] = await ours.transaction((store) => store.insert(location, [draft]));

  expect(record?.workspaceId).toBe('ours');
  expect(await theirs.count(location)).toBe(0);
});

test('work that fails leaves nothing of its transaction', async () => {
  const failing = ours.transaction(async (store) => {
    await store.insert(location, [draft]);
    throw new TypeError('half way');
  });

  await expect(failing).rejects.toThrow(new TypeError('half way'));
  expect(await ours.count(location)).toBe(0);
});

test('a transaction within a transaction ends with the outer one', async () => {
  const failing = ours.transaction(async (store) => {
    await store.transaction((inner) => inner.insert(location, [draft]));
    throw new TypeError('half way');
  });

  await expect(failing).rejects.toThrow('half way');
  expect(await ours.count(location)).toBe(0);
});

test('ids that come by the ten thousand are one statement', async () => {
  const records = await ours.insert(
    location,
    Array.from({ length: 3_000 }, () => draft),
  );

  const found = await ours.find(location, [
    ...records.map(({ id }) => id),
    ...Array.from({ length: 40_000 }, (_, i) => `no ${i}`),
  ]);

  expect(found).toHaveLength(3_000);
});

describe('errors of the database', () => {
  test('hold neither SQL nor values', async () => {
    await database.knex.schema.renameTable('locations', 'gone');

    for (const failing of [
      () => ours.insert(location, [draft]),
      () => ours.list(location),
      () => ours.count(location),
      () => ours.find(location, ['secret']),
    ]) {
      const error: Error = await failing().then(
        () => new Error('succeeded'),
        (caught: Error) => caught,
      );
      expect(error.message).toMatch(/^database error: (?:SQLITE_ERROR|42P01)$/);
      expect(`${error.stack} ${JSON.stringify(error)}`).not.toMatch(/insert into|select \w+[ ,]|secret|Yard/);
    }
  });
});

test('two processes that read and then write at once both succeed', async () => {
  const other = await openDatabase(url);
  const stores = [ours, createWorkspaceStore(other, 'ours')];

  const writes = Array.from({ length: 60 }, (_, index) =>
    stores[index % 2]?.transaction(async (store) => {
      await store.count(project);
      await store.insert(location, [draft]);
    }),
  );

  await Promise.all(writes);
  expect(await ours.count(location)).toBe(60);
  await other.close();
});
