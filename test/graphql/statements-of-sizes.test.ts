/** The number of SQL statements of a query: the same for few records and for many. */
import { beforeAll, describe, expect, test } from 'vitest';
import { createLinkedRecords } from '../support/linked-records.ts';
import { useSharedService } from '../support/service.ts';

type Service = ReturnType<typeof useSharedService>;

/** The statements of a query on records. Whether there are keys is asked once a second, by whatever request comes next. */
const statementsOf = async (query: string, variables: object, service: Service) =>
  (await service.statements(() => service.data(query, variables))).filter((sql) => !sql.includes('api_keys'));

/** Each query with the number of link fields to stored records in it. */
const queries: [string, number, string][] = [
  ['no links', 0, '{ workOrders(first: $first) { nodes { id name } } }'],
  ['ids only', 0, '{ workOrders(first: $first) { nodes { projectId locationId } pageInfo { hasNextPage } } }'],
  [
    'links to records of other systems',
    0,
    '{ workOrders(first: $first) { nodes { status { id } workspace { id } type { id } } } }',
  ],
  ['one link', 1, '{ workOrders(first: $first) { nodes { project { name } } } }'],
  ['two links to two kinds', 2, '{ workOrders(first: $first) { nodes { project { name } location { name } } } }'],
  [
    'links of links',
    3,
    '{ workOrders(first: $first) { nodes { project { name location { id city } } location { latitude longitude } } } }',
  ],
  ['edges instead of nodes', 1, '{ workOrders(first: $first) { edges { node { project { name } } } } }'],
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

describe.each([1, 10, 200])('with %i work orders', (size) => {
  const own = useSharedService();
  const strict = useSharedService({
    MAX_RECORD_LENGTH: '1000000',
    MAX_TEXT_LENGTH: '1000000',
    MAX_RESPONSE_LENGTH: '1000000',
  });

  beforeAll(async () => {
    for (const service of [own, strict]) await createLinkedRecords(service, { workOrders: size });
  });

  test.each(queries)('%s: one statement, whatever its %i link fields lead to', async (_, _links, query) => {
    const statements = await statementsOf(`query ($first: Int) ${query}`, { first: size }, own);

    expect(statements).toHaveLength(1);
  });

  test.each(queries)(
    '%s: at most one statement for each of %i link fields if texts may be long',
    async (_, links, query) => {
      const statements = await statementsOf(`query ($first: Int) ${query}`, { first: size }, strict);

      expect(statements.length).toBeLessThanOrEqual(1 + links);
    },
  );
});

/** Queries over many parents, with the number of statements that they take, however many parents and records there are. */
const backwards: [string, number, string][] = [
  ['a reverse link', 2, '{ projects(first: $first) { nodes { workOrders(first: 3) { nodes { name } } } } }'],
  [
    'a reverse link with a filter, an order and its count',
    2,
    '{ projects(first: $first) { nodes { workOrders(first: 2, where: { name: { contains: "1" } }, orderBy: [{ startDate: DESC }, { name: ASC }]) { totalCount nodes { name } edges { cursor } pageInfo { hasNextPage endCursor } } } } }',
  ],
  ['the count alone', 2, '{ projects(first: $first) { nodes { workOrders { totalCount } } } }'],
  [
    'two reverse links',
    3,
    '{ projects(first: $first) { nodes { workOrders(first: 1) { totalCount } transportOrders(first: 1) { totalCount } } } }',
  ],
  [
    'a reverse link of a reverse link, and links back',
    4,
    '{ locations(first: $first) { nodes { projects(first: 2) { totalCount nodes { workOrders(first: 2) { totalCount nodes { name location { name } } } } } } } }',
  ],
  [
    'a reverse link of a link that some records do not have',
    2,
    '{ workOrders(first: $first) { nodes { location { name projects(first: 1) { nodes { name } } } } } }',
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
  [
    'reverse links of what is kept elsewhere',
    3,
    '{ projects(first: $first) { nodes { company { projects(first: 1) { nodes { location { name } } } } } } }',
  ],
  ['ancestors', 3, '{ assetCategories(first: $first) { nodes { ancestors { totalCount nodes { name } } } } }'],
  [
    'a filter over relations',
    1,
    '{ projects(first: $first, where: { workOrders: { some: { location: { name: { contains: "1" } } } } }) { nodes { name } } }',
  ],
  [
    'an order',
    1,
    '{ projects(first: $first, orderBy: [{ startDate: DESC }]) { nodes { name } pageInfo { endCursor } } }',
  ],
  [
    'a summary',
    1,
    '{ workOrdersSummary(first: $first, groupBy: [PROJECT, MONTH_OF_START]) { totalCount groups { count startMonth projectId } } }',
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

    const statements = await statementsOf(document, { first: size }, own);

    expect(statements.length, statements.join('\n')).toBe(count);
  });
});
