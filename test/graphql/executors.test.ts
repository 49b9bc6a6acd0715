/** A query is compiled when it is seen for the second time. query-model.test.ts has what random documents return; these are none of them. */
import { buildSchema, type ExecutionResult, parse } from 'graphql';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { ServiceError } from '../../src/errors.ts';
import { createExecutor, useExecutor } from '../../src/graphql/execution/execute.ts';
import { defaultOptions } from '../../src/store/database-settings.ts';
import type { WorkspaceReads } from '../../src/store/workspace-store.ts';
import { eventually } from '../support/clock.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

const { limits } = loadConfig({});

test.each<[string, string, object?]>([
  ['the name __proto__', '{ __proto__: workOrders(first: 1) { totalCount } }'],
  ['a variable that is missing', 'query ($id: ID!) { node(id: $id) { id } }'],
  ['null for a directive', 'query ($n: Boolean = true) { changeCursor @include(if: $n) }', { n: null }],
  ['a variable of another type', 'query ($n: Int) { workOrders(first: $n) { nodes { id } } }', { n: 'x' }],
  [
    'null as the only order',
    'query ($n: OrderDirection) { assets(orderBy: { name: $n }) { totalCount } }',
    { n: null },
  ],
  ['null in a list', 'query ($n: RecordKind = ASSET) { changes(kinds: [$n]) { endCursor } }', { n: null }],
])('the second response is the same as the first, with %s', async (name, query, variables) => {
  const send = async () => {
    const { status, text } = await service.graphql(query, variables);
    return `${status} ${text}`;
  };
  const first = await send();
  expect(first).toContain(name === 'the name __proto__' ? '{"data":{"__proto__":' : '"errors":');
  expect(await send()).toBe(first);
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
  const responses = (reserveResponse: (length: number) => void) =>
    execute({
      schema,
      document,
      rootValue,
      contextValue: { reserveResponse, operation: document.definitions[0], variables: {} },
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

describe('of the queries that take much', () => {
  const schema = buildSchema('type Query { it: Int }');
  const document = parse('{ it }', { noLocation: true });
  const field = schema.getQueryType()?.getFields().it;
  const dear = 10_001;
  type Reads = Parameters<WorkspaceReads['withBudget']>;
  type Sent = { readonly workspace?: string; readonly cost?: number; readonly response?: { closed: boolean } };

  /** Sends queries that read as `read` says, and records the order in which they begin; those that wait for the gate end when it opens. */
  function start(
    read: (turn: NonNullable<Reads[2]>, hold: NonNullable<Reads[1]>) => Promise<unknown> = async () => {},
  ) {
    const begun: string[] = [];
    let running = 0;
    let most = 0;
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    if (!field) throw new Error('expected a field');
    field.resolve = async (_root, _args, { session, budget }) => {
      const [, hold, turn] = budget as Reads;
      if (turn && hold) await read(turn, hold);
      begun.push(session.store.workspaceName);
      running += 1;
      most = Math.max(most, running);
      await gate;
      running -= 1;
    };
    const { onExecute } = useExecutor(schema, loadConfig({}));
    async function send({ workspace = 'acme', cost = 1, response = { closed: false } }: Sent = {}) {
      let budget: unknown;
      const store = {
        workspaceName: workspace,
        withBudget(...sent: Reads) {
          budget = sent;
          return {};
        },
      };
      const contextValue: object = {
        ...{ session: { store }, client: { cost, response, reserveResponse() {} } },
        ...{ operation: document.definitions[0], variables: {} },
      };
      const args = { schema, document, contextValue };
      let result: unknown;
      const setExecuteFn = (execute: (sent: object) => unknown) => {
        result = execute({ ...args, contextValue: { ...contextValue, budget } });
      };
      void onExecute?.({ args, extendContext() {}, setExecuteFn } as never);
      return result as Promise<ExecutionResult>;
    }
    return { send, begun, open, most: () => most };
  }
  const settled = () => new Promise(setImmediate);
  const executed = { data: { it: null } };

  test.each([
    ['those that cost at most 10,000 are all executed at once', 10_000, 1, 10],
    ['a workspace has one executed at a time', dear, 1, 1],
    ['all workspaces together have two', dear, 5, 2],
  ])('%s', async (_, cost, workspaces, expected) => {
    const { send, open, most } = start();
    const responses = Array.from({ length: 10 }, (_, n) => send({ workspace: `w${n % workspaces}`, cost }));
    await settled();
    open();
    expect(await Promise.all(responses)).toEqual(Array(10).fill(executed));
    expect(most()).toBe(expected);
  });

  test('those whose client has left are not executed when their turn comes, and read no further', async () => {
    const { send, begun, open } = start(async (_turn, hold) => hold(0));
    const gone = { closed: false };
    const responses = [{}, { response: gone }, {}].map((sent) => send({ ...sent, cost: dear }).catch(String));
    await settled();
    gone.closed = true;
    open();

    expect(await Promise.all(responses)).toEqual([executed, expect.stringContaining('the client has left'), executed]);
    expect(begun).toHaveLength(2);
    expect(await send({ response: gone })).toMatchObject({ errors: [{ message: 'the client has left' }] });
  });

  test('those that wait longer than for a connection get 503, and are not executed', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { send, begun, open } = start();
    const first = send({ cost: dear });
    const late = send({ cost: dear }).catch((error) => error);
    await vi.advanceTimersByTimeAsync(defaultOptions.connectionTimeout);

    expect(await late).toEqual(new ServiceError(503, 'the database is not available, try again'));
    open();
    expect(await first).toEqual(executed);
    await vi.advanceTimersByTimeAsync(1);
    expect(begun).toHaveLength(1);
  });

  describe('one at a time reads long texts', () => {
    const isNeeded = async () => true;

    test('until it is executed; of a workspace that has sent many, another waits for one', async () => {
      const { send, begun, open, most } = start((turn) => turn.begin(isNeeded));
      const responses = ['acme', 'acme', 'acme', 'globex'].map((workspace) => send({ workspace }));
      await settled();
      expect(begun).toEqual(['acme']);

      open();
      expect(await Promise.all(responses)).toEqual(Array(4).fill(executed));
      expect([begun.indexOf('globex'), most()]).toEqual([1, 1]);
    });

    test('and goes on after one whose texts were short, which waits again before it reads long ones', async () => {
      let short = 0;
      const { send, open, most } = start(async (turn) => {
        await turn.begin(isNeeded);
        short += 1;
        turn.end();
        await settled();
        await turn.begin(isNeeded);
      });
      const responses = [send(), send(), send()];
      await eventually(() => expect(short).toBe(3));
      await settled();
      open();

      expect(await Promise.all(responses)).toEqual([executed, executed, executed]);
      expect(most()).toBe(1);
    });
  });
});
