/** A query is compiled when it is seen for the second time. query-model.test.ts has what random documents return; these are none of them. */
import { buildSchema, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createExecutor, useExecutor } from '../../src/graphql/execution/execute.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

const { limits } = loadConfig({});

/** Status and text of the responses to the same request: by graphql-js first, then by graphql-jit. */
async function responsesTo(request: object) {
  const send = async () => {
    const { status, text } = await service.send('POST', '/graphql', request);
    return `${status} ${text}`;
  };
  return { expected: await send(), response: await send() };
}

describe('the second response is the same as the first', () => {
  test.each<[string, object]>([
    ['names with underscores in front', { query: '{ __proto__: workOrders(first: 1) { totalCount } }' }],
    [
      'several operations',
      {
        query: 'query one { locations { totalCount } } query two { projects { totalCount } }',
        operationName: 'two',
      },
    ],
  ])('%s', async (_, request) => {
    const { response, expected } = await responsesTo(request);

    expect(expected).toMatch(/^200 \{"data":/);
    expect(response).toBe(expected);
  });

  test.each<[string, string, object?]>([
    ['a variable that is missing', 'query ($id: ID!) { node(id: $id) { id } }'],
    [
      'a variable of another type',
      'query ($first: Int) { workOrders(first: $first) { nodes { id } } }',
      { first: 'x' },
    ],
    [
      'null as the only order',
      'query ($name: OrderDirection) { assets(orderBy: { name: $name }) { totalCount } }',
      { name: null },
    ],
    ['null in a list', 'query ($kind: RecordKind = ASSET) { changes(kinds: [$kind]) { endCursor } }', { kind: null }],
  ])('also with an error: %s', async (_, query, variables) => {
    const { response, expected } = await responsesTo({ query, variables });

    expect(expected).toContain('"errors":');
    expect(response).toBe(expected);
  });
});

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
  const execute = createExecutor(limits);
  const document = parse('mutation { write }');
  const held: number[] = [];
  let writes = 0;
  const write = () => {
    writes += 1;
    return `written ${writes}`;
  };
  const rootValue = { write };
  const responses = (holdText: (length: number) => void) =>
    execute({
      schema,
      document,
      rootValue,
      contextValue: { holdText, operation: document.definitions[0], variables: {} },
    });

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
  const execute = createExecutor(limits);
  const field = schema.getQueryType()?.getFields().it;
  if (field) field.resolve = (_root, _args, _context, { path }) => void paths.push(path);
  const isCompiled = async (text: string) => {
    const document = parse(text, { noLocation: true });
    paths.length = 0;
    for (const _time of [1, 2, 3])
      await execute({ schema, document, contextValue: { operation: document.definitions[0], variables: {} } });
    // Only graphql-js says of which type a field is.
    return paths.map((path) => !('typename' in path));
  };

  expect(await isCompiled('{ it }')).toEqual([false, true, true]);
  expect(await isCompiled('{ it @include(if: true) }')).toEqual([false, false, false]);
});

test.each([
  ['few queries that cost much are', 10_001, 2],
  ['all that cost little are', 10_000, 10],
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
  const { onExecute } = useExecutor(schema, limits);
  const args = {
    schema,
    document,
    contextValue: {
      ...{ session: { store: { within: () => ({}) } }, client: { cost } },
      ...{ operation: document.definitions[0], variables: {} },
    },
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
