/** The number of statements of a write does not grow with its records. */

import { expect, test } from 'vitest';
import { asset, assetCategory, location, project, workOrder } from '../../src/records/index.ts';
import {
  createDocument,
  deleteDocument,
  importDocument,
  updateDocument,
  upsertDocument,
} from '../support/mutations.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

type Ids = readonly string[];

/** Assets at locations, projects, and categories at two levels. */
async function records(count: number) {
  const create = async (path: string, record: (index: number) => object): Promise<Ids> =>
    (await service.create(path, ...Array.from({ length: count }, (_, index) => record(index)))).map(({ id }) => id);
  const locations = await create('/locations', () => ({ name: 'North yard' }));
  const places = await create('/locations', () => ({ name: 'South yard' }));
  await create('/projects', (n) => ({
    name: 'Harbour wall',
    externalIds: { erp: `${count} ${n}`, telematics: 'T-1' },
  }));
  const assets = await create('/assets', (n) => ({
    name: 'Crane',
    uid: `stored ${count} ${n}`,
    currentLocationId: locations[n],
  }));
  const categories = await create('/asset-categories', (n) => ({ name: `Cranes ${count} ${n}` }));
  const above = await create('/asset-categories', () => ({ name: 'Lifting' }));
  await create('/asset-categories', (n) => ({ name: 'Mobile cranes', parentId: categories[n] }));
  return { locations, places, assets, categories, above };
}

/** How many statements each write takes, by its name. */
async function statementCounts(count: number): Promise<Record<string, number>> {
  const { locations, places, assets, categories, above } = await records(count);
  const changes = (ids: Ids, change: (index: number) => object) => ({
    input: ids.map((id, n) => ({ id, ...change(n) })),
  });
  const ofSystem = (n: number) => ({ externalId: { key: 'erp', value: `${count} ${n}` } });
  const list = (item: (index: number) => object) => Array.from({ length: count }, (_, n) => item(n));
  /** Half of the items are new, and half of the others have changed. */
  const isNew = (n: number) => n % 2 === 1;
  const mixed = (n: number) => ({ name: n % 4 === 0 ? 'Crane' : 'Tower crane' });
  const writes: Record<string, [string, object]> = {
    'create with links': [
      createDocument(workOrder, 'project { location { id } } location { id }'),
      { input: list((n) => ({ name: 'Set up the crane', project: ofSystem(n) })) },
    ],
    'upsert by a field': [
      upsertDocument(asset),
      {
        by: { field: 'UID' },
        input: list((n) => ({
          ...mixed(n),
          uid: `${isNew(n) ? 'upserted' : 'stored'} ${count} ${n}`,
          currentLocationId: locations[n],
        })),
      },
    ],
    'upsert by an external ID': [
      upsertDocument(project),
      {
        by: { externalId: 'erp' },
        input: list((n) => ({
          name: n % 4 === 0 ? 'Harbour wall' : 'Bridge',
          externalIds: { erp: `${isNew(n) ? 'upserted ' : ''}${count} ${n}` },
          locationId: places[n],
        })),
      },
    ],
    import: [
      importDocument(),
      {
        input: {
          locations: list((n) => ({ ref: `yard ${n}` })),
          assetCategories: list((n) => ({ ref: `c ${n}`, ...(n > 0 && { parent: { ref: `c ${n - 1}` } }) })),
          projects: list((n) => ({ ref: `wall ${n}`, name: 'Harbour wall', location: { ref: `yard ${n}` } })),
          assets: list((n) => ({
            name: 'Crane',
            uid: `imported ${count} ${n}`,
            currentLocation: { ref: `yard ${n}` },
          })),
          workOrders: list((n) => ({ project: ofSystem(n), location: { ref: `yard ${n}` } })),
          transportOrders: list((n) => ({ project: { ref: `wall ${n}` } })),
        },
      },
    ],
    update: [
      updateDocument(asset),
      changes(assets, (n) => ({ name: 'Pump', uid: `${count} ${n}`, currentLocationId: locations[n] })),
    ],
    'update of a tree': [updateDocument(assetCategory), changes(categories, (n) => ({ parentId: above[n] }))],
    'delete that is refused': [deleteDocument(location), { ids: locations }],
    'delete that clears': [deleteDocument(location), { ids: locations, references: 'CLEAR' }],
    'delete in a tree that clears': [deleteDocument(assetCategory), { ids: categories, references: 'CLEAR' }],
  };
  const counts: Record<string, number> = {};
  for (const [name, [document, variables]] of Object.entries(writes)) {
    for (const dryRun of [true, false]) {
      const statements = await service.statements(async () => {
        const { body, text } = await service.graphql(document, { ...variables, dryRun });
        expect(body.errors !== undefined, `${name}: ${text.slice(0, 1_000)}`).toBe(name.includes('refused'));
      });
      counts[dryRun ? `${name}, dry` : name] = statements.filter(
        (sql) => !/^(?:begin;|begin immediate$|begin$|begin isolation level |commit|rollback)/.test(sql),
      ).length;
    }
  }
  return counts;
}

test('a write of 200 records takes as many statements as one of 4', async () => {
  const few = await statementCounts(4);

  expect(await statementCounts(200)).toEqual(few);
  // Whatever it does: the records are looked up, locked, written and logged together.
  for (const [name, count] of Object.entries(few)) expect(count, name).toBeLessThan(16);
});
