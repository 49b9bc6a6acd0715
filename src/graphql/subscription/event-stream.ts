/** graphql-sse's distinct connections, which EventSource reads, too. Holds one event: the next is made when the client has read it. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { unavailable } from '../../errors.ts';

export interface ServerEvent {
  /** The ID that a browser sends as `Last-Event-ID` when it reconnects. */
  readonly id?: string;
  /** JSON without line breaks. */
  readonly data: string;
}

export const eventStreamType = 'text/event-stream';

/**
 * Milliseconds between keep-alive comments, without which proxies and clients would close the connection. The key is
 * checked as often: including its time in the cache, a revoked key ends a stream within five seconds.
 */
const interval = 3_000;

/** Milliseconds that a client has to read what was sent, if its stream ends before it is complete. */
const closeAfter = 1_000;

/** The most open streams in this process. Each may be executed for each change of its workspace. */
const maxStreams = 500;

const comment = ':\n\n';
const complete = 'event: complete\ndata:\n\n';

const textOf = ({ id, data }: ServerEvent): string =>
  `event: next\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;

export const singleEvent = (data: string): string => `${textOf({ data })}${complete}`;

/** Sets the headers of an event stream. Proxies such as nginx must not collect events before they send them on. */
export const asEventStream = (reply: FastifyReply): FastifyReply =>
  reply.type(eventStreamType).header('x-accel-buffering', 'no');

export interface Subscription {
  readonly events: AsyncIterable<ServerEvent>;
  /** Aborted when the client leaves, its access ends, all is sent, or the service stops: nothing more is read or sent. */
  readonly end: AbortController;
}

export function createEventStreams(closing: AbortSignal) {
  const open = new Set<AbortController>();
  closing.addEventListener('abort', () => {
    for (const end of open) end.abort();
  });

  /** Throws a ServiceError 503 if too many streams are open. */
  return (request: FastifyRequest, reply: FastifyReply, subscription: Subscription): FastifyReply => {
    const { end } = subscription;
    if (closing.aborted) end.abort();
    if (open.size >= maxStreams) {
      end.abort();
      throw unavailable('too many event streams are open, try again', 'TOO_MANY_EVENT_STREAMS');
    }
    if (!end.signal.aborted) {
      open.add(end);
      end.signal.addEventListener('abort', () => void open.delete(end));
    }
    return sendEvents(request, reply, subscription);
  };
}

/** If the client leaves, its access ends or the service stops first, there is no `complete`, and clients reconnect. */
function sendEvents(request: FastifyRequest, reply: FastifyReply, { events, end }: Subscription): FastifyReply {
  const body = new PassThrough();
  // The headers are sent with the first bytes.
  body.write(comment);
  let isComplete = false;
  const timer = setInterval(async () => {
    if (body.writableLength === 0) body.write(comment);
    if (!(await request.hasAccess())) end.abort();
  }, interval);
  const stop = () => {
    clearInterval(timer);
    body.end();
    // A stopping service does not wait for a client that does not read: it reconnects, and gets what it has not read.
    if (!isComplete && !reply.raw.closed) setTimeout(() => reply.raw.destroy(), closeAfter).unref();
  };
  // An abort before now is not reported again.
  if (end.signal.aborted) stop();
  else end.signal.addEventListener('abort', stop);
  write(events, [body, reply.raw], end).then(
    () => {
      isComplete = !end.signal.aborted;
      end.abort();
    },
    (error: unknown) => {
      request.log.error({ err: error }, 'an event stream has failed');
      end.abort();
    },
  );
  return asEventStream(reply).send(body);
}

/** Writes each event when the client has read enough of those before. */
async function write(
  events: AsyncIterable<ServerEvent>,
  [body, response]: readonly [PassThrough, ServerResponse],
  end: AbortController,
): Promise<void> {
  for await (const event of events) {
    if (end.signal.aborted) return;
    body.write(textOf(event));
    for (const stream of [body, response]) {
      if (stream.writableNeedDrain) await once(stream, 'drain', { signal: end.signal }).catch(() => undefined);
    }
  }
  if (!end.signal.aborted) body.write(complete);
}
