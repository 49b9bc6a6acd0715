/** A query is compiled when it is seen for the second time: its data is exactly what graphql-js returns. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  isRequiredArgument,
  parse,
} from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createExecutor, useExecutor } from '../../src/graphql/execution/execute.ts';
import { byEffort } from '../support/effort.ts';
import { createLinkedRecords } from '../support/linked-records.ts';
import { useSharedService } from '../support/service.ts';

/** The selections made up below are of any size. */
const service = useSharedService({
  MAX_QUERY_COST: '1000000000',
  MAX_QUERY_ALIASES: '10000',
  MAX_QUERY_DIRECTIVES: '10000',
  MAX_QUERY_TOKENS: '100000',
  MAX_QUERY_LENGTH: '1000000',
});

let ids: Record<string, string>;

beforeAll(async () => {
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
  await service.create('/locations', { latitude: 0.1 + 0.2, longitude: -179.99999999999997, city: 'a\tb\u0001\u007f' });
  await service.create('/locations', { latitude: 5e-324, longitude: 1e-7 });
  await service.create('/work-orders', { projectId: 'elsewhere', locationId: projects[0].id.slice(0, -1) });
  ids = { order: workOrders[0].id, project: projects[0].id, location: locations[0].id, asset: asset.id };
});

/** Status and text of the responses to the same request: by graphql-js first, then by graphql-jit. */
async function responsesTo(request: object) {
  const send = async () => {
    const { status, text } = await service.send('POST', '/graphql', request);
    return `${status} ${text}`;
  };
  return { expected: await send(), response: await send() };
}

const everything = `id name uid statusId status { id } assetType { id } currentLocation { id name latitude longitude
  externalIds } trackUtilization manufacturedAt acquiredAt externalIds workspace { id } createdAt updatedAt updatedBy { id }`;

const queries: readonly [string, string, object?][] = [
  ['every field', `{ assets { nodes { ${everything} } totalCount pageInfo { hasNextPage startCursor } } }`],
  ['numbers to the last digit', '{ locations(last: 1) { nodes { latitude longitude } } }'],
  ['links to no record', '{ workOrders(last: 1) { nodes { projectId project { id } location { id } } } }'],
  ['a text as a default', 'query ($id: ID = "nobody") { asset(id: $id) { id } }'],
  ['names with underscores in front', '{ __proto__: workOrders(first: 1) { totalCount } }'],
  [
    'fragments',
    '{ workOrders(first: 2) { nodes { ...a } } } fragment a on WorkOrder { id location { name } project { ...p } } fragment p on Project { name }',
  ],
  [
    'several operations',
    'query one { locations { totalCount } } query two { projects { totalCount } }',
    { operation: 'two' },
  ],
  [
    'an operator that is not sent',
    'query ($name: String) { workOrders(where: { name: { eq: $name } }) { totalCount } }',
  ],
  [
    'a filter that is not sent',
    'query ($at: LocationFilter) { workOrders(where: { and: [{ location: $at }] }) { totalCount } }',
  ],
];

const refused: readonly [string, string, object?][] = [
  ['an argument out of bounds', '{ workOrders(first: -1) { nodes { id } } locations { totalCount } }'],
  ['a variable that is missing', 'query ($id: ID!) { node(id: $id) { id } }'],
  ['a variable of another type', 'query ($first: Int) { workOrders(first: $first) { nodes { id } } }', { first: 'x' }],
  [
    'null as the only order',
    'query ($name: OrderDirection) { assets(orderBy: { name: $name }) { totalCount } }',
    { name: null },
  ],
  ['null in a list', 'query ($kind: RecordKind = ASSET) { changes(kinds: [$kind]) { endCursor } }', { kind: null }],
];

const withIds = (variables: object = {}) =>
  JSON.parse(JSON.stringify(variables), (_, value) => (typeof value === 'string' ? (ids[value] ?? value) : value));

const request = (query: string, variables: { operation?: string } = {}) =>
  variables.operation ? { query, operationName: variables.operation } : { query, variables: withIds(variables) };

describe('the second response is the same as the first', () => {
  test.each(queries)('%s', async (_, query, variables) => {
    const { response, expected } = await responsesTo(request(query, variables));

    expect(expected).toMatch(/^200 \{"data":/);
    expect(response).toBe(expected);
  });

  test.each(refused)('also with an error: %s', async (_, query, variables) => {
    const { response, expected } = await responsesTo(request(query, variables));

    expect(expected).toContain('"errors":');
    expect(response).toBe(expected);
  });

  test('whatever it selects', async () => {
    const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(anySelection(schema, schema.getQueryType(), 4), async (selection) => {
        // Numbered, because the second of two equal queries would be cached.
        runs += 1;
        const ofIds = 'nodes(ids: $ids) { id }';
        const query = `query ($ids: [ID!]!) { own: ${ofIds} ${selection.slice(1)} # ${runs}`;
        const variables = { ids: [...Object.values(ids), 'nobody'] };
        const { response, expected } = await responsesTo({ query, variables });

        expect(response).not.toContain('"errors"');
        expect(response).toBe(expected);
      }),
      { numRuns: byEffort({ small: 30, long: 4_000 }) },
    );
  }, 600_000);
});

/** Some fields of a type, with arguments if they need them, under other names and in fragments. */
function anySelection(schema: GraphQLSchema, type: unknown, levels: number): fc.Arbitrary<string> {
  if (!isObjectType(type)) throw new Error('expected an object type');
  const fields = Object.values(type.getFields()).filter(
    (field) => argumentsFor(field) !== undefined && (levels > 1 || !isComposite(field)),
  );
  if (fields.length === 0) return fc.constant('{ id }');
  const selected = fc.constantFrom(...fields).chain((field) => {
    const { name } = field;
    const below = isComposite(field) ? anySelection(schema, objectOf(schema, field), levels - 1) : fc.constant('');
    return fc.tuple(fc.boolean(), below, fc.constantFrom(...wrappers(type))).map(([isRenamed, selection, wrap]) => {
      const call = `${isRenamed ? `x_${name}: ` : ''}${name}${argumentsFor(field)}`;
      return wrap(
        `${call} ${isComposite(field) && getNamedType(field.type).name === 'Node' ? `{ id ... on ${objectOf(schema, field).name} ${selection} }` : selection}`,
      );
    });
  });
  return fc.array(selected, { minLength: 1, maxLength: 4 }).map((all) => `{ ${[...new Set(all)].join(' ')} }`);
}

const isComposite = ({ type }: GraphQLField<unknown, unknown>): boolean => 'getFields' in getNamedType(type);

/** Of a node, whose kind is open, an asset. */
function objectOf(schema: GraphQLSchema, { type }: GraphQLField<unknown, unknown>): GraphQLObjectType {
  const named = getNamedType(type);
  return (isObjectType(named) ? named : schema.getType('Asset')) as GraphQLObjectType;
}

const wrappers = (type: GraphQLObjectType): ((field: string) => string)[] => [
  (field) => field,
  (field) => field,
  (field) => field,
  (field) => `... on ${type.name} { ${field} __typename }`,
  (field) => `... { ${field} }`,
  (field) => (type.getInterfaces().length > 0 ? `... on Node { id } ${field}` : field),
];

/** The arguments that a field requires; undefined if it requires others. */
function argumentsFor(field: GraphQLField<unknown, unknown>): string | undefined {
  const required = field.args.filter(isRequiredArgument).map(({ name }) => name);
  if (required.length === 0) return '';
  if (required.join() === 'ids') return '(ids: $ids)';
  return required.join() === 'id' ? `(id: "company-1")` : undefined;
}

test('fields of a list that are refused beside others that are still being read end neither the response nor the process', async () => {
  await service.create('/projects', { name: 'with a status', statusId: 'status-1' }, { name: 'without one' });
  const query = `{ projects(where: { name: { startsWith: "with" } }, orderBy: [{ name: ASC }]) { nodes {
    status { name } workOrders(before: "x") { totalCount } history(first: 0) { endCursor }
  } } }`;
  const { response, expected } = await responsesTo({ query });

  // A rejection that nobody handles would fail the run.
  expect([response, expected]).toEqual(Array(2).fill(expect.stringMatching(/^200 \{"errors":.*"data":null\}$/)));
});

test('a variable inside external IDs that are a literal is read each time', async () => {
  const query =
    'mutation ($erp: String!) { createLocations(input: [{ externalIds: { erp: $erp, __proto__: "x" } }]) { externalIds } }';

  for (const erp of ['1', '2', '3']) {
    expect((await service.graphql(query, { erp })).text).toContain(`{"externalIds":{"erp":"${erp}","__proto__":"x"}}`);
  }
});

test('a field of a patch whose variable is not sent stays as it is each time', async () => {
  const update =
    'mutation ($id: ID!, $uid: String, $statusId: ID) { updateAssets(input: [{ id: $id, uid: $uid, statusId: $statusId }]) { uid } }';
  const [{ id }] = await service.create('/assets', { name: 'Crane', uid: 'C-1' });

  for (const statusId of ['1', '2', '3']) {
    expect((await service.data(update, { id, statusId })).updateAssets).toEqual([{ uid: 'C-1' }]);
  }
});

test('a mutation counts as an unsent response, and is not executed while there are too many', async () => {
  const schema = buildSchema('type Query { it: Int } type Mutation { write: String }');
  const execute = createExecutor(schema, loadConfig({}));
  const document = parse('mutation { write }');
  const held: number[] = [];
  let writes = 0;
  const write = () => {
    writes += 1;
    return `written ${writes}`;
  };
  const rootValue = { write };
  const responses = (holdText: (length: number) => void) =>
    execute({ schema, document, rootValue, contextValue: { holdText } });

  await responses((length) => held.push(length));
  expect([writes, held]).toEqual([1, [1, 'write'.length + 'written 1'.length]]);

  const { errors } = await responses(() => {
    throw new Error('too many long responses');
  });
  expect([writes, errors?.[0]?.message]).toEqual([1, 'too many long responses']);
});

test('a document is compiled the second time, unless it has directives', async () => {
  const paths: object[] = [];
  const schema = buildSchema('type Query { it: Int }');
  const execute = createExecutor(schema, loadConfig({}));
  const field = schema.getQueryType()?.getFields().it;
  if (field) field.resolve = (_root, _args, _context, { path }) => void paths.push(path);
  const isCompiled = async (text: string) => {
    const document = parse(text, { noLocation: true });
    paths.length = 0;
    for (const _time of [1, 2, 3]) await execute({ schema, document });
    // Only graphql-js says of which type a field is.
    return paths.map((path) => !('typename' in path));
  };

  expect(await isCompiled('{ it }')).toEqual([false, true, true]);
  expect(await isCompiled('{ it @include(if: true) }')).toEqual([false, false, false]);
});

test.each([
  ['few queries that cost much are', 60_000, 3],
  ['all that cost little are', 50_000, 10],
])('%s executed at a time', async (_what, cost, expected) => {
  const schema = buildSchema('type Query { it: Int }');
  const document = parse('{ it }', { noLocation: true });
  let [running, most] = [0, 0];
  const field = schema.getQueryType()?.getFields().it;
  if (!field) throw new Error('expected a field');
  field.resolve = async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
  };
  const { onExecute } = useExecutor(schema, loadConfig({}));
  const args = {
    schema,
    document,
    contextValue: { session: { store: { within: () => ({}) } }, client: { cost } },
  };
  const responses = Array.from({ length: 10 }, () => {
    let response: unknown;
    const setExecuteFn = (execute: (sent: object) => unknown) => {
      response = execute(args);
    };
    void onExecute?.({ args, extendContext() {}, setExecuteFn } as never);
    return response;
  });

  expect(await Promise.all(responses)).toEqual(Array(10).fill({ data: { it: null } }));
  expect(most).toBe(expected);
});
