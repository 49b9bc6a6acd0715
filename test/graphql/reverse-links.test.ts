/** Links followed backwards: from records, and from what is kept elsewhere, to the records that refer to them. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const service = useSharedService({}, { closed: true });

type Client = ReturnType<typeof service.as>;
let client: Client;
let wall: string;

const namesOf = ({ nodes }: { nodes: { name: string }[] }) => nodes.map(({ name }) => name);

beforeAll(async () => {
  client = service.as(await service.key({ workspace: 'acme', user: 'jo' }));
  [{ id: wall }] = (await client.create(
    '/projects',
    { name: 'Harbour wall', companyId: 'company-1', statusId: 'open' },
    { name: 'Quay', companyId: 'company-2' },
    { name: 'Bridge', companyId: 'company-1' },
  )) as [{ id: string }];
  await client.create('/work-orders', { name: 'Survey', projectId: wall, statusId: 'open' });
  await client.create('/transport-orders', { name: 'Crane', purchaseOrderId: 'po' });
  await client.create(
    '/assets',
    { name: 'Crane', ownerId: 'company-1', manufacturerId: 'company-2', purchaseOrderId: 'po' },
    { name: 'Pump', ownerId: 'company-1', manufacturerId: 'company-1', statusId: 'open' },
  );
});

test.each<[string, Record<string, string[]>]>([
  [
    'company(id: "company-1")',
    { projects: ['Harbour wall', 'Bridge'], ownedAssets: ['Crane', 'Pump'], manufacturedAssets: ['Pump'] },
  ],
  ['status(id: "open")', { assets: ['Pump'], workOrders: ['Survey'], projects: ['Harbour wall'], transportOrders: [] }],
  ['purchaseOrder(id: "po")', { assets: ['Crane'], transportOrders: ['Crane'] }],
  [
    'user(id: "jo")',
    {
      createdProjects: ['Harbour wall', 'Quay', 'Bridge'],
      updatedAssets: ['Crane', 'Pump'],
      createdWorkOrders: ['Survey'],
    },
  ],
])('%s leads to the records that refer to it', async (field, links) => {
  const data = await client.data(
    `{ it: ${field} { id ${Object.keys(links)
      .map((link) => `${link} { totalCount nodes { name } }`)
      .join(' ')} } }`,
  );

  for (const [link, names] of Object.entries(links)) {
    expect([link, data.it[link].totalCount, namesOf(data.it[link])]).toEqual([link, names.length, names]);
  }
});

test('ancestors lead from the parent up to the root, oldest first', async () => {
  let parentId: string | null = null;
  for (const name of ['Machines', 'Cranes', 'Tower cranes', 'Luffing cranes'])
    [{ id: parentId }] = (await client.create('/asset-categories', { name, parentId })) as [{ id: string }];

  const { assetCategory } = await client.data(
    `query ($id: ID!) { assetCategory(id: $id) {
      ancestors { totalCount nodes { name children { nodes { name } } } }
      nearest: ancestors(last: 1) { nodes { name } } named: ancestors(where: { name: { startsWith: "C" } }, orderBy: { name: ASC }) { nodes { name } } } }`,
    { id: parentId },
  );

  expect(assetCategory).toEqual({
    ancestors: {
      totalCount: 3,
      nodes: [
        { name: 'Machines', children: { nodes: [{ name: 'Cranes' }] } },
        { name: 'Cranes', children: { nodes: [{ name: 'Tower cranes' }] } },
        { name: 'Tower cranes', children: { nodes: [{ name: 'Luffing cranes' }] } },
      ],
    },
    nearest: { nodes: [{ name: 'Tower cranes' }] },
    named: { nodes: [{ name: 'Cranes' }] },
  });
});

describe('a reverse link in a fragment that is spread in two places, in one of which more is selected', () => {
  const fragment = 'fragment F on Project { workOrders(first: 5) { nodes { name } } }';
  const plain = { nodes: [{ name: 'Survey' }] };

  test.each<[string, string, object, object]>([
    ['...F', '...F workOrders(first: 5) { totalCount }', plain, { ...plain, totalCount: 1 }],
    ['...F workOrders(first: 5) { totalCount }', '...F', { ...plain, totalCount: 1 }, plain],
  ])('%s and %s', async (first, second, a, b) => {
    const data = await client.data(
      `query ($id: ID!) { a: project(id: $id) { ${first} } b: project(id: $id) { ${second} } } ${fragment}`,
      { id: wall },
    );

    expect(data).toEqual({ a: { workOrders: a }, b: { workOrders: b } });
  });
});

test('records that a mutation creates are seen by reverse links selected on them', async () => {
  const create = (name: string) =>
    `createTransportOrders(input: [{ projectId: $id, name: "${name}" }]) { project { ...newest } }`;
  const { a, b } = await client.data(
    `mutation ($id: ID) { a: ${create('first')} b: ${create('second')} }
     fragment newest on Project { transportOrders(orderBy: { id: DESC }, first: 1) { totalCount nodes { name } } }`,
    { id: wall },
  );

  const [{ project: first }, { project: second }] = [a[0], b[0]];
  expect([first.transportOrders.nodes, second.transportOrders.nodes]).toEqual([
    [{ name: 'first' }],
    [{ name: 'second' }],
  ]);
  expect(second.transportOrders.totalCount).toBe(first.transportOrders.totalCount + 1);
});
