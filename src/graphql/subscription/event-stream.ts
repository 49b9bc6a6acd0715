/**
 * Sends server-sent events, in the form of graphql-sse's distinct connections, which browsers' EventSource reads, too. Holds one event
 * at a time: the next one is made when the client has read enough of those before.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { closeConnection } from '../../http/sockets.ts';
import { encodedInSlices } from '../../slices.ts';

export interface ServerEvent {
  /** The ID that a browser sends as `Last-Event-ID` when it reconnects. */
  readonly id?: string;
  /** JSON without line breaks. */
  readonly data: string;
  /** True if the event takes much memory until the client has read it. */
  readonly isLong?: boolean;
}

export const eventStreamType = 'text/event-stream';

/**
 * Milliseconds between keep-alive comments, without which proxies and clients would close the connection. The key is
 * checked as often: including its time in the cache, a revoked key ends a stream within five seconds.
 */
const interval = 3_000;

/** Milliseconds that a client has to read what was sent, if its stream ends before it is complete. */
const closeAfter = 1_000;

/** Milliseconds in which a client must read a long event. */
const longEventTimeout = 30_000;

const comment = ':\n\n';
const complete = 'event: complete\ndata:\n\n';

const textOf = ({ id, data }: ServerEvent): string =>
  `event: next\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;

/** Returns an event stream of one result. */
export const singleEvent = (data: string): string => `${textOf({ data })}${complete}`;

/** Sets the headers of an event stream. Proxies such as nginx must not collect events before they send them on. */
export const asEventStream = (reply: FastifyReply): FastifyReply =>
  reply.type(eventStreamType).header('x-accel-buffering', 'no');

/**
 * Sends events until there are no more. If the client leaves, its access ends or the service stops first, there is no
 * `complete`, and clients reconnect.
 */
export function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  { events, end }: { readonly events: AsyncIterable<ServerEvent>; readonly end: AbortController },
): FastifyReply {
  const body = new PassThrough();
  // The headers are sent with the first bytes.
  body.write(comment);
  const connection: Connection = { body, response: reply.raw, isInEvent: false };
  let isComplete = false;
  const timer = setInterval(async () => {
    if (!connection.isInEvent && body.writableLength === 0) body.write(comment);
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
  write(events, connection, end).then(
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

interface Connection {
  readonly body: PassThrough;
  readonly response: ServerResponse;
  /** True while an event is written piece by piece. */
  isInEvent: boolean;
}

async function write(events: AsyncIterable<ServerEvent>, connection: Connection, end: AbortController): Promise<void> {
  const { body, response } = connection;
  for await (const event of events) {
    if (end.signal.aborted) return;
    // A client that does not read in time reconnects, and gets the event again.
    const timer = event.isLong ? setTimeout(() => closeConnection(response), longEventTimeout) : undefined;
    connection.isInEvent = true;
    try {
      for await (const piece of encodedInSlices(textOf(event))) {
        if (end.signal.aborted) return;
        body.write(piece);
        for (const stream of [body, response]) {
          if (stream.writableNeedDrain) await once(stream, 'drain', { signal: end.signal }).catch(() => undefined);
        }
      }
    } finally {
      connection.isInEvent = false;
      clearTimeout(timer);
    }
  }
  if (!end.signal.aborted) body.write(complete);
}
