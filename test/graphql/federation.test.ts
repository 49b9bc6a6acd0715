/** With FEDERATION=on, the schema is a subgraph of Apollo Federation 2: what is composed of it, and what gateways get. */

import { type ASTNode, type DocumentNode, parse, print, printSchema, visit } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../src/graphql/schema/schema.ts';
import { foreignTypes } from '../../src/model/fields.ts';
import { compose } from '../support/gateway.ts';
import { createLinkedRecords } from '../support/linked-records.ts';
import { startService, useSharedService } from '../support/service.ts';

const sdlQuery = '{ _service { sdl } }';

const entities = `query ($representations: [_Any!]!) { _entities(representations: $representations) {
  __typename ... on WorkOrder { name project { name } } ... on Project { startDate title: name } ... on Location { city } } }`;

const represent = (__typename: string, id: unknown) => ({ __typename, id });

describe('the schema', () => {
  const service = useSharedService({ FEDERATION: 'on' });
  const readSdl = async (): Promise<string> => (await service.data(sdlQuery))._service.sdl;
  const composed = async (): Promise<DocumentNode> => parse(await readSdl());

  test('that is composed fits together with that of another service', async () => {
    const sdl = await readSdl();

    expect(compose(sdl)).toContain('@join__type(graph: YARDGRAPH, key: "id")');
    expect(() => compose(sdl.replace('PageInfo @shareable', 'PageInfo'))).toThrow('PageInfo');
    expect(() => compose(sdl.replace('type Query {', 'type Query { node(id: ID!): Node'))).toThrow('Query.node');
  });

  test('that is composed has everything but the queries that other services may have, too', async () => {
    const found = new Set(membersOf(await composed()));

    const missing = membersOf(parse(printSchema(schema))).filter((member) => !found.has(member));

    const others = new Set(['Node', '[Node]!', ...Object.keys(foreignTypes).flatMap((name) => [name, `${name}!`])]);
    const lookups = Object.values(schema.getQueryType()?.getFields() ?? {}).filter(({ type }) =>
      others.has(String(type)),
    );
    expect(lookups.map(({ name }) => name)).toEqual(expect.arrayContaining(['node', 'nodes']));
    expect(missing.map((member) => /^Query\.(\w+)/.exec(member)?.[1])).toEqual(lookups.map(({ name }) => name));
  });
});

/** Each type, field with its arguments, and value: `Asset.name: String!` */
function membersOf(document: DocumentNode): string[] {
  const printed = (node: ASTNode) => print(visit(node, { enter: (inner) => ({ ...inner, description: undefined }) }));
  return document.definitions.flatMap((definition) => {
    if (!('name' in definition) || !definition.name) return [];
    const { value } = definition.name;
    const members: readonly ASTNode[] = [
      ...('fields' in definition ? (definition.fields ?? []) : []),
      ...('values' in definition ? (definition.values ?? []) : []),
    ];
    return [value, ...members.map((member) => `${value}.${printed(member)}`)];
  });
}

describe('entities', () => {
  const service = useSharedService({ FEDERATION: 'on' });
  let records: Awaited<ReturnType<typeof createLinkedRecords>>;

  beforeAll(async () => {
    records = await createLinkedRecords(service, { workOrders: 10 });
  });

  const load = (...representations: unknown[]) => service.graphql(entities, { representations });

  test('come in the order of the representations, whatever their kinds', async () => {
    const { workOrders, projects, locations } = records;

    const { body } = await load(
      { ...represent('Location', locations[1].id), city: 'ignored' },
      represent('WorkOrder', workOrders[8].id),
      represent('Project', projects[2].id),
      represent('WorkOrder', workOrders[8].id),
    );

    const workOrder = { __typename: 'WorkOrder', name: 'order 8', project: { name: 'project 1' } };
    expect(body.errors).toBeUndefined();
    expect(body.data._entities).toEqual([
      { __typename: 'Location', city: 'city 1' },
      workOrder,
      { __typename: 'Project', startDate: null, title: 'project 2' },
      workOrder,
    ]);
  });

  test('are null for IDs that are unknown, foreign, or of another kind', async () => {
    const [order] = records.workOrders;
    const unknown = `${order.id.slice(0, -4)}zzzz`;

    const { body } = await load(
      represent('WorkOrder', unknown),
      represent('WorkOrder', 'ERP-7'),
      represent('Project', order.id),
      represent('WorkOrder', order.id),
    );

    expect(body.errors).toBeUndefined();
    expect(body.data._entities.slice(0, 3)).toEqual([null, null, null]);
    expect(body.data._entities[3].name).toBe('order 0');
  });

  test('count as often in the cost as there are representations', async () => {
    const cost = async (size: number) => {
      const { headers } = await load(...Array(size).fill(represent('Project', 'x')));
      return Number(headers['query-cost']);
    };

    const [none, one, hundred] = [await cost(0), await cost(1), await cost(100)];

    expect(one).toBeGreaterThan(none);
    expect(hundred - none).toBe(100 * (one - none));
  });
});

describe('what is refused', () => {
  const service = useSharedService({ FEDERATION: 'on', MAX_PAGE_SIZE: '10' });
  const types = 'one of Asset, WorkOrder, Project, Location, TransportOrder, AssetCategory';

  const wrong: readonly [string, unknown, string][] = [
    ['a text', 'Project', 'representations[1]: expected an object with __typename and id, received "Project"'],
    ['no type', { id: 'x' }, `representations[1].__typename: expected ${types}`],
    ['an unknown type', represent('Yard', 'x'), ', received "Yard"'],
    ['no ID', { __typename: 'Project' }, 'representations[1].id: expected text, received nothing'],
    [
      'an ID that no database can compare',
      represent('Company', 'a\u0000'),
      'representations[1].id: expected text without',
    ],
  ];

  test.each(wrong)('%s instead of a representation', async (_, representation, message) => {
    const { status, body } = await service.graphql(entities, {
      representations: [represent('Project', 'x'), representation],
    });

    expect(status).toBe(200);
    expect(body.errors).toHaveLength(1);
    expect(body.errors[0].message).toContain(message);
    expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    expect(body.errors[0].path).toEqual(['_entities']);
  });

  test('more representations than a page may have records', async () => {
    const tooMany = 'representations: expected at most 10 representations, received 11';
    const query = service.graphql(entities, { representations: Array(11).fill(represent('Project', 'x')) });
    expect((await query).body.errors).toEqual([{ message: tooMany, extensions: { code: 'BAD_USER_INPUT' } }]);
  });
});

test('the schema to compose needs a key, but no introspection', async () => {
  const service = await startService({ FEDERATION: 'on', INTROSPECTION: 'off' }, { closed: true });
  const client = service.as(await service.key({ readOnly: true }));

  expect((await service.graphql(sdlQuery)).status).toBe(401);
  expect((await client.data(sdlQuery))._service.sdl).toContain('type Project');
  expect((await client.graphql('{ __schema { types { name } } }')).body.errors).toBeDefined();
  await service.stop();
});

test('unless FEDERATION is on, there are no queries for gateways', async () => {
  const service = await startService();

  const { body } = await service.graphql(sdlQuery);

  expect(body.errors[0].message).toContain('Cannot query field "_service"');
  await service.stop();
});
