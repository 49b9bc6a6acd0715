/**
 * Executes operations: a query that is seen for the second time by graphql-jit (jit.ts), any other operation by graphql-js. The text of a
 * query that is sent again with the same variables is cached until the next write to its workspace, for all who ask, or for each if it asks
 * for `viewer`. Yoga's own executor would return fields in the order in which they resolve.
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
import { type Prepared, withReadVariables } from '../limits.ts';
import type { Context } from '../schema/builder.ts';
import type { ServerContext } from '../subscription.ts';
import { compile, type ExecuteOperation } from './jit.ts';
import { createLoaders } from './loaders.ts';

/** A result that is turned into text with its own `stringify`, if it has one, whatever plugins have added to it. */
export interface WrittenResult extends ExecutionResult {
  readonly stringify?: (result: ExecutionResult) => string;
}

/**
 * The cost from which a query is heavy, such as a page of a thousand records, and how many of these run at a time, of different workspaces: each
 * may hold 100 MB while it waits for what it reads. All at once, 24 pages of 10,000 long labels took 2.7 GB instead of 0.9.
 */
const [heavyCost, maxHeavy] = [10_000, 2];

type Executed = Context & Prepared & Partial<Pick<ServerContext, 'client'>>;

export function useExecutor(schema: GraphQLSchema, { limits, databaseOptions }: Config): Plugin<Executed> {
  const executeOperation = createExecutor(limits);
  const heavyTurns = createTurns(databaseOptions, pLimit(maxHeavy));
  // One at a time, and without the copies of the one before: of 24 million characters, each takes 250 MB.
  const longTurns = createTurns(databaseOptions, pLimit(1), collectGarbage);
  return {
    onExecute({ args: { contextValue, document }, extendContext, setExecuteFn }) {
      const { session, client, operation } = contextValue;
      // An event of a subscription is held by its stream, which has a limit of its own.
      const { holdText = () => {}, cost = 0, response } = client ?? {};
      let isOver = false;
      const hasEnded = () => isOver || !!response?.closed;
      const heavy = heavyTurns(session.store.workspaceName, hasEnded);
      const long = longTurns(session.store.workspaceName, hasEnded);
      const hold = (length: number) => {
        if (hasEnded()) throw unavailable('the client has left', 'CLIENT_LEFT');
        holdText(length);
      };
      const store = session.store.withBudget(limits, hold, long);
      extendContext({ loaders: createLoaders(store, schema, document), reserveResponse: holdText });
      setExecuteFn((args: ExecutionArgs) =>
        (cost > heavyCost && operation.operation === OperationTypeNode.QUERY ? heavy.begin() : Promise.resolve())
          .then(() => executeOperation(args))
          .finally(() => {
            isOver = true;
            for (const turn of [heavy, long]) turn.end();
          }),
      );
    },
  };
}

/** A workspace has one turn at a time. `collect` is called before a turn if the one before ended with its operation. */
function createTurns({ connectionTimeout }: Config['databaseOptions'], all: LimitFunction, collect = () => {}) {
  const limits = new LRUCache<string, LimitFunction>({ max: 10_000, memoMethod: () => pLimit(1) });
  let hasGarbage = true;
  return (workspaceName: string, hasEnded: () => boolean) => {
    let begun: Promise<void> | undefined;
    let end = () => {};
    const wait = (resolve: () => void, reject: (reason: unknown) => void) => {
      const isInTime = startWaiting(connectionTimeout, reject);
      const run = async () => {
        if (!isInTime() || hasEnded()) return reject(unavailable('the client has left', 'CLIENT_LEFT'));
        if (hasGarbage) collect();
        await new Promise<void>((over) => {
          end = over;
          resolve();
        });
        begun = undefined;
        hasGarbage = hasEnded();
      };
      void limits.memo(workspaceName)(() => all(run));
    };
    const take = () => (begun ??= new Promise(wait));
    return {
      begin: async (isNeeded = async () => true) =>
        begun || all.activeCount === 0 || (await isNeeded()) ? take() : undefined,
      end: () => end(),
    };
  };
}

export function createExecutor(limits: Limits) {
  /** How the operations run that have been seen; undefined for those seen once. */
  const runs = new WeakMap<OperationDefinitionNode, ExecuteOperation | undefined>();

  function runFor(args: ExecutionArgs, operation: OperationDefinitionNode): ExecuteOperation {
    const run = runs.get(operation) ?? (runs.has(operation) ? compile(args, operation, limits, interpret) : undefined);
    runs.set(operation, run);
    return run ?? interpret;
  }

  async function run(args: ExecutionArgs, operation: OperationDefinitionNode): Promise<ExecutionResult> {
    const result = await runFor(args, operation)(args);
    const tooLarge =
      jsonTextLength(result.data) > limits.maxResponseLength
        ? errorFor(new ResponseTooLarge(limits.maxResponseLength))
        : result.errors?.find((error) => rootCause(error) instanceof ResponseTooLarge);
    if (operation.operation !== OperationTypeNode.MUTATION) return tooLarge ? { errors: [tooLarge] } : result;
    if (tooLarge) return { errors: [executedBut(tooLarge, 413)] };
    // What the mutation has returned could not be read on, but it is stored.
    const isStored = (error: GraphQLError) => (error.path?.length ?? 0) > 1 && statusOf(error) === 503;
    const errors = result.errors?.map((error) => (isStored(error) ? executedBut(error, 503) : error));
    return errors ? { ...result, errors } : result;
  }

  return async (args: ExecutionArgs): Promise<ExecutionResult> => {
    const { session, reserveResponse, operation, variables } = args.contextValue as Context & Prepared;
    const read = { ...args, variableValues: variables };
    const text = args.document.loc?.source.body;
    const isMutation = operation.operation === OperationTypeNode.MUTATION;
    if (!isMutation && (operation.operation !== OperationTypeNode.QUERY || text === undefined))
      return run(read, operation);
    let failed: ExecutionResult | undefined;
    try {
      if (isMutation) {
        // Refused before anything is stored; what is selected of the stored records counts like what a query reads.
        reserveResponse(1);
        const result = await run(read, operation);
        reserveResponse(jsonTextLength(result.data));
        return result;
      }
      // All else is the same for everybody in the workspace.
      const who = text?.includes('viewer') ? [session.userId, session.mayWrite] : [];
      const data = await session.store.deriveText(
        cacheNameOf(text, args.operationName, variables, ...who),
        async () => {
          const result = await run(read, operation);
          if (!result.errors) return JSON.stringify(result.data);
          failed = result;
          const timeout = result.errors.map(rootCause).find(isTimeout);
          if (timeout) throw timeout;
          return undefined;
        },
      );
      // Errors are not cached: where others have had one, each tries for itself, unless it was a timeout.
      if (data === undefined) return failed ?? (await run(read, operation));
      reserveResponse(data.length);
      return withText(data);
    } catch (error) {
      return failed ?? { errors: [errorFor(error as Error)] };
    }
  };
}

const errorFor = (originalError: Error) => new GraphQLError(originalError.message, { originalError });

/** Replaces a mutation's response that is too large: the records are stored nevertheless. */
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
  const { operation } = args.contextValue as Prepared;
  return execute({ ...args, document: withReadVariables(args.document, operation) });
};

const cacheNameOf = (...query: readonly unknown[]): string =>
  `query ${createHash('sha256').update(JSON.stringify(query)).digest('base64url')}`;

const withText = (data: string): WrittenResult => ({
  data: {},
  stringify: ({ extensions }) => `{"data":${data}${extensions ? `,"extensions":${JSON.stringify(extensions)}` : ''}}`,
});

/**
 * Returns the characters of all texts and names, as JSON has them: a thousand records can link to the same long text, and each has it in the
 * response. Control characters take six each: 40 million of them, which are few texts of 10,000, took 1.1 GB.
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

/** Characters of texts such as IDs, of which even a response full of escapes is bounded by what an operation may cost. */
const maxShort = 64;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON escapes.
const escaped = /[\u0000-\u001f"\\]/;
