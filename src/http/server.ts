/** HTTP manners that all paths share: ids, headers, bodies, logs, and an answer to every request that no route takes. */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, METHODS, type ServerResponse } from 'node:http';
import cors from '@fastify/cors';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Config } from '../config.ts';
import { notFound, ServiceError } from '../errors.ts';
import { type Logs, standardError } from '../logs.ts';
import { readJsonBodies } from './json-body.ts';
import { sendError } from './send-error.ts';
import { closeQueuedResponses, closeStalledSockets, refuseBrokenHttp } from './sockets.ts';

/** Milliseconds between looks at who takes too long. */
const timeoutCheckInterval = 1_000;

/** Longer than any header may be, so that an id in a path is always one that may be unknown, not one too long. */
const maxParamLength = 16_384;

/** One line a request: who asked for what, how it ended and what it cost. Nothing of what was sent. */
function logAnswer({ method, routeOptions, identity, usage, log }: FastifyRequest, reply: FastifyReply): void {
  const isWhole = reply.raw.writableFinished;
  const answer = {
    method,
    route: routeOptions.url,
    status: isWhole ? reply.statusCode : undefined,
    milliseconds: Math.round(reply.elapsedTime),
    statements: usage?.statements,
    key: identity?.keyPrefix,
    workspace: identity?.workspaceId,
  };
  log.info(answer, isWhole ? 'answered' : 'gone before it was answered');
}

/** A Fastify instance without routes. */
export function createHttp({ logLevel, limits, http }: Config, logs: Logs = standardError()): FastifyInstance {
  const app = Fastify({
    logger: { level: logLevel, stream: logs },
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: limits.maxBodyBytes,
    requestTimeout: http.requestTimeout,
    http: {
      maxHeaderSize: http.maxHeaderBytes,
      headersTimeout: http.headerTimeout,
      connectionsCheckingInterval: timeoutCheckInterval,
      // Without it Node answers by itself, with an empty body.
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength },
    genReqId: requestId,
    // While closing, requests on open connections are answered like all others instead of with Fastify's own 503.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => {
      setHeaders(request, reply);
      return sendError(request, reply, error);
    },
    clientErrorHandler: (error, socket) => refuseBrokenHttp(app.log, error, socket),
  });
  app.addHook('onRequest', async (request, reply) => {
    setHeaders(request, reply);
    // Before its body is read, which may be broken too.
    if (request.is404) throw notFound('there is nothing at this path');
  });
  app.addHook('onSend', async (_request, reply) => {
    // Fastify would close while the body is still coming, and most clients would see that instead of the answer.
    if (reply.statusCode === 413) reply.removeHeader('connection');
  });
  app.addHook('onRequest', async (request, reply) => {
    // Also when the client goes away before it is answered.
    reply.raw.once('close', () => logAnswer(request, reply));
  });
  app.setErrorHandler((error, request, reply) => sendError(request, reply, error));
  app.server.maxConnections = http.maxConnections;
  closeQueuedResponses(app.server);
  // Late enough for a client that sends too slowly to get its 408 first.
  closeStalledSockets(app.server, http.requestTimeout + 2 * timeoutCheckInterval);
  app.server.on('checkExpectation', (request, response) => refuseExpectation(app.log, request, response));
  readJsonBodies(app, limits);
  return app;
}

/** Lets pages of these origins, and no others, call the service from a browser. No cookie is ever asked for or sent. */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return;
  await app.register(cors, {
    origin: [...origins],
    methods: ['GET', 'POST', 'PATCH'],
    allowedHeaders: ['accept', 'authorization', 'content-type', 'if-none-match', 'prefer', 'x-api-key', 'x-request-id'],
    exposedHeaders: ['etag', 'preference-applied', 'retry-after', 'x-request-id'],
    maxAge: 600,
  });
}

/** The client's own id, when it is one that can be logged and sent back safely. */
function requestId({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && /^[\w.:@/+=-]{1,128}$/.test(sent) ? sent : randomUUID();
}

function setHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(headersFor(request.id));
}

/** What every answer has. */
const headersFor = (id: string) => ({
  'x-request-id': id,
  'api-version': '1.0.0',
  'cache-control': 'private, no-cache',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
});

/** The paths of all routes that are registered from now on. */
export function collectPaths(app: FastifyInstance): ReadonlySet<string> {
  const paths = new Set<string>();
  app.addHook('onRoute', ({ url }) => void paths.add(url));
  return paths;
}

/** Every method that one of these paths does not have is 405 with `Allow`, not 404. Refused before a body is read. */
export function refuseOtherMethods(app: FastifyInstance, paths: ReadonlySet<string>): void {
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  for (const url of [...paths]) {
    const isAllowed = (method: string) => app.hasRoute({ method, url });
    const allowed = app.supportedMethods.filter(isAllowed).join(', ');
    const method = app.supportedMethods.filter((it) => !isAllowed(it));
    const refuse = async (_request: FastifyRequest, reply: FastifyReply) => {
      reply.header('allow', allowed);
      throw new ServiceError(405, `this path answers to ${allowed} only`);
    };
    app.route({ method, url, onRequest: refuse, handler: refuse });
  }
}

/** `Expect` with anything but 100-continue, which Node answers by itself. */
function refuseExpectation(log: FastifyBaseLogger, request: IncomingMessage, response: ServerResponse): void {
  const id = requestId(request);
  log.info({ reqId: id, method: request.method, status: 417 }, 'answered');
  response.writeHead(417, { ...headersFor(id), 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify({ error: 'expected no Expect but 100-continue', code: '417' }));
}
