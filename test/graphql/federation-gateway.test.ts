/** The service as a part of a larger graph, behind a gateway and beside another service, which keeps companies. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { createLinkedRecords } from '../support/linked-records.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService({ FEDERATION: 'on' }, { closed: true });

let gateway: Awaited<ReturnType<typeof startGateway>>;
let headers: { authorization: string };

beforeAll(async () => {
  const key = await service.key();
  headers = { authorization: `Bearer ${key}` };
  const client = service.as(key);
  const { workOrders } = await createLinkedRecords(client, { workOrders: 100 });
  const { sdl } = (await client.data('{ _service { sdl } }'))._service;
  gateway = await startGateway(service, sdl);
  gateway.plan(workOrders.map(({ id }) => id));
});

afterAll(() => gateway.stop());

test('a hundred work orders that another service refers to take one request and one statement for each kind', async () => {
  const query = '{ company(id: "company-5") { name planned { name project { name } } } }';

  let response: Awaited<ReturnType<typeof gateway.send>> | undefined;
  const statements = await service.statements(async () => {
    response = await gateway.send(query, headers);
  });

  const { data, errors, sent } = response ?? {};
  expect(errors).toBeUndefined();
  expect(data.company.planned).toHaveLength(100);
  expect(data.company.planned[8]).toEqual({ name: 'order 8', project: { name: 'project 1' } });
  expect(sent?.map(({ service, representations }) => [service, representations?.length])).toEqual([
    ['companies', undefined],
    ['yardgraph', 100],
  ]);
  expect(statements.filter((sql) => sql.includes('work_orders'))).toHaveLength(1);
  expect(statements.filter((sql) => sql.includes('from projects'))).toHaveLength(1);
});

test('companies of the other service have their projects here, filtered and in order', async () => {
  const query = `{ companies { nodes { name
    projects(where: { name: { ne: "project 1" } }, orderBy: [{ name: DESC }], first: 5) {
      totalCount nodes { name company { name } workOrders(last: 1) { nodes { name } } } } } } }`;

  const { data, errors, sent } = await gateway.send(query, headers);

  expect(errors).toBeUndefined();
  const [zero, one, two] = data.companies.nodes;
  const workOrder = (name: string) => ({ nodes: [{ name }] });
  expect(zero).toEqual({
    name: 'The company company-0',
    projects: {
      totalCount: 1,
      nodes: [{ name: 'project 0', company: { name: 'The company company-0' }, workOrders: workOrder('order 98') }],
    },
  });
  expect(one.projects).toEqual({ totalCount: 0, nodes: [] });
  expect(two.projects.nodes[0].workOrders).toEqual(workOrder('order 93'));
  expect(sent.filter(({ service }) => service === 'yardgraph').map(({ representations }) => representations)).toEqual([
    ['company-0', 'company-1', 'company-2'].map((id) => ({ __typename: 'Company', id })),
  ]);
});
