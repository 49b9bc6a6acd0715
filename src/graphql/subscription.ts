/**
 * Subscriptions over server-sent events: the distinct connections mode of graphql-sse, which EventSource also reads.
 * Each event executes the operation, like a query. Streams may be many: they hold nothing between events. Yoga's events
 * have no IDs, from which browsers resume.
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
import { type FeedQuery, Loaders } from './execution/loaders.ts';
import type { Context } from './schema/builder.ts';
import type { SubscriptionContext } from './schema/changes.ts';

export const eventStreamType = 'text/event-stream';

/** Open streams of this process: a change executes all streams of its workspace. */
const maxStreams = 500;

/** In characters: hundreds of streams may hold an event until their clients have read it. */
const maxEventLength = 500_000;

const retryDelayMs = 1_000;

/**
 * Between keep-alive comments, without which proxies and clients disconnect. Each also checks the key: with its time in
 * the cache, a revoked key ends a stream within five seconds.
 */
const keepAliveIntervalMs = 2_500;

/** For the last events of a stream that ends early. */
const closeAfterMs = 1_000;

export interface ServerContext extends Pick<Context, 'session' | 'sessionFor' | 'requestLog'> {
  readonly client: {
    readonly acceptsEvents: boolean;
    readonly lastEventId: string | undefined;
    readonly response: ServerResponse;
    readonly reserveResponse: Context['reserveResponse'];
    cost?: number;
    subscription?: Subscription;
  };
}

interface Subscription {
  readonly events: AsyncIterable<string>;
  /** Aborted when the client leaves, its key is revoked, all events are sent, or the service stops. */
  readonly end: AbortController;
}

export type YogaContext = Pick<Context, 'limits' | 'parsersOf'>;

type SubscribeContext = SubscriptionContext & ServerContext;

type Yoga = YogaServerInstance<ServerContext, YogaContext>;

/** The endpoint sends the events, yoga nothing. */
export function useSubscriptions(limits: Limits): Plugin<SubscribeContext, ServerContext, YogaContext> {
  let yoga: Yoga;
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
        whenAvailable(() => new Loaders(session.store.withBudget(limits), schema, document).changePage(query), signal);
      extendContext({ stream: { lastEventId: client.lastEventId, readPage, signal } });
      setSubscribeFn(async (args: ExecutionArgs) => {
        if (!client.acceptsEvents) throw new ServiceError(406, notAccepted);
        const pages = await createSourceEventStream(args).catch(() => {
          throw badRequest('a subscription must select a field');
        });
        if (!isAsyncIterable(pages)) return pages;
        const subscription = new SubscriptionEvents(yoga, args, contextValue);
        client.subscription = { events: subscription.events(pages as AsyncIterable<ChangePage>), end };
        return {};
      });
    },
  };
}

class SubscriptionEvents {
  readonly #yoga: Yoga;
  readonly #args: ExecutionArgs;
  readonly #context: SubscribeContext;

  constructor(yoga: Yoga, args: ExecutionArgs, context: SubscribeContext) {
    this.#yoga = yoga;
    this.#args = args;
    this.#context = context;
  }

  async *events(pages: AsyncIterable<ChangePage>): AsyncGenerator<string> {
    try {
      for await (const page of pages) if (!(yield* this.#eventsOf(page))) return;
    } catch (error) {
      yield eventText(await this.#textOf({ errors: [asGraphqlError(error)] }));
    }
  }

  /** Yields one event, or one per change if that is too long. Returns whether more may follow. */
  async *#eventsOf(page: ChangePage): AsyncGenerator<string, boolean> {
    const result = await this.#execute(page);
    if (!result) return false;
    const data = isTooLarge(result) ? undefined : await this.#textOf(result);
    if (data !== undefined && data.length <= maxEventLength) {
      yield eventText(data, result.data ? page.end : undefined);
      // An event without data and ID ends the stream: to continue would leave a gap.
      return !!result.data;
    }
    if (page.changes.length === 1) throw tooLong(page);
    for (const part of splitPage(page)) if (!(yield* this.#eventsOf(part))) return false;
    return true;
  }

  /** Waits for an unavailable database: no page is skipped. */
  #execute(rootValue: ChangePage): Promise<ExecutionResult | undefined> {
    const { session, requestLog, stream } = this.#context;
    return whenAvailable(async () => {
      const { execute, contextFactory } = this.#yoga.getEnveloped({ session, requestLog });
      const contextValue = await contextFactory();
      const result: ExecutionResult = await execute({ ...this.#args, rootValue, contextValue });
      const failure = result.errors?.map(rootCause).find(isUnavailable);
      if (failure) throw failure;
      return result;
    }, stream.signal);
  }

  async #textOf(result: ExecutionResult): Promise<string> {
    const formatted = formatErrors(result, this.#context.requestLog);
    return processRegularResult(formatted, this.#yoga.fetchAPI, 'application/json').text();
  }
}

const notAccepted = `a subscription is sent as server-sent events: expected an Accept header that allows ${eventStreamType}`;

const isUnavailable = (error: unknown): boolean => error instanceof ServiceError && error.status === 503;

const isTooLarge = ({ errors = [] }: ExecutionResult): boolean =>
  errors.some((error) => rootCause(error) instanceof ResponseTooLarge);

const splitPage = ({ changes, end, hasMore }: ChangePage): ChangePage[] =>
  changes.map((change, index) => {
    const isLast = index === changes.length - 1;
    return { changes: [change], end: isLast ? end : change.number, hasMore: isLast ? hasMore : true };
  });

/** Clients that reconnect would get the change again. */
function tooLong({ changes }: ChangePage): ServiceError {
  const most = `an event may have ${formatCount(maxEventLength)} characters, and this one of one change has more`;
  const advice = `select fewer fields, or leave it out, with after: "${changes[0]?.number}"`;
  return new ServiceError(413, `${most}: ${advice}`, [], { reason: 'response too large' });
}

/** Retries while the database is unavailable. Undefined once the signal is aborted. */
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

/** Browsers that reconnect send the last ID as `Last-Event-ID`. The data has no line breaks. */
const eventText = (data: string, id?: number): string =>
  `event: next\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;

export const singleEvent = (data: string): string => `${eventText(data)}${complete}`;

/** Proxies such as nginx must not buffer events. */
export const asEventStream = (reply: FastifyReply): FastifyReply =>
  reply.type(eventStreamType).header('x-accel-buffering', 'no');

/** A stream that ends early has no `complete` event: its client reconnects. Too many open streams are a 503. */
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
      // A stopping service does not wait for clients that do not read: they resume.
      if (!isComplete && !reply.raw.closed) setTimeout(() => reply.raw.destroy(), closeAfterMs).unref();
    };
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
