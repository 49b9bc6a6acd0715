/** One log line per request: method, route, outcome and cost, but nothing that the client sent. */
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Logs the request when its response is complete or its connection is closed, whichever comes first. */
export function logWhenClosed(request: FastifyRequest, reply: FastifyReply): void {
  let isComplete = false;
  // Node also reports "finish" when the connection is destroyed while the response is being sent.
  reply.raw.once('finish', () => {
    isComplete = !request.raw.socket.destroyed;
  });
  reply.raw.once('close', () => logRequest(request, reply, isComplete));
}

function logRequest(request: FastifyRequest, reply: FastifyReply, isComplete: boolean): void {
  const { method, routeOptions, identity, usage, log } = request;
  const line = {
    method,
    route: routeOptions.url,
    status: isComplete ? reply.statusCode : undefined,
    milliseconds: Math.round(reply.elapsedTime),
    statements: usage?.statements,
    key: identity?.keyPrefix,
    workspace: identity?.workspaceId,
  };
  log.info(line, isComplete ? 'request completed' : 'connection closed before the response was complete');
}
