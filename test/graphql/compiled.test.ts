/** Queries that are sent again are compiled: they return exactly what graphql-js returns. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { buildSchema, type GraphQLSchema, getNamedType, isObjectType, isRequiredArgument } from 'graphql';
import * as jit from 'graphql-jit';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createLinkedRecords } from '../support/linked-records.ts';
import { startService, useService } from '../support/service.ts';

// Other test files of this process may have loaded it without the mock.
vi.hoisted(() => vi.resetModules());

vi.mock('graphql-jit', async (original) => {
  const actual = await original<typeof jit>();
  return { ...actual, compileQuery: vi.fn(actual.compileQuery) };
});

const compileQuery = vi.mocked(jit.compileQuery);
const service = useService();

let ids: Record<string, string>;

beforeEach(async () => {
  compileQuery.mockClear();
  const { workOrders, projects, locations } = await createLinkedRecords(service, { workOrders: 12 });
  const [asset] = await service.create('/assets', {
    name: 'Pump "1" \\ \u2028 ÄÖ 😀',
    uid: 'P-1',
    trackUtilization: false,
    acquiredAt: '2026-03-01',
    currentLocationId: locations[0].id,
    statusId: 'in-service',
    externalIds: JSON.parse('{"b":"2","a":"1","10":"x","__proto__":"y"}'),
  });
  await service.create('/locations', { latitude: 0.1 + 0.2, longitude: -179.99999999999997 });
  await service.create('/work-orders', { projectId: 'elsewhere', locationId: projects[0].id.slice(0, -1) });
  ids = { order: workOrders[0].id, project: projects[0].id, location: locations[0].id, asset: asset.id };
});

/** The responses to a request sent four times: the first by graphql-js, the last by the compiled query. */
async function responsesTo(request: object) {
  const responses = [];
  for (let time = 0; time < 4; time += 1) {
    const { status, text } = await service.send('POST', '/graphql', request);
    responses.push(`${status} ${text}`);
  }
  return responses;
}

const everything = `id name uid statusId status { id } assetType { id } currentLocation { id name latitude longitude
  externalIds } trackUtilization manufacturedAt acquiredAt externalIds workspace { id } createdAt updatedAt updatedBy { id }`;

const compiled: readonly [string, string, object?][] = [
  ['every field', `{ assets { nodes { ${everything} } totalCount pageInfo { hasNextPage startCursor } } }`],
  ['numbers to the last digit', '{ locations(last: 1) { nodes { latitude longitude } } }'],
  ['links of links', '{ workOrders { nodes { name project { name location { city } } location { id } } } }'],
  ['links to no record', '{ workOrders(last: 1) { nodes { projectId project { id } location { id } } } }'],
  ['edges', '{ workOrders(first: 3) { edges { cursor node { id project { id } } } pageInfo { endCursor } } }'],
  ['other names', '{ a: workOrders(first: 2) { n: nodes { x: id y: name p: project { q: name } } } }'],
  [
    'fields in an unusual order',
    '{ workOrders(first: 2) { pageInfo { hasNextPage } nodes { location { id } name id } } }',
  ],
  ['the same twice', '{ workOrders(first: 2) { nodes { id project { id } } nodes { name project { name } } } }'],
  [
    'nodes of any kind',
    'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
    { ids: ['order', 'nobody', 'asset', 'order'] },
  ],
  ['one record', 'query ($id: ID!) { workOrder(id: $id) { project { name } } }', { id: 'order' }],
  ['nothing', 'query ($id: ID!) { asset(id: $id) { id } }', { id: 'nobody' }],
  ['variables with defaults', 'query ($first: Int = 2) { workOrders(first: $first) { nodes { id } } }'],
];

const notCompiled: readonly [string, string, object?][] = [
  ['texts', '{ asset(id: "nobody") { id } nodes(ids: ["x"]) { id } }'],
  ['a text as a default', 'query ($id: ID = "nobody") { asset(id: $id) { id } }'],
  ['the names of types', '{ workOrders(first: 1) { nodes { __typename id } } __typename }'],
  ['names with underscores in front', '{ __proto__: workOrders(first: 1) { totalCount } }'],
  [
    'fragments',
    '{ workOrders(first: 2) { nodes { ...a } } } fragment a on WorkOrder { id location { name } project { ...p } } fragment p on Project { name }',
  ],
  [
    'inline fragments',
    'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Asset { uid } } }',
    { ids: ['asset', 'order'] },
  ],
  [
    'conditions, some of them on a fragment that is used without them too',
    `query ($yes: Boolean!, $no: Boolean = false) {
      a: workOrders(first: 1) { nodes { id @skip(if: $yes) ...f @include(if: $no) project @include(if: $yes) { name } } }
      b: workOrders(first: 1) { nodes { ...f } } } fragment f on WorkOrder { name }`,
    { yes: true },
  ],
  [
    'several operations',
    'query one { locations { totalCount } } query two { projects { totalCount } }',
    { operation: 'two' },
  ],
  ['more than a hundred fields', `{ locations(first: 1) { nodes { ${'id '.repeat(100)} } } }`],
];

const refused: readonly [string, string, object?][] = [
  ['an argument out of bounds', '{ workOrders(first: 0) { nodes { id } } locations { totalCount } }'],
  ['an invalid cursor', 'query ($after: String) { workOrders(after: $after) { nodes { id } } }', { after: 'x' }],
  ['a variable that is missing', 'query ($id: ID!) { node(id: $id) { id } }'],
  ['a variable of another type', 'query ($first: Int) { workOrders(first: $first) { nodes { id } } }', { first: 'x' }],
  ['a variable too large', 'query ($first: Int) { workOrders(first: $first) { nodes { id } } }', { first: 2 ** 40 }],
];

const withIds = (variables: object = {}) =>
  JSON.parse(JSON.stringify(variables), (_, value) => (typeof value === 'string' ? (ids[value] ?? value) : value));

const request = (query: string, variables: { operation?: string } = {}) =>
  variables.operation ? { query, operationName: variables.operation } : { query, variables: withIds(variables) };

describe('a query that is sent again returns what it returned at first', () => {
  test.each(compiled)('compiled: %s', async (_, query, variables) => {
    const [first, ...others] = await responsesTo(request(query, variables));

    expect(first).toMatch(/^200 \{"data":/);
    expect(first).not.toContain('"errors"');
    expect(others).toEqual([first, first, first]);
    expect(compileQuery).toHaveBeenCalledTimes(1);
  });

  test.each(notCompiled)('not compiled: %s', async (_, query, variables) => {
    const [first, ...others] = await responsesTo(request(query, variables));

    expect(first).toMatch(/^200 \{"data":/);
    expect(others).toEqual([first, first, first]);
    expect(compileQuery).not.toHaveBeenCalled();
  });

  test.each(refused)('and errors are the same: %s', async (_, query, variables) => {
    const [first, ...others] = await responsesTo(request(query, variables));

    expect(first).toContain('"errors":');
    expect(others).toEqual([first, first, first]);
  });

  test('whatever plain fields it selects', async () => {
    const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));
    await fc.assert(
      fc.asyncProperty(anySelection(schema, schema.getQueryType(), 4), async (selection) => {
        const [first, ...others] = await responsesTo({ query: selection });

        expect(first).not.toContain('"errors"');
        expect(others).toEqual([first, first, first]);
      }),
      { numRuns: 60 },
    );
    expect(compileQuery.mock.calls.length).toBeGreaterThan(30);
  });
});

/** Some fields of a type that need no arguments, some of them under another name, with what is below them. */
function anySelection(schema: GraphQLSchema, type: unknown, levels: number): fc.Arbitrary<string> {
  if (!isObjectType(type)) throw new Error('expected an object type');
  const fields = Object.values(type.getFields()).filter(
    (field) => !field.args.some(isRequiredArgument) && (levels > 1 || !isObjectType(getNamedType(field.type))),
  );
  if (fields.length === 0) return fc.constant('{ id }');
  const field = fc.integer({ min: 0, max: fields.length - 1 }).chain((index) => {
    const { name, type: fieldType } = fields[index] ?? { name: 'id', type: undefined };
    const named = fieldType && getNamedType(fieldType);
    const below = isObjectType(named) ? anySelection(schema, named, levels - 1) : fc.constant('');
    return fc
      .tuple(fc.boolean(), below)
      .map(([isRenamed, selection]) => `${isRenamed ? `x${index}: ` : ''}${name} ${selection}`);
  });
  return fc.array(field, { minLength: 1, maxLength: 4 }).map((selected) => `{ ${[...new Set(selected)].join(' ')} }`);
}

test('no text of a query is run as code', async () => {
  const magic = '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d';
  const query = `{ asset(id: "${magic}0),x:(globalThis.planted='by query'") { id } }`;

  await responsesTo({ query });

  expect(globalThis).not.toHaveProperty('planted');
});

test('an error of a query near the limit of texts stays that error', async () => {
  const small = await startService({ MAX_RESPONSE_LENGTH: '1000' });
  await small.create('/locations', { name: 'x'.repeat(700) });
  const query = '{ locations { nodes { name } } projects(first: 0) { totalCount } }';

  const responses = [];
  for (let time = 0; time < 4; time += 1) responses.push((await small.graphql(query)).text);

  expect(responses[0]).toContain('first: expected a whole number');
  expect(new Set(responses).size).toBe(1);
  await small.stop();
});

test('records stored since are returned', async () => {
  const query = '{ projects(last: 1) { nodes { name } totalCount } }';
  await responsesTo({ query });

  await service.create('/projects', { name: 'new' });

  expect((await service.data(query)).projects).toEqual({ nodes: [{ name: 'new' }], totalCount: 8 });
});

test('mutations and introspection are not compiled', async () => {
  await responsesTo({
    query: 'mutation ($input: [CreateLocationInput!]!) { createLocations(input: $input) { id } }',
    variables: { input: [{ name: 'a' }] },
  });
  await responsesTo({ query: '{ __schema { queryType { name } } }' });

  expect(compileQuery).not.toHaveBeenCalled();
  expect((await service.data('{ locations(last: 4) { nodes { name } } }')).locations.nodes).toEqual(
    Array(4).fill({ name: 'a' }),
  );
});
