/**
 * Subscriptions over server-sent events: graphql-sse's distinct connections, which EventSource reads, too. Each event is executed like a
 * query. There may be many streams, so each holds little: nothing between two events, and one event until its client has read it. Yoga's own
 * events have no IDs, with which browsers say where to go on.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createSourceEventStream, type ExecutionArgs, type ExecutionResult, GraphQLError } from 'graphql';
import { isAsyncIterable, type Plugin, processRegularResult, type YogaServerInstance } from 'graphql-yoga';
import type { Limits } from '../config.ts';
import { badRequest, ResponseTooLarge, ServiceError, unavailable } from '../errors.ts';
import { formatCount } from '../model/issues.ts';
import type { ChangePage } from '../store/log.ts';
import { formatErrors, rootCause } from './errors.ts';
import { createLoaders, type FeedQuery } from './execution/loaders.ts';
import type { Context } from './schema/builder.ts';
import type { SubscriptionContext } from './schema/changes.ts';

export const eventStreamType = 'text/event-stream';

/** The most open streams in this process. Each may be executed for each change of its workspace. */
const maxStreams = 500;

/** The most characters of an event. There may be hundreds of streams, and each holds an event until its client has read it. */
const maxEventLength = 500_000;

/** Milliseconds between two attempts to read from a database that is unavailable. */
const retryDelayMs = 1_000;

/**
 * Milliseconds between keep-alive comments, without which proxies and clients would close the connection. The key is
 * checked as often: including its time in the cache, a revoked key ends a stream within five seconds.
 */
const keepAliveIntervalMs = 3_000;

/** Milliseconds that a client has to read what was sent, if its stream ends before it is complete. */
const closeAfterMs = 1_000;

export interface ServerContext extends Pick<Context, 'session' | 'sessionFor' | 'requestLog'> {
  readonly client: {
    readonly acceptsEvents: boolean;
    readonly lastEventId: string | undefined;
    readonly response: ServerResponse;
    readonly holdText: Context['reserveResponse'];
    cost?: number;
    subscription?: Subscription;
  };
}

interface Subscription {
  /** The texts of the events. */
  readonly events: AsyncIterable<string>;
  /** Aborted when the client leaves, its access ends, all is sent, or the service stops: nothing more is read or sent. */
  readonly end: AbortController;
}

export type YogaContext = Pick<Context, 'limits' | 'parsersOf'>;

type BeginningContext = SubscriptionContext & ServerContext;

export function useSubscriptions(limits: Limits): Plugin<BeginningContext, ServerContext, YogaContext> {
  let yoga: YogaServerInstance<ServerContext, YogaContext>;

  /** Leaves the events to the endpoint: for yoga, there is nothing to send. */
  async function subscribe(args: ExecutionArgs, context: BeginningContext, end: AbortController) {
    const { session, requestLog, stream, client } = context;

    /** Executes the operation for a page. Waits for the database: a skipped page would be lost. */
    const resultOf = (rootValue: ChangePage) =>
      whenAvailable(async () => {
        const { execute, contextFactory } = yoga.getEnveloped({ session, requestLog });
        const result: ExecutionResult = await execute({ ...args, rootValue, contextValue: await contextFactory() });
        const failure = result.errors?.map(rootCause).find(isUnavailable);
        if (failure) throw failure;
        return result;
      }, stream.signal);

    /** Returns the same text as the body of a response to a query. */
    const textOf = async (result: ExecutionResult): Promise<string> =>
      processRegularResult(formatErrors(result, requestLog), yoga.fetchAPI, 'application/json').text();

    /** Yields one event, or where that would be too long, one for each change. Returns whether others may follow. */
    async function* eventsOf(page: ChangePage): AsyncGenerator<string, boolean> {
      const result = await resultOf(page);
      if (!result) return false;
      const data = isTooLarge(result) ? undefined : await textOf(result);
      if (data !== undefined && data.length <= maxEventLength) {
        yield eventText(data, result.data ? page.end : undefined);
        // The content of an event without an ID is unknown: continuing after it would leave a gap.
        return !!result.data;
      }
      if (page.changes.length === 1) throw tooLong(page);
      for (const part of onesOf(page)) if (!(yield* eventsOf(part))) return false;
      return true;
    }

    async function* events(pages: AsyncIterable<ChangePage>): AsyncGenerator<string> {
      try {
        for await (const page of pages) if (!(yield* eventsOf(page))) return;
      } catch (error) {
        yield eventText(await textOf({ errors: [asGraphqlError(error)] }));
      }
    }

    if (!client.acceptsEvents) throw new ServiceError(406, notAccepted);
    // All else that goes wrong in it is in its result.
    const source = await createSourceEventStream(args).catch(() => {
      throw badRequest('a subscription must select a field');
    });
    if (!isAsyncIterable(source)) return source;
    client.subscription = { events: events(source as AsyncIterable<ChangePage>), end };
    return {};
  }

  return {
    onYogaInit: (init) => {
      yoga = init.yoga as never;
    },
    onSubscribe({ args: { contextValue, schema, document }, extendContext, setSubscribeFn }) {
      const { session, client } = contextValue;
      const end = new AbortController();
      const { signal } = end;
      const leave = () => end.abort();
      client.response.once('close', leave);
      if (client.response.closed) leave();
      const readPage = (query: FeedQuery) =>
        whenAvailable(
          () => createLoaders(session.store.withBudget(limits), schema, document).changePage(query),
          signal,
        );
      extendContext({ stream: { lastEventId: client.lastEventId, readPage, signal } });
      setSubscribeFn((args: ExecutionArgs) => subscribe(args, contextValue, end));
    },
  };
}

const notAccepted = `a subscription is sent as server-sent events: expected an Accept header that allows ${eventStreamType}`;

const isUnavailable = (error: unknown): boolean => error instanceof ServiceError && error.status === 503;

const isTooLarge = ({ errors = [] }: ExecutionResult): boolean =>
  errors.some((error) => rootCause(error) instanceof ResponseTooLarge);

/** Returns the changes of the page as pages of their own. */
const onesOf = ({ changes, end, hasMore }: ChangePage): ChangePage[] =>
  changes.map((change, index) => {
    const isLast = index === changes.length - 1;
    return { changes: [change], end: isLast ? end : change.number, hasMore: isLast ? hasMore : true };
  });

/** For a single change. Clients that reconnect would get it again. */
function tooLong({ changes }: ChangePage): ServiceError {
  const most = `an event may have ${formatCount(maxEventLength)} characters, and this one of one change has more`;
  const advice = `select fewer fields, or leave it out, with after: "${changes[0]?.number}"`;
  return new ServiceError(413, `${most}: ${advice}`, [], { reason: 'response too large' });
}

/** Repeats the work while the database is unavailable. Undefined once the signal is aborted, even after an error. */
async function whenAvailable<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      const result = await work();
      if (!signal.aborted) return result;
    } catch (error) {
      if (!signal.aborted && !isUnavailable(error)) throw error;
      await pause(retryDelayMs, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}

const asGraphqlError = (error: unknown): GraphQLError =>
  error instanceof GraphQLError
    ? error
    : new GraphQLError('the subscription has failed', { originalError: error as Error });

const comment = ':\n\n';
const complete = 'event: complete\ndata:\n\n';

/** A browser sends the ID of the last event as `Last-Event-ID` when it reconnects. The data is JSON without line breaks. */
const eventText = (data: string, id?: number): string =>
  `event: next\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;

export const singleEvent = (data: string): string => `${eventText(data)}${complete}`;

/** Sets the headers of an event stream. Proxies such as nginx must not collect events before they send them on. */
export const asEventStream = (reply: FastifyReply): FastifyReply =>
  reply.type(eventStreamType).header('x-accel-buffering', 'no');

/**
 * Returns the function that sends events. If the client leaves, its access ends or the service stops before all are sent, there is no
 * `complete`, and clients reconnect. It throws a ServiceError 503 if too many streams are open.
 */
export function createEventStreams(closing: AbortSignal) {
  const open = new Set<AbortController>();
  closing.addEventListener('abort', () => {
    for (const end of open) end.abort();
  });

  return (request: FastifyRequest, reply: FastifyReply, { events, end }: Subscription): FastifyReply => {
    if (closing.aborted) end.abort();
    if (open.size >= maxStreams) {
      end.abort();
      throw unavailable('too many event streams are open, try again', 'TOO_MANY_EVENT_STREAMS');
    }
    open.add(end);
    const body = new PassThrough();
    // The headers are sent with the first bytes.
    body.write(comment);
    let isComplete = false;
    const timer = setInterval(async () => {
      if (body.writableLength === 0) body.write(comment);
      if (!(await request.isStillAuthenticated())) end.abort();
    }, keepAliveIntervalMs);
    const stop = () => {
      open.delete(end);
      clearInterval(timer);
      body.end();
      // A stopping service does not wait for a client that does not read: it reconnects, and gets what it has not read.
      if (!isComplete && !reply.raw.closed) setTimeout(() => reply.raw.destroy(), closeAfterMs).unref();
    };
    // An abort before now is not reported again.
    if (end.signal.aborted) stop();
    else end.signal.addEventListener('abort', stop);
    const failed = (error: unknown) => request.log.error({ err: error }, 'an event stream has failed');
    writeEvents(events, [body, reply.raw], end)
      .then(() => {
        isComplete = !end.signal.aborted;
      }, failed)
      .finally(() => end.abort());
    return asEventStream(reply).send(body);
  };
}

/** Writes each event when the client has read enough of those before. */
async function writeEvents(
  events: AsyncIterable<string>,
  [body, response]: readonly [PassThrough, ServerResponse],
  end: AbortController,
): Promise<void> {
  for await (const event of events) {
    if (end.signal.aborted) return;
    body.write(event);
    for (const stream of [body, response]) {
      if (stream.writableNeedDrain) await once(stream, 'drain', { signal: end.signal }).catch(() => undefined);
    }
  }
  if (!end.signal.aborted) body.write(complete);
}
