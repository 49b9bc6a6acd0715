/** With FEDERATION=on, the schema is a subgraph of Apollo Federation 2: what is composed of it, and what gateways get. */

import { type ASTNode, type DocumentNode, parse, print, printSchema, visit } from 'graphql';
import { beforeEach, describe, expect, test } from 'vitest';
import { createSubgraph } from '../../src/graphql/federation.ts';
import { schema } from '../../src/graphql/schema/schema.ts';
import { foreignTypes } from '../../src/model/fields.ts';
import { recordKinds } from '../../src/records/index.ts';
import { compose } from '../support/gateway.ts';
import { createLinkedRecords } from '../support/linked-records.ts';
import { startService, useService, useSharedService } from '../support/service.ts';

const sdlQuery = '{ _service { sdl } }';

const entities = `query ($representations: [_Any!]!) { _entities(representations: $representations) {
  __typename ... on WorkOrder { name project { name } } ... on Project { startDate title: name } ... on Location { city } } }`;

const represent = (__typename: string, id: unknown) => ({ __typename, id });

describe('the schema', () => {
  const service = useSharedService({ FEDERATION: 'on' });
  const readSdl = async (): Promise<string> => (await service.data(sdlQuery))._service.sdl;
  const composed = async (): Promise<DocumentNode> => parse(await readSdl());

  test('that is executed has two more queries and their types, and is the same otherwise', () => {
    const executed = parse(printSchema(createSubgraph(schema)));
    const additions: string[] = [];

    const rest = visit(executed, {
      enter(node) {
        if (!('name' in node) || !node.name?.value.startsWith('_')) return undefined;
        additions.push(node.name.value);
        return null;
      },
    });

    expect(print(rest)).toBe(print(parse(printSchema(schema))));
    expect(additions.toSorted()).toEqual(['_Any', '_Entity', '_Service', '_entities', '_service']);
  });

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

  test('that is composed has a key for each type with an ID, and marks what other services may have, too', async () => {
    const directives = new Map<string, string>();
    visit(await composed(), {
      ObjectTypeDefinition: ({ name, directives: own = [] }) => {
        if (own.length > 0) directives.set(name.value, own.map(print).join(' '));
      },
    });

    for (const { name } of recordKinds) expect(directives.get(name)).toBe('@key(fields: "id")');
    for (const name of Object.keys(foreignTypes)) expect(directives.get(name)).toContain('@key(fields: "id"');
    expect(directives.get('Workspace')).toBe('@key(fields: "id", resolvable: false)');
    expect(directives.get('PageInfo')).toBe('@shareable');
    expect(directives.size).toBe(recordKinds.length + Object.keys(foreignTypes).length + 1);
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
  const service = useService({ FEDERATION: 'on' });
  let records: Awaited<ReturnType<typeof createLinkedRecords>>;

  beforeEach(async () => {
    records = await createLinkedRecords(service, { workOrders: 200 });
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

  test.each([1, 7])('%i companies have their projects here, in at most one statement for each link', async (size) => {
    const representations = Array.from({ length: size }, (_, index) => represent('Company', `company-${index}`));
    const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on Company {
      id projects(where: { name: { contains: "project" } }) { totalCount nodes { name location { city } } } } } }`;
    let companies: unknown[] = [];

    const statements = await service.statements(async () => {
      companies = (await service.data(query, { representations }))._entities;
    });

    expect(statements.length).toBeLessThanOrEqual(2);
    expect(companies).toEqual(
      representations.map(({ id }, index) => ({
        id,
        projects: { totalCount: 1, nodes: [{ name: `project ${index}`, location: { city: `city ${index % 5}` } }] },
      })),
    );
  });

  test('that are kept elsewhere have their own type, even with an ID that a record here may have', async () => {
    const { id } = records.projects[0];

    const { body } = await load(represent('Company', id), represent('Project', id), represent('Company', 'nobody'));

    expect(body.errors).toBeUndefined();
    expect(body.data._entities.map(({ __typename }: { __typename: string }) => __typename)).toEqual([
      'Company',
      'Project',
      'Company',
    ]);
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
    ['a list', [], 'representations[1]: expected an object with __typename and id, received an array'],
    ['no type', { id: 'x' }, `representations[1].__typename: expected ${types}`],
    ['a type that is no text', { __typename: 5, id: 'x' }, `representations[1].__typename: expected ${types}`],
    ['an unknown type', represent('Yard', 'x'), ', received "Yard"'],
    ['a type without an ID', represent('PageInfo', 'x'), ', received "PageInfo"'],
    ['the name of a type of JavaScript', represent('__proto__', 'x'), ', received "__proto__"'],
    ['a type of which only the ID is here', represent('Workspace', 'acme'), ', received "Workspace"'],
    ['no ID', { __typename: 'Project' }, 'representations[1].id: expected text, received nothing'],
    ['an ID that is no text', represent('Project', 5), 'representations[1].id: expected text, received 5'],
    ['an ID that is null', represent('Project', null), 'representations[1].id: expected text, received null'],
    ['an ID that is an object', represent('Project', {}), 'representations[1].id: expected text, received an object'],
    [
      'an ID that no database can compare',
      represent('Company', 'a\u0000'),
      'representations[1].id: expected text without',
    ],
    ['an ID with half a character', represent('Company', '\ud800'), 'representations[1].id: expected text without'],
    ['an ID longer than any text', represent('Company', 'x'.repeat(10_001)), 'representations[1].id: expected'],
    ['a long text', 'x'.repeat(5000), `received "${'x'.repeat(100)}"…`],
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

  const tooMany = 'representations: expected at most 10 representations, received 11';

  test('more representations than a page may have records, in a variable', async () => {
    const query = service.graphql(entities, { representations: Array(11).fill(represent('Project', 'x')) });

    expect((await query).body.errors).toEqual([{ message: tooMany, extensions: { code: 'BAD_USER_INPUT' } }]);
  });

  test('more representations than a page may have records, in the document', async () => {
    const list = '{ __typename: "Project", id: "x" } '.repeat(11);

    const { body } = await service.graphql(`{ _entities(representations: [${list}]) { __typename } }`);

    expect(body.errors[0].message).toBe(tooMany);
    expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });
});

test('an entity of another workspace is null', async () => {
  const service = await startService({ FEDERATION: 'on' }, { closed: true });
  const acme = service.as(await service.key({ workspace: 'acme' }));
  const other = service.as(await service.key({ workspace: 'other' }));
  const [project] = await acme.create('/projects', { name: 'Harbour wall' });
  const variables = { representations: [represent('Project', project.id)] };

  expect((await acme.data(entities, variables))._entities[0].title).toBe('Harbour wall');
  expect((await other.data(entities, variables))._entities).toEqual([null]);
  await service.stop();
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
