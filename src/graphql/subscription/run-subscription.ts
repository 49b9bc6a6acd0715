/** Each event is executed like a query. Subscriptions hold little between two events: there may be many of them. */
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { getFragmentsFromDocument } from '@graphql-tools/executor';
import { collectFields } from '@graphql-tools/utils';
import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  getOperationAST,
} from 'graphql';
import { isAsyncIterable, type Plugin, processRegularResult, type YogaServerInstance } from 'graphql-yoga';
import type { Limits } from '../../config.ts';
import { badRequest, ResponseTooLarge, ServiceError, unavailable } from '../../errors.ts';
import { count } from '../../model/issues.ts';
import type { ChangePage } from '../../store/log/read-changes.ts';
import { rootCause, toResponse } from '../errors.ts';
import type { Context, FeedQuery, SubscriptionContext } from '../execution/context.ts';
import { createLoaders } from '../execution/loaders.ts';
import { documentPlan } from '../limits/limits.ts';
import type { ServerEvent, Subscription } from './event-stream.ts';

export interface ServerContext extends Pick<Context, 'session' | 'sessionFor' | 'requestLog'> {
  readonly client: {
    readonly acceptsEvents: boolean;
    readonly lastEventId: string | undefined;
    readonly response: ServerResponse;
    cost?: number;
    subscription?: Subscription;
  };
}

/** The most characters of an event. There may be hundreds of streams, and each holds an event until its client has read it. */
const maxEventLength = 500_000;

/** Milliseconds between two attempts to read from a database that is unavailable. */
const retryDelay = 1_000;

export type YogaContext = Pick<Context, 'limits' | 'parsers'>;

type Yoga = YogaServerInstance<ServerContext, YogaContext>;

type BeginningContext = SubscriptionContext & ServerContext;

export function useSubscriptions(limits: Limits): Plugin<BeginningContext, ServerContext, YogaContext> {
  let yoga: Yoga;

  /** Leaves the events to the endpoint: for yoga, there is nothing to send. */
  async function begin(args: ExecutionArgs, context: BeginningContext, end: AbortController): Promise<ExecutionResult> {
    if (!context.client.acceptsEvents) throw notAccepted();
    requireField(args);
    const source = await createSourceEventStream(args);
    if (!isAsyncIterable(source)) return source;
    context.client.subscription = { events: eventsOf(source as AsyncIterable<ChangePage>, args, context), end };
    return {};
  }

  async function* eventsOf(
    source: AsyncIterable<ChangePage>,
    args: ExecutionArgs,
    context: BeginningContext,
  ): AsyncGenerator<ServerEvent> {
    try {
      for await (const page of source) {
        let event = await eventOf(page, args, context);
        // Together too long for an event, changes have one each.
        const isSplit = event?.isTooLong && page.changes.length > 1;
        for (const part of isSplit ? onesOf(page) : [page]) {
          if (isSplit) event = await eventOf(part, args, context);
          if (!event) return;
          // The content of an event without data is unknown: continuing after it would leave a gap.
          if (event.isTooLong) return yield { data: await textOf(tooLong(part), context) };
          if (!event.hasData) return yield { data: event.data };
          yield { id: String(part.end), data: event.data };
        }
      }
    } catch (error) {
      yield { data: await textOf({ errors: [asGraphqlError(error)] }, context) };
    }
  }

  async function eventOf(page: ChangePage, args: ExecutionArgs, context: BeginningContext) {
    const result = await resultOf(page, args, context);
    if (!result) return undefined;
    if (result.errors?.some((error) => rootCause(error) instanceof ResponseTooLarge))
      return { isTooLong: true as const };
    const data = await textOf(result, context);
    return data.length > maxEventLength
      ? { isTooLong: true as const }
      : { isTooLong: false as const, hasData: Boolean(result.data), data };
  }

  /** Executes the operation for a page. Waits for the database: a skipped page would be lost. */
  const resultOf = (rootValue: ChangePage, args: ExecutionArgs, { session, requestLog, stream }: BeginningContext) =>
    whenAvailable(async () => {
      const { execute, contextFactory } = yoga.getEnveloped({ session, requestLog });
      const result: ExecutionResult = await execute({ ...args, rootValue, contextValue: await contextFactory() });
      const failure = result.errors?.map(rootCause).find(isUnavailable);
      if (failure) throw failure;
      return result;
    }, stream.signal);

  /** Returns the same text as the body of a response to a query. */
  const textOf = async (result: ExecutionResult, { requestLog }: BeginningContext): Promise<string> =>
    processRegularResult(toResponse(result, requestLog), yoga.fetchAPI, 'application/json').text();

  return {
    onYogaInit: (init) => {
      yoga = init.yoga as never;
    },
    onSubscribe({ args: { contextValue, schema, document }, extendContext, setSubscribeFn }) {
      const { session, client } = contextValue;
      const end = new AbortController();
      const { signal } = end;
      // Work that has not begun yet fails with this reason, which is no error of the service.
      const leave = () => end.abort(unavailable('the client has left', 'CLIENT_LEFT'));
      client.response.once('close', leave);
      if (client.response.closed) leave();
      const store = session.store.until(signal);
      const { storedFields } = documentPlan(schema, document, limits);
      const readPage = (query: FeedQuery) =>
        whenAvailable(() => createLoaders(store.within(limits), storedFields).changePage(query), signal);
      extendContext({
        session: { ...session, store },
        stream: { lastEventId: client.lastEventId, readPage, signal },
      });
      setSubscribeFn((args: ExecutionArgs) => begin(args, contextValue, end));
    },
  };
}

const notAccepted = () =>
  new ServiceError(
    406,
    'a subscription is sent as server-sent events: expected an Accept header that allows text/event-stream',
  );

/** Rejects a subscription without a field, for which graphql-js would fail. Validation rejects directives with variables here. */
function requireField({ schema, document, operationName }: ExecutionArgs): void {
  const operation = getOperationAST(document, operationName);
  const root = schema.getSubscriptionType();
  if (!operation || !root) return;
  const fragments = getFragmentsFromDocument(document);
  const { fields } = collectFields(schema, fragments, { coerced: {}, sources: {} }, root, operation.selectionSet);
  if (fields.size === 0) {
    throw badRequest('a subscription must select a field');
  }
}

const isUnavailable = (error: unknown): boolean => error instanceof ServiceError && error.status === 503;

/** Returns the changes of the page as pages of their own. */
const onesOf = ({ changes, end, hasMore }: ChangePage): ChangePage[] =>
  changes.map((change, index) => {
    const isLast = index === changes.length - 1;
    return { changes: [change], end: isLast ? end : change.number, hasMore: isLast ? hasMore : true };
  });

/** The result for a single change that is too long: clients that reconnect would get it again. */
function tooLong({ changes }: ChangePage): ExecutionResult {
  const most = `an event may have ${count(maxEventLength)} characters, and this one of one change has more`;
  const message = `${most}: select fewer fields, or leave it out, with after: "${changes[0]?.number}"`;
  return { errors: [asGraphqlError(new ServiceError(413, message, [], { reason: 'response too large' }))] };
}

/** Repeats the work while the database is unavailable. Undefined once the signal is aborted, even after an error. */
async function whenAvailable<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      const result = await work();
      if (!signal.aborted) return result;
    } catch (error) {
      if (!signal.aborted && !isUnavailable(error)) throw error;
      await pause(retryDelay, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}

const asGraphqlError = (error: unknown): GraphQLError =>
  error instanceof GraphQLError
    ? error
    : new GraphQLError('the subscription has failed', { originalError: error as Error });
