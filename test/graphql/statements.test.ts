/** The number of SQL statements of a query: the same for few records and for many. */
import { beforeAll, describe, expect, test } from 'vitest';
import { createLinkedRecords } from '../support/linked-records.ts';
import { useSharedService, useWorkspaces } from '../support/service.ts';

type Service = ReturnType<typeof useSharedService>;

/** Each query with the number of link fields to stored records in it. */
const queries: [string, number, string][] = [
  ['no links', 0, '{ workOrders(first: $first) { nodes { id name } } }'],
  [
    'links to records of other systems',
    0,
    '{ workOrders(first: $first) { nodes { status { id } workspace { id } type { id } } } }',
  ],
  [
    'links of links',
    3,
    '{ workOrders(first: $first) { nodes { project { name location { id city } } location { latitude longitude } } } }',
  ],
  [
    'nodes, edges and page information',
    1,
    '{ workOrders(first: $first) { nodes { project { id } } edges { cursor } pageInfo { endCursor } } }',
  ],
  [
    'the same link under two names',
    2,
    '{ workOrders(first: $first) { nodes { a: project { name } b: project { id location { name } } } } }',
  ],
  [
    'links in fragments',
    2,
    '{ workOrders(first: $first) { nodes { ...a ...b } } } fragment a on WorkOrder { project { ...p } } fragment b on WorkOrder { project { location { id } } } fragment p on Project { name }',
  ],
];

describe('a list with links', () => {
  const short = useSharedService({}, { closed: true });
  const long = useSharedService(
    { MAX_RECORD_LENGTH: '1000000', MAX_TEXT_LENGTH: '1000000', MAX_RESPONSE_LENGTH: '1000000' },
    { closed: true },
  );
  const sizes = [1, 200];
  const keys = new Map<Service, string[]>();

  beforeAll(async () => {
    for (const service of [short, long]) {
      const own = await Promise.all(sizes.map((size) => service.key({ workspace: `of-${size}` })));
      keys.set(service, own);
      for (const [index, key] of own.entries()) {
        await createLinkedRecords(service.as(key), { workOrders: sizes[index] ?? 0 });
      }
    }
  });

  /** The number of statements of a query on each number of records. */
  const countsOf = async (service: Service, query: string) => {
    const counts = [];
    for (const [index, key] of (keys.get(service) ?? []).entries()) {
      const variables = { first: sizes[index] };
      counts.push(
        (await service.statements(() => service.as(key).data(`query ($first: Int) ${query}`, variables))).length,
      );
    }
    return counts;
  };

  test.each(queries)('takes one statement, whatever its links lead to: %s', async (_, _links, query) => {
    expect(await countsOf(short, query)).toEqual(sizes.map(() => 1));
  });

  test.each(queries)(
    'takes at most one statement more for each link field if texts may be long: %s, %i',
    async (_, links, query) => {
      for (const count of await countsOf(long, query)) expect(count).toBeLessThanOrEqual(1 + links);
    },
  );
});

/** Queries over many parents, with the number of statements that they take, however many parents and records there are. */
const backwards: [string, number, string][] = [
  [
    'a reverse link with a filter, an order and its count',
    2,
    '{ projects(first: $first) { nodes { workOrders(first: 2, where: { name: { contains: "1" } }, orderBy: [{ startDate: DESC }, { name: ASC }]) { totalCount nodes { name } edges { cursor } pageInfo { hasNextPage endCursor } } } } }',
  ],
  ['the count alone', 2, '{ projects(first: $first) { nodes { workOrders { totalCount } } } }'],
  [
    'a reverse link of a reverse link, and links back',
    4,
    '{ locations(first: $first) { nodes { projects(first: 2) { totalCount nodes { workOrders(first: 2) { totalCount nodes { name location { name } } } } } } } }',
  ],
  [
    'reverse links below links that some records do not have',
    5,
    '{ projects(first: $first) { nodes { workOrders(first: 1) { nodes { location { name projects(first: 1) { nodes { transportOrders(first: 1) { totalCount } } } } } } } } }',
  ],
  [
    'a reverse link of records of which some were read before',
    4,
    '{ projects(first: 2) { nodes { location { name } company { projects(first: 100) { nodes { location { name workOrders(first: 1) { totalCount } } } } } } } }',
  ],
  ['ancestors', 3, '{ assetCategories(first: $first) { nodes { ancestors { totalCount nodes { name } } } } }'],
  [
    'a filter over relations',
    1,
    '{ projects(first: $first, where: { workOrders: { some: { location: { name: { contains: "1" } } } } }) { nodes { name } } }',
  ],
  [
    'a summary with links',
    2,
    '{ workOrdersSummary(first: $first, groupBy: [PROJECT]) { groups { count project { name } } } }',
  ],
  [
    'what is kept elsewhere',
    1,
    '{ company(id: "company-1") { projects(first: $first) { totalCount nodes { name } } } }',
  ],
  [
    'changes with what changed, their records and the links of these',
    6,
    '{ changes(first: 1000, kinds: [PROJECT]) { nodes { cursor user { id } fields { field before after } record { id ... on Project { name location { city } } } } endCursor } }',
  ],
  ['histories', 3, '{ projects(first: $first) { nodes { history(first: 3) { nodes { cursor } } } } }'],
  [
    'histories with what changed',
    6,
    '{ projects(first: $first) { nodes { history(first: 3) { nodes { fields { field before after } record { id } } } } } }',
  ],
  ['a record by its external ID', 1, '{ projectByExternalId(key: "erp", value: "P-3") { name } }'],
];

describe.each([10, 1_000])('backwards, with %i of each kind', (size) => {
  const own = useSharedService({ MAX_QUERY_COST: '100000000' });

  beforeAll(async () => {
    const many = (record: (index: number) => object) => Array.from({ length: size }, (_, index) => record(index));
    const locations = await own.create('/locations', ...many((i) => ({ name: `location ${i}` })));
    const projects = await own.create(
      '/projects',
      ...many((i) => ({
        name: `project ${i}`,
        companyId: `company-${i % 3}`,
        externalIds: { erp: `P-${i}` },
        ...(i % 4 > 0 && { locationId: locations[(i * 7) % size].id, startDate: `2026-0${1 + (i % 9)}-01` }),
      })),
    );
    await own.create(
      '/work-orders',
      ...many((i) => ({
        name: `order ${i}`,
        ...(i % 3 > 0 && { locationId: locations[i].id }),
        projectId: projects[(i * 3) % size].id,
      })),
    );
    await own.create('/transport-orders', ...many((i) => ({ projectId: projects[(i * 3) % size].id })));
    const [root] = await own.create('/asset-categories', { name: 'root' });
    await own.create('/asset-categories', ...many((i) => ({ name: `category ${i}`, parentId: root.id })));
    // As Postgres does by itself within a minute: without statistics, it may join these tables in an order that takes 30 seconds.
    await own.database.run('analyze');
  });

  test.each(backwards)('%s: %i statements', async (_, count, query) => {
    const document = query.includes('$first') ? `query ($first: Int) ${query}` : query;

    const statements = await own.statements(() => own.data(document, { first: size }));

    expect(statements.length, statements.join('\n')).toBe(count);
  });
});

const service = useWorkspaces();

const statementsOf = (query: string, variables = {}) => service.statements(() => service.data(query, variables));

test('a chain of 12 parents takes one statement per step', async () => {
  let parentId: string | null = null;
  for (let level = 0; level <= 12; level += 1) {
    const batch = Array.from({ length: 5 }, () => ({ parentId }));
    parentId = (await service.create('/asset-categories', ...batch))[0].id;
  }
  const chain = `${'parent { '.repeat(12)}name${' }'.repeat(12)}`;

  const statements = await statementsOf(`{ assetCategories(first: 1000) { nodes { ${chain} } } }`);

  expect(statements.length).toBeLessThanOrEqual(1 + 12);
});

test('totalCount takes a statement of its own, and only if it is selected', async () => {
  await createLinkedRecords(service, { workOrders: 3 });

  expect(await statementsOf('{ workOrders { nodes { id } } }')).toHaveLength(1);
  expect(await statementsOf('{ workOrders { nodes { id } totalCount } }')).toHaveLength(2);
  expect(await statementsOf('{ workOrders { totalCount } }')).toHaveLength(1);
});

test('a reverse link counts only where totalCount is selected, and reads records only where they are', async () => {
  await createLinkedRecords(service, { workOrders: 3 });
  const linkOf = async (selection: string) => {
    const query = `{ projects { nodes { workOrders(first: 10) { ${selection} } } } }`;
    const sql = (await statementsOf(query)).at(-1);
    return [sql?.includes('count(*)'), sql?.includes('limit')];
  };

  expect(await linkOf('nodes { id }')).toEqual([false, true]);
  expect(await linkOf('... { n: totalCount }')).toEqual([true, false]);
  expect(await linkOf('nodes { id } totalCount')).toEqual([true, true]);
});

test('the links of created records take as many statements as those of a list', async () => {
  const { projects, locations } = await createLinkedRecords(service, { workOrders: 1 });
  const input = Array.from({ length: 100 }, (_, i) => ({
    projectId: projects[i % 7].id,
    locationId: locations[i % 5].id,
  }));

  const statements = await statementsOf(
    'mutation ($input: [CreateWorkOrderInput!]!) { createWorkOrders(input: $input) { project { location { id } } location { id } } }',
    { input },
  );

  const reads = statements.slice(statements.findIndex((sql) => /insert into (?:new_)?work_orders/.test(sql)) + 1);
  expect(reads.length).toBeLessThanOrEqual(3);
});
