/**
 * A query seen for the second time is executed by graphql-jit (jit.ts), all other operations by graphql-js. A repeated
 * response is cached until the next write to its workspace. Yoga's executor would return fields in the order in which
 * they resolve.
 */
import { createHash } from 'node:crypto';
import {
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Config, Limits } from '../../config.ts';
import { mayBeStoredType, ResponseTooLarge, ServiceError, unavailable } from '../../errors.ts';
import { collectGarbage } from '../../http/server.ts';
import { isTimeout, startWaiting } from '../../store/database.ts';
import { rootCause } from '../errors.ts';
import { type PreparedOperation, withCoercedVariables } from '../limits.ts';
import type { Context } from '../schema/builder.ts';
import type { ServerContext } from '../subscription.ts';
import { compile, type ExecuteOperation } from './jit.ts';
import { Loaders } from './loaders.ts';

/** `stringify` writes the result with the extensions of plugins. */
export interface WrittenResult extends ExecutionResult {
  readonly stringify?: (result: ExecutionResult) => string;
}

/** A page of 1,000 records may hold 100 MB. */
const heavyCost = 10_000;

/** Concurrent heavy queries: without a limit, 24 pages of long labels took 2.7 GB instead of 0.9. */
const maxHeavy = 2;

type ExecutionContext = Context & PreparedOperation & Partial<Pick<ServerContext, 'client'>>;

export function useExecutor(schema: GraphQLSchema, { limits, databaseOptions }: Config): Plugin<ExecutionContext> {
  const executeOperation = createExecutor(limits);
  const heavyTurns = new TurnQueue(databaseOptions, pLimit(maxHeavy));
  // One long response at a time, after the copies of the last are collected: 24 million characters take 250 MB per
  // copy.
  const longTurns = new TurnQueue(databaseOptions, pLimit(1), collectGarbage);
  return {
    onExecute({ args: { contextValue, document }, extendContext, setExecuteFn }) {
      const { session, client, operation } = contextValue;
      // A stream limits its events itself.
      const { reserveResponse = () => {}, cost = 0, response } = client ?? {};
      let isOver = false;
      const hasEnded = () => isOver || !!response?.closed;
      const { workspaceName } = session.store;
      const heavy = new QueuedTurn(heavyTurns, workspaceName, hasEnded);
      const long = new QueuedTurn(longTurns, workspaceName, hasEnded);
      const reserve = (length: number) => {
        if (hasEnded()) throw unavailable('the client has left', 'CLIENT_LEFT');
        reserveResponse(length);
      };
      const store = session.store.withBudget(limits, reserve, long);
      extendContext({ loaders: new Loaders(store, schema, document), reserveResponse });
      const isHeavy = cost > heavyCost && operation.operation === OperationTypeNode.QUERY;
      setExecuteFn((args: ExecutionArgs) =>
        (isHeavy ? heavy.begin() : Promise.resolve())
          .then(() => executeOperation(args))
          .finally(() => {
            isOver = true;
            heavy.end();
            long.end();
          }),
      );
    },
  };
}

/** One turn per workspace at a time. `collect` frees the memory of an ended operation. */
class TurnQueue {
  readonly #connectionTimeout: number;
  readonly #all: LimitFunction;
  readonly #collect: () => void;
  readonly #byWorkspace = new LRUCache<string, LimitFunction>({ max: 10_000, memoMethod: () => pLimit(1) });
  #hasGarbage = true;

  constructor({ connectionTimeout }: Config['databaseOptions'], all: LimitFunction, collect = () => {}) {
    this.#connectionTimeout = connectionTimeout;
    this.#all = all;
    this.#collect = collect;
  }

  get isIdle(): boolean {
    return this.#all.activeCount === 0;
  }

  /** Resolves when the turn begins, which lasts until the promise of `run` settles. */
  wait(workspaceName: string, hasEnded: () => boolean, run: (begin: () => void) => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const isInTime = startWaiting(this.#connectionTimeout, reject);
      const takeTurn = async () => {
        if (!isInTime() || hasEnded()) return reject(unavailable('the client has left', 'CLIENT_LEFT'));
        if (this.#hasGarbage) this.#collect();
        await run(resolve);
        this.#hasGarbage = hasEnded();
      };
      void this.#byWorkspace.memo(workspaceName)(() => this.#all(takeTurn));
    });
  }
}

class QueuedTurn {
  readonly #queue: TurnQueue;
  readonly #workspaceName: string;
  readonly #hasEnded: () => boolean;
  #begun: Promise<void> | undefined;
  #end = () => {};

  constructor(queue: TurnQueue, workspaceName: string, hasEnded: () => boolean) {
    this.#queue = queue;
    this.#workspaceName = workspaceName;
    this.#hasEnded = hasEnded;
  }

  async begin(isNeeded = async () => true): Promise<void> {
    if (this.#begun || this.#queue.isIdle || (await isNeeded())) await this.#take();
  }

  end(): void {
    this.#end();
  }

  #take(): Promise<void> {
    this.#begun ??= this.#queue.wait(this.#workspaceName, this.#hasEnded, async (begin) => {
      await new Promise<void>((resolve) => {
        this.#end = resolve;
        begin();
      });
      this.#begun = undefined;
    });
    return this.#begun;
  }
}

export function createExecutor(limits: Limits) {
  const seen = new WeakMap<OperationDefinitionNode, ExecuteOperation | undefined>();

  function executeFor(args: ExecutionArgs, operation: OperationDefinitionNode): ExecuteOperation {
    const isRepeated = seen.has(operation);
    const compiled = seen.get(operation) ?? (isRepeated ? compile(args, operation, limits, interpret) : undefined);
    seen.set(operation, compiled);
    return compiled ?? interpret;
  }

  async function run(args: ExecutionArgs, operation: OperationDefinitionNode): Promise<ExecutionResult> {
    const result = await executeFor(args, operation)(args);
    return checkResult(result, operation, limits);
  }

  return async (args: ExecutionArgs): Promise<ExecutionResult> => {
    const { operation, variables } = args.contextValue as Context & PreparedOperation;
    const read = { ...args, variableValues: variables };
    const text = args.document.loc?.source.body;
    try {
      if (operation.operation === OperationTypeNode.MUTATION)
        return await runMutation(read, () => run(read, operation));
      if (operation.operation === OperationTypeNode.QUERY && text !== undefined) {
        return await runCachedQuery(read, text, () => run(read, operation));
      }
    } catch (error) {
      return { errors: [errorFor(error as Error)] };
    }
    return run(read, operation);
  };
}

/** A mutation has stored its records, even if they are too long to return. */
function checkResult(result: ExecutionResult, { operation }: OperationDefinitionNode, limits: Limits): ExecutionResult {
  const tooLarge =
    jsonTextLength(result.data) > limits.maxResponseLength
      ? errorFor(new ResponseTooLarge(limits.maxResponseLength))
      : result.errors?.find((error) => rootCause(error) instanceof ResponseTooLarge);
  if (operation !== OperationTypeNode.MUTATION) return tooLarge ? { errors: [tooLarge] } : result;
  if (tooLarge) return { errors: [executedBut(tooLarge, 413)] };
  const isStored = (error: GraphQLError) => (error.path?.length ?? 0) > 1 && statusOf(error) === 503;
  const errors = result.errors?.map((error) => (isStored(error) ? executedBut(error, 503) : error));
  return errors ? { ...result, errors } : result;
}

async function runMutation({ contextValue }: ExecutionArgs, run: () => Promise<ExecutionResult>) {
  const { reserveResponse } = contextValue as Context;
  reserveResponse(1);
  const result = await run();
  reserveResponse(jsonTextLength(result.data));
  return result;
}

/** Errors are not cached: each request runs the query again, except after a timeout. */
async function runCachedQuery(args: ExecutionArgs, text: string, run: () => Promise<ExecutionResult>) {
  const { session, reserveResponse } = args.contextValue as Context;
  // Only `viewer` depends on the user.
  const user = text.includes('viewer') ? [session.userId, session.mayWrite, session.writableKinds] : [];
  const name = cacheNameOf(text, args.operationName, args.variableValues, ...user);
  let failed: ExecutionResult | undefined;
  try {
    const data = await session.store.deriveText(name, async () => {
      const result = await run();
      if (!result.errors) return JSON.stringify(result.data);
      failed = result;
      const timeout = result.errors.map(rootCause).find(isTimeout);
      if (timeout) throw timeout;
      return undefined;
    });
    if (data === undefined) return failed ?? (await run());
    reserveResponse(data.length);
    return withText(data);
  } catch (error) {
    if (failed) return failed;
    throw error;
  }
}

const errorFor = (originalError: Error) => new GraphQLError(originalError.message, { originalError });

const executedBut = ({ path, message }: GraphQLError, status: 413 | 503): GraphQLError =>
  new GraphQLError(message, {
    path,
    originalError: new ServiceError(status, `the mutation was executed, but ${message}`, [], { type: mayBeStoredType }),
  });

const statusOf = (error: unknown): number | undefined => {
  const cause = rootCause(error);
  return cause instanceof ServiceError ? cause.status : undefined;
};

const interpret: ExecuteOperation = (args) => {
  const { operation } = args.contextValue as PreparedOperation;
  return execute({ ...args, document: withCoercedVariables(args.document, operation) });
};

const cacheNameOf = (...query: readonly unknown[]): string =>
  `query ${createHash('sha256').update(JSON.stringify(query)).digest('base64url')}`;

const withText = (data: string): WrittenResult => ({
  data: {},
  stringify: ({ extensions }) => `{"data":${data}${extensions ? `,"extensions":${JSON.stringify(extensions)}` : ''}}`,
});

/**
 * The length of all texts and names in JSON. A text counts for each record that links to it, a control character counts
 * six: 40 million of them, in texts of 10,000 characters, took 1.1 GB.
 */
function jsonTextLength(value: unknown): number {
  if (typeof value === 'string') {
    return value.length > maxShort && escaped.test(value) ? JSON.stringify(value).length : value.length;
  }
  if (typeof value !== 'object' || value === null) return 0;
  let length = 0;
  if (Array.isArray(value)) for (const item of value) length += jsonTextLength(item);
  else {
    for (const name in value) {
      length += name.length + jsonTextLength((value as Readonly<Record<string, unknown>>)[name]);
    }
  }
  return length;
}

/** Shorter texts are not searched for escapes: the cost limits their number. */
const maxShort = 64;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON escapes.
const escaped = /[\u0000-\u001f"\\]/;
