/** The number of statements of a write does not grow with its records. */
import { expect, test } from 'vitest';
import { asset, assetCategory, location, project } from '../../src/records/index.ts';
import { isPostgres } from '../support/database.ts';
import { createDocument, deleteDocument, updateDocument } from '../support/mutations.ts';
import { useService } from '../support/service.ts';

const service = useService();

type Ids = readonly string[];

/** Assets at locations, projects, and categories at two levels. */
async function records(count: number) {
  const create = async (path: string, record: (index: number) => object): Promise<Ids> =>
    (await service.create(path, ...Array.from({ length: count }, (_, index) => record(index)))).map(({ id }) => id);
  const locations = await create('/locations', () => ({ name: 'North yard' }));
  const places = await create('/locations', () => ({ name: 'South yard' }));
  const projects = await create('/projects', () => ({ name: 'Harbour wall' }));
  const assets = await create('/assets', (n) => ({ name: 'Crane', currentLocationId: locations[n] }));
  const categories = await create('/asset-categories', () => ({ name: 'Cranes' }));
  const above = await create('/asset-categories', () => ({ name: 'Lifting' }));
  await create('/asset-categories', (n) => ({ name: 'Mobile cranes', parentId: categories[n] }));
  return { locations, places, projects, assets, categories, above };
}

/** How many statements each write takes, by its name. */
async function statementCounts(count: number): Promise<Record<string, number>> {
  const { locations, places, projects, assets, categories, above } = await records(count);
  const changes = (ids: Ids, change: (index: number) => object) => ({
    input: ids.map((id, n) => ({ id, ...change(n) })),
  });
  const writes: Record<string, [string, object]> = {
    create: [
      createDocument(asset),
      { input: assets.map((_, n) => ({ name: 'Crane', uid: `new ${count} ${n}`, currentLocationId: places[n] })) },
    ],
    update: [
      updateDocument(asset),
      changes(assets, (n) => ({ name: 'Pump', uid: `${count} ${n}`, currentLocationId: locations[n] })),
    ],
    'update of a tree': [updateDocument(assetCategory), changes(categories, (n) => ({ parentId: above[n] }))],
    'update that is invalid': [updateDocument(asset), changes(assets, () => ({ name: ' ', uid: 'same' }))],
    'delete that is refused': [deleteDocument(location), { ids: locations }],
    'delete that clears': [deleteDocument(location), { ids: locations, references: 'CLEAR' }],
    'delete in a tree that clears': [deleteDocument(assetCategory), { ids: categories, references: 'CLEAR' }],
    delete: [deleteDocument(project), { ids: projects }],
  };
  const counts: Record<string, number> = {};
  for (const [name, [document, variables]] of Object.entries(writes)) {
    for (const dryRun of [true, false]) {
      const statements = await service.statements(() => service.graphql(document, { ...variables, dryRun }));
      counts[dryRun ? `${name}, dry` : name] = statements.filter(
        (sql) => !/^(?:begin;|begin immediate$|begin$|commit|rollback)/.test(sql),
      ).length;
    }
  }
  return counts;
}

test('a write of 1,000 records takes as many statements as one of 10', async () => {
  const ten = await statementCounts(10);
  const thousand = await statementCounts(1_000);

  expect(thousand).toEqual(ten);
  // With the two that number the changes and log them. SQLite needs no lock, because only one transaction writes at a time.
  expect(ten).toEqual({
    create: 4,
    'create, dry': 3,
    update: 6,
    'update, dry': 4,
    'update of a tree': isPostgres ? 7 : 6,
    'update of a tree, dry': isPostgres ? 5 : 4,
    'update that is invalid': 2,
    'update that is invalid, dry': 2,
    'delete that is refused': 4,
    'delete that is refused, dry': 4,
    'delete that clears': 10,
    'delete that clears, dry': 8,
    'delete in a tree that clears': 8,
    'delete in a tree that clears, dry': 6,
    delete: 6,
    'delete, dry': 4,
  });
});
