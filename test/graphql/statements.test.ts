/** The number of SQL statements of a query, at several sizes. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createLinkedRecords } from '../support/linked-records.ts';
import { startService, useService } from '../support/service.ts';

const service = useService();

const statementsOf = (query: string, variables = {}) => service.statements(() => service.data(query, variables));

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
  beforeEach(async () => {
    await createLinkedRecords(service, { workOrders: size });
  });

  test.each(queries)('%s: one statement, whatever its %i link fields lead to', async (_, _links, query) => {
    const statements = await statementsOf(`query ($first: Int) ${query}`, { first: size });

    expect(statements).toHaveLength(1);
  });

  test.each(queries)(
    '%s: at most one statement for each of %i link fields if texts may be long',
    async (_, links, query) => {
      const strict = await startService({
        MAX_RECORD_LENGTH: '1000000',
        MAX_TEXT_LENGTH: '1000000',
        MAX_RESPONSE_LENGTH: '1000000',
      });
      await createLinkedRecords(strict, { workOrders: size });

      const statements = await strict.statements(() => strict.data(`query ($first: Int) ${query}`, { first: size }));
      await strict.stop();

      expect(statements.length).toBeLessThanOrEqual(1 + links);
    },
  );
});

test('links of records by their IDs take a statement each when they lead to different records', async () => {
  const [site, yard] = await service.create('/locations', {}, {});
  const [project] = await service.create('/projects', { name: 'Bridge', locationId: yard.id });
  const [{ id }] = await service.create('/work-orders', { projectId: project.id, locationId: site.id });

  const statements = await statementsOf(
    'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on WorkOrder { project { location { id } } location { id } } } }',
    { ids: [id] },
  );

  expect(statements).toHaveLength(4);
});

test.each([3, 12])('a chain of %i parents takes one statement per step', async (depth) => {
  let parentId: string | null = null;
  for (let level = 0; level <= depth; level += 1) {
    const batch = Array.from({ length: 5 }, () => ({ parentId }));
    parentId = (await service.create('/asset-categories', ...batch))[0].id;
  }
  const chain = `${'parent { '.repeat(depth)}name${' }'.repeat(depth)}`;

  const statements = await statementsOf(`{ assetCategories(first: 1000) { nodes { ${chain} } } }`);

  expect(statements.length).toBeLessThanOrEqual(1 + depth);
});

test('totalCount takes a statement of its own, and only if it is selected', async () => {
  await createLinkedRecords(service, { workOrders: 3 });

  expect(await statementsOf('{ workOrders { nodes { id } } }')).toHaveLength(1);
  expect(await statementsOf('{ workOrders { nodes { id } totalCount } }')).toHaveLength(2);
  expect(await statementsOf('{ workOrders { totalCount } }')).toHaveLength(1);
});

test('nodes of several kinds take one statement per kind, single records selected together take one', async () => {
  const { workOrders, projects, locations } = await createLinkedRecords(service, { workOrders: 50 });
  const ids = [...workOrders, ...projects, ...locations].map(({ id }) => id);

  const byId = '{ a: project(id: $a) { name } b: project(id: $b) { name } c: node(id: $a) { id } }';

  expect(await statementsOf('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids })).toHaveLength(3);
  expect(await statementsOf(`query ($a: ID!, $b: ID!) ${byId}`, { a: projects[0].id, b: projects[1].id })).toHaveLength(
    1,
  );
});

test('the links of created records take as many statements', async () => {
  const { projects, locations } = await createLinkedRecords(service, { workOrders: 1 });
  const input = Array.from({ length: 100 }, (_, i) => ({
    projectId: projects[i % 7].id,
    locationId: locations[i % 5].id,
  }));

  const statements = await statementsOf(
    'mutation ($input: [CreateWorkOrderInput!]!) { createWorkOrders(input: $input) { project { location { id } } location { id } } }',
    { input },
  );

  const reads = statements.slice(statements.findIndex((sql) => sql.startsWith('commit')) + 1);
  expect(reads.length).toBeLessThanOrEqual(3);
});
