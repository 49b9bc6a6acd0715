/** The number of SQL statements of a query does not grow with its records. `test/sql` has the statements of the most frequent requests. */
import { beforeAll, describe, expect, test } from 'vitest';
import { createLinkedRecords } from '../support/linked-records.ts';
import { useSharedService } from '../support/service.ts';

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
    await createLinkedRecords(service, { workOrders: 200 });
    const query =
      '{ workOrders(first: 200) { nodes { ...a ...b } } } fragment a on WorkOrder { project { ...p } status { id } } fragment b on WorkOrder { project { id } location { latitude } } fragment p on Project { name location { city } }';

    expect((await service.statements(() => service.data(query))).length).toBeLessThanOrEqual(most);
  });
});

/** Queries over many parents, with the number of statements that they take, however many parents and records there are. */
const backwards: [string, number, string][] = [
  [
    'a reverse link of a reverse link, and links back',
    4,
    '{ locations(first: 100) { nodes { projects(first: 2) { totalCount nodes { workOrders(first: 2) { totalCount nodes { name location { name } } } } } } } }',
  ],
  [
    'reverse links below links that some records do not have',
    5,
    '{ projects(first: 100) { nodes { workOrders(first: 1) { nodes { location { name projects(first: 1) { nodes { transportOrders(first: 1) { totalCount } } } } } } } } }',
  ],
  [
    'a reverse link of records of which some were read before',
    4,
    '{ projects(first: 2) { nodes { location { name } company { projects(first: 100) { nodes { location { name workOrders(first: 1) { totalCount } } } } } } } }',
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
