/** The number of SQL statements of a query, at several sizes. */
import { expect, test } from 'vitest';
import { createLinkedRecords } from '../support/linked-records.ts';
import { useService } from '../support/service.ts';

const service = useService();

/** Whether there are keys is asked once a second, by whatever request comes next. */
const isOnRecords = (sql: string) => !sql.includes('api_keys');

/** The statements of a query on records. */
const statementsOf = async (query: string, variables = {}) =>
  (await service.statements(() => service.data(query, variables))).filter(isOnRecords);

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

test('a reverse link counts only where totalCount is selected, and reads records only where they are', async () => {
  await createLinkedRecords(service, { workOrders: 3 });
  const linkOf = async (selection: string) => {
    const query = `{ projects { nodes { workOrders(first: 10) { ${selection} } } } } fragment f on WorkOrderConnection { totalCount }`;
    return (await statementsOf(selection.includes('...f') ? query : query.replace(/ fragment.*/, ''))).at(-1);
  };

  const count = 'count(*)';
  const isPage = (sql: string | undefined) => sql?.includes('limit');
  for (const selection of ['nodes { id }', 'edges { cursor }', 'pageInfo { hasNextPage }']) {
    expect(await linkOf(selection)).not.toContain(count);
  }
  for (const selection of ['totalCount', '...f', '... { n: totalCount }', 'totalCount @include(if: true)']) {
    const sql = await linkOf(selection);
    expect([sql?.includes(count), isPage(sql)]).toEqual([true, false]);
  }
  const both = await linkOf('nodes { id } ...f');
  expect([both?.includes(count), isPage(both)]).toEqual([true, true]);
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
