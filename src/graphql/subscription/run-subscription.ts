/**
 * Executes subscriptions. Each event is executed like a query, with a context of its own. Subscriptions must hold
 * little between two events, because there may be many of them at a time.
 */
import type { ServerResponse } from 'node:http';
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
import type { ChangePage } from '../../store/log/change-pages.ts';
import { rootCause, toResponse } from '../errors.ts';
import type { Context, FeedQuery, SubscriptionContext } from '../execution/context.ts';
import { createLoaders } from '../execution/loaders.ts';
import { isUnavailable, whenAvailable } from '../execution/when-available.ts';
import { createResponseSize, type ResponseSize } from '../limits/response-size.ts';
import { documentPlan } from '../plan/document-plan.ts';
import type { ServerEvent } from './event-stream.ts';

/** The context that the endpoint makes for a request. */
export interface ServerContext extends Pick<Context, 'session' | 'sessionFor' | 'requestLog'> {
  readonly client: {
    readonly acceptsEvents: boolean;
    readonly lastEventId: string | undefined;
    readonly response: ServerResponse;
    readonly workspaceId: string;
    /** Set when a subscription has begun. */
    subscription?: Subscription;
  };
  /** Set for an event; other responses may be as long as the settings allow. */
  readonly responseSize?: ResponseSize;
}

/** The endpoint's additions to the context of each execution. */
export type YogaContext = Pick<Context, 'responseSize'>;

interface Subscription {
  readonly events: AsyncIterable<ServerEvent>;
  /**
   * Aborted when the client leaves (here), when its access ends or all events are sent (event-stream.ts), and when the
   * service stops (open-streams.ts). Then no further statement is sent, the events end, and the response and all slots
   * are freed.
   */
  readonly end: AbortController;
}

/** The most characters of texts in an event. There may be hundreds of streams, and each holds an event until its client has read it. */
const maxEventLength = 500_000;

type Yoga = YogaServerInstance<ServerContext, YogaContext>;

type BeginningContext = SubscriptionContext & ServerContext;

export function useSubscriptions(limits: Limits): Plugin<BeginningContext, ServerContext, YogaContext> {
  let yoga: Yoga;
  const eventLength = Math.min(maxEventLength, limits.maxResponseLength);

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
        const together = await resultOf(page, args, context);
        // Together too long for an event, changes have one each.
        const isSplit = together !== undefined && isTooLarge(together) && page.changes.length > 1;
        for (const part of isSplit ? onesOf(page) : [page]) {
          const result = isSplit ? await resultOf(part, args, context) : together;
          if (!result) return;
          const data = await textOf(isTooLarge(result) ? withAdvice(result, part) : result, context);
          // The content of an event without data is unknown: continuing after it would leave a gap.
          if (!result.data) return yield { data };
          yield { id: String(part.end), data };
        }
      }
    } catch (error) {
      yield { data: await textOf({ errors: [asGraphqlError(error)] }, context) };
    }
  }

  /** Executes the operation for a page. Waits for the database: a skipped page would be lost. */
  const resultOf = (rootValue: ChangePage, args: ExecutionArgs, { session, requestLog, stream }: BeginningContext) =>
    whenAvailable(async () => {
      const responseSize = createResponseSize(eventLength);
      const { execute, contextFactory } = yoga.getEnveloped({ session, requestLog, responseSize });
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
      // Each page has new loaders, because they may read only a limited amount of text.
      const readPage = (query: FeedQuery) => {
        const reads = store.within({ ...limits, maxResponseLength: eventLength });
        return createLoaders(reads, documentPlan(schema, document)).changePage(query);
      };
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

const isTooLarge = ({ errors }: ExecutionResult): boolean =>
  errors?.some((error) => rootCause(error) instanceof ResponseTooLarge) ?? false;

/** Returns the changes of the page as pages of their own. */
const onesOf = ({ changes, end, hasMore }: ChangePage): ChangePage[] =>
  changes.map((change, index) => {
    const isLast = index === changes.length - 1;
    return { changes: [change], end: isLast ? end : change.number, hasMore: isLast ? hasMore : true };
  });

/** Replaces the error of a single change: clients that reconnect would get the same error again. */
function withAdvice({ errors = [] }: ExecutionResult, { changes }: ChangePage): ExecutionResult {
  const [error] = errors;
  const cursor = changes[0]?.number;
  const message = `${error?.message}; it is one change: select fewer fields, or leave it out, with after: "${cursor}"`;
  return { errors: [asGraphqlError(new ServiceError(413, message, [], { reason: 'response too large' }))] };
}

const asGraphqlError = (error: unknown): GraphQLError =>
  error instanceof GraphQLError
    ? error
    : new GraphQLError('the subscription has failed', { originalError: error as Error });
