/** The number of SQL statements does not grow with the records. `test/sql` has the statements of the most frequent requests. */
import { beforeAll, describe, expect, test } from 'vitest';
import { asset, assetCategory, location, project, workOrder } from '../../src/records/index.ts';
import { createLinkedRecords } from '../support/linked-records.ts';
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

async function statementCounts(count: number): Promise<Record<string, number>> {
  const { locations, places, assets, categories, above } = await records(count);
  const changes = (ids: Ids, change: (index: number) => object) => ({
    input: ids.map((id, n) => ({ id, ...change(n) })),
  });
  const ofSystem = (n: number) => ({ externalId: { key: 'erp', value: `${count} ${n}` } });
  const list = (item: (index: number) => object) => Array.from({ length: count }, (_, n) => item(n));
  /** Half of the items are new, and half of the others have changed. */
  const isNew = (n: number) => n % 2 === 1;
  const writes: Record<string, [string, object]> = {
    'create with links': [
      createDocument(workOrder, 'project { location { id } } location { id }'),
      { input: list((n) => ({ name: 'Set up the crane', project: ofSystem(n) })) },
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
    'delete that clears': [deleteDocument(location), { ids: locations, references: 'CLEAR' }],
    'delete in a tree that clears': [deleteDocument(assetCategory), { ids: categories, references: 'CLEAR' }],
  };
  const counts: Record<string, number> = {};
  for (const [name, [document, variables]] of Object.entries(writes)) {
    for (const dryRun of [true, false]) {
      const statements = await service.statements(async () => {
        const { body, text } = await service.graphql(document, { ...variables, dryRun });
        expect(body.errors, `${name}: ${text.slice(0, 1_000)}`).toBeUndefined();
      });
      counts[dryRun ? `${name}, dry` : name] = statements.filter(
        (sql) => !/^(?:begin;|begin immediate$|begin$|begin isolation level |commit|rollback)/.test(sql),
      ).length;
    }
  }
  return counts;
}

test('a write of 40 records takes as many statements as one of 4', async () => {
  const few = await statementCounts(4);
  expect(await statementCounts(40)).toEqual(few);
  // Whatever it does: the records are looked up, locked, written and logged together.
  for (const [name, count] of Object.entries(few)) expect(count, name).toBeLessThan(16);
});

describe('a list of 200 with links of links', () => {
  const short = useSharedService();
  const long = useSharedService({
    MAX_RECORD_LENGTH: '1000000',
    MAX_TEXT_LENGTH: '1000000',
    MAX_RESPONSE_LENGTH: '1000000',
  });

  test.each([
    ['one statement', short, 1],
    ['one more for each link if texts may be long', long, 4],
  ])('takes %s', async (_, service, most) => {
    await createLinkedRecords(service, 200);
    const query =
      '{ workOrders(first: 200) { nodes { ...a ...b } } } fragment a on WorkOrder { project { ...p } status { id } } fragment b on WorkOrder { project { id } location { latitude } } fragment p on Project { name location { city } }';
    expect((await service.statements(() => service.data(query))).length).toBeLessThanOrEqual(most);
  });
});

/** Queries over many parents, with the number of statements that they take, however many parents and records there are. */
const backwards: [string, number, string][] = [
  [
    'reverse links below links that some records do not have',
    5,
    '{ projects(first: 100) { nodes { workOrders(first: 1) { nodes { location { name projects(first: 1) { nodes { transportOrders(first: 1) { totalCount } } } } } } } } }',
  ],
  [
    'labels of what is kept elsewhere, of several types',
    2,
    '{ projects(first: 100) { nodes { status { id name color } company { name } } } }',
  ],
  ['ancestors', 3, '{ assetCategories(first: 100) { nodes { ancestors { totalCount nodes { name } } } } }'],
  [
    'a summary with links',
    2,
    '{ workOrdersSummary(first: 100, groupBy: [PROJECT]) { groups { count project { name } } } }',
  ],
  [
    'changes with what changed, their records and the links of these',
    6,
    '{ changes(first: 1000, kinds: [PROJECT]) { nodes { cursor user { id } fields { field before after } record { id ... on Project { name location { city } } } } endCursor } }',
  ],
  [
    'histories with what changed',
    6,
    '{ projects(first: 100) { nodes { history(first: 3) { nodes { fields { field before after } record { id } } } } } }',
  ],
];

describe('backwards, with 100 of each kind', () => {
  const own = useSharedService({ MAX_QUERY_COST: '100000000' });

  beforeAll(async () => {
    const many = (record: (index: number) => object) => Array.from({ length: 100 }, (_, index) => record(index));
    const locations = await own.create('/locations', ...many((i) => ({ name: `location ${i}` })));
    const projects = await own.create(
      '/projects',
      ...many((i) => ({
        name: `project ${i}`,
        companyId: `company-${i % 3}`,
        ...(i % 4 > 0 && { locationId: locations[(i * 7) % 100].id }),
      })),
    );
    const projectOf = (i: number) => ({ projectId: projects[(i * 3) % 100].id });
    const locationOf = (i: number) => i % 3 > 0 && { locationId: locations[i].id };
    await own.create('/work-orders', ...many((i) => ({ name: `order ${i}`, ...projectOf(i), ...locationOf(i) })));
    await own.create('/transport-orders', ...many(projectOf));
    const [root] = await own.create('/asset-categories', { name: 'root' });
    await own.create('/asset-categories', ...many((i) => ({ name: `category ${i}`, parentId: root.id })));
    // As Postgres does by itself within a minute: without statistics, it may join these tables in an order that takes 30 seconds.
    await own.database.run('analyze');
  });

  test.each(backwards)('%s: %i statements', async (_, count, query) => {
    const statements = await own.statements(() => own.data(query));
    expect(statements.length, statements.join('\n')).toBe(count);
  });
});
