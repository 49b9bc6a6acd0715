/** One log line per request: method, route, outcome and cost, and why it was refused, but nothing that the client sent. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { usualReason } from './refusal.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Why it was refused, in a few words; null if it was not, or if GraphQL refused it itself. */
    refusal: string | null;
  }
}

/** Logs the request when its response is complete or its connection is closed, whichever comes first. */
export function logWhenClosed(request: FastifyRequest, reply: FastifyReply): void {
  let isComplete = false;
  // Unknown once the connection is closed. Behind a proxy, it is the proxy's: a header can say anything.
  const address = request.socket.remoteAddress;
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
  const { method, routeOptions, identity, usage, refusal, log } = request;
  const line = {
    method,
    // Undefined for a path that is unknown.
    route: routeOptions.url,
    status: isComplete ? statusCode : undefined,
    reason: refusal ?? (statusCode >= 400 ? usualReason(statusCode) : undefined),
    milliseconds: Math.round(elapsedTime),
    statements: usage?.statements,
    key: identity?.keyPrefix,
    workspace: identity?.workspaceId,
    address,
  };
  log.info(line, isComplete ? 'request completed' : 'connection closed before the response was complete');
}
