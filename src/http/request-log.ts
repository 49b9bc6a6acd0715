/** One log line per request: method, route, outcome and cost, and why it was rejected, but nothing that the client sent. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { reasonFor } from './rejection-reasons.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The reason for the rejection, in a few words; null if there was none. GraphQL may reject with status 200. */
    rejectionReason: string | null;
  }
}

/** Logs the request when its response is complete or its connection is closed, whichever comes first. */
export function logWhenClosed(request: FastifyRequest, reply: FastifyReply): void {
  let isComplete = false;
  // Unknown once the connection is closed. Behind a proxy that is not trusted, this is the proxy's address: a header can say anything.
  const address = request.ip;
  // Node also reports "finish" when the connection is destroyed while the response is being sent.
  reply.raw.once('finish', () => {
    isComplete = !request.raw.socket.destroyed;
  });
  reply.raw.once('close', () => logRequest(request, reply, { address, isComplete }));
}

function logRequest(
  request: FastifyRequest,
  { statusCode, elapsedTime }: FastifyReply,
  { address, isComplete }: { address: string | undefined; isComplete: boolean },
): void {
  const { method, routeOptions, identity, usage, rejectionReason, log } = request;
  const line = {
    method,
    // Undefined for a path that is unknown.
    route: routeOptions.url,
    status: isComplete ? statusCode : undefined,
    reason: rejectionReason ?? (statusCode >= 400 ? reasonFor(statusCode) : undefined),
    milliseconds: Math.round(elapsedTime),
    statements: usage?.statements,
    key: identity?.keyPrefix,
    workspace: identity?.workspace.name,
    address,
  };
  const level = isComplete && isProbe(request) && statusCode < 400 ? 'debug' : 'info';
  log[level](line, isComplete ? 'request completed' : 'connection closed before the response was complete');
}

/** Probes come every few seconds, and would hide the other lines. */
const isProbe = ({ routeOptions }: FastifyRequest): boolean =>
  routeOptions.url === '/healthz' || routeOptions.url === '/readyz';
