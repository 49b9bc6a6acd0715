/** Sets up what all paths share: request IDs, headers, limits, logs and the form of errors. Knows no routes, but what to say where there is none. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import cors from '@fastify/cors';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Config } from '../config.ts';
import { badRequest, forbidden, notFound, ServiceError } from '../errors.ts';
import { type Logs, standardError } from '../logs.ts';
import { expected } from '../model/issues.ts';
import { compressResponses } from './compression.ts';
import { reasonFor, sendError } from './error-response.ts';
import { readJsonBodies } from './json-body.ts';
import { closeQueuedResponses, closeStalledSockets, rejectBrokenHttp } from './sockets.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborted when the service begins to stop: responses without an end must end then. */
    readonly closing: AbortController;
  }
  interface FastifyRequest {
    /** The reason for the rejection, in a few words; null if there was none. GraphQL may reject with status 200. */
    rejectionReason: string | null;
    /** The name of the GraphQL operation, if it has one. */
    operation: string | undefined;
  }
}

/** Milliseconds between checks for requests that take too long to arrive. */
const timeoutCheckInterval = 1_000;

export function createServer(
  { logLevel, limits, http, trustedProxies }: Config,
  logs: Logs = standardError(),
): FastifyInstance {
  const app = Fastify({
    logger: { level: logLevel, stream: logs },
    ...(trustedProxies.length > 0 && { trustProxy: [...trustedProxies] }),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: limits.maxBodyBytes,
    requestTimeout: http.requestTimeout,
    http: {
      maxHeaderSize: http.maxHeaderBytes,
      // Node throws if headersTimeout exceeds requestTimeout, which is 300,000 unless set here. Fastify sets requestTimeout
      // too, but later: then Node swaps the two if headersTimeout is greater, and a slow body gets the time meant for headers.
      headersTimeout: Math.min(http.headerTimeout, http.requestTimeout),
      requestTimeout: http.requestTimeout,
      connectionsCheckingInterval: timeoutCheckInterval,
      // Otherwise Node itself responds to a request without Host, with an empty body.
      requireHostHeader: false,
    },
    // No path is longer than the headers may be: an ID of any length is an unknown ID, not an error of the router.
    routerOptions: { maxParamLength: http.maxHeaderBytes },
    genReqId: requestId,
    // While the service closes, requests on open connections still get their response instead of Fastify's own 503.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => {
      logWhenClosed(request, reply);
      reply.headers(headersFor(request.id));
      return sendError(request, reply, error);
    },
    clientErrorHandler: ({ code }, socket) => rejectBrokenHttp(app.log, code, socket),
  });
  app.decorate('closing', new AbortController());
  app.addHook('preClose', (done) => {
    app.closing.abort();
    done();
  });
  app.decorateRequest('rejectionReason', null);
  app.decorateRequest('operation', undefined);
  app.addHook('onRequest', beginRequest);
  app.addHook('onSend', keepConnectionOfLargeBody);
  app.setErrorHandler((error, request, reply) => sendError(request, reply, error));
  app.server.maxConnections = http.maxConnections;
  closeQueuedResponses(app.server);
  // Late enough for a client that sends too slowly to get its 408 first.
  closeStalledSockets(app.server, http.requestTimeout + 2 * timeoutCheckInterval);
  readJsonBodies(app, limits);
  compressResponses(app);
  return app;
}

/** Lets pages of these origins, and no others, call the service from a browser. Cookies are neither sent nor read. */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  app.addHook('onRequest', ({ method, headers: { origin, ...headers } }, _reply, done) => {
    const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
    if (!isPreflight || origin === undefined || origins.includes(origin)) return done();
    // Without this, the developer of a page would read that a key is missing: browsers send none with this request.
    done(forbidden(`Origin: ${expected('an origin that CORS_ORIGINS lists', origin)}`, 'origin not in CORS_ORIGINS'));
  });
  if (origins.length === 0) return;
  await app.register(cors, {
    origin: [...origins],
    methods: ['GET', 'POST', 'PATCH'],
    allowedHeaders:
      'accept, authorization, content-encoding, content-type, idempotency-key, if-none-match, last-event-id, prefer, x-api-key, x-change-message, x-request-id',
    exposedHeaders:
      'api-version, etag, export-count, idempotency-replayed, preference-applied, query-cost, ratelimit-limit, ratelimit-remaining, ratelimit-reset, retry-after, x-request-id',
    maxAge: 600,
  });
}

/** Returns the client's own ID if it can be logged and sent back safely, otherwise a new one. */
function requestId({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && /^[\w.:@/+=-]{1,128}$/.test(sent) ? sent : randomUUID();
}

export const apiVersion = '1.0.0';

const headersFor = (id: string) => ({
  'x-request-id': id,
  'api-version': apiVersion,
  'cache-control': 'private, no-cache',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
});

/** The hooks that run for every request take a callback: where nothing is awaited, a promise is only overhead. */
function beginRequest(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  logWhenClosed(request, reply);
  reply.headers(headersFor(request.id));
  requireValidHost(request);
  done();
}

/** A name, an IPv4 address, or an IPv6 address in brackets, and a port, by the characters of RFC 3986. */
const hostAndPort = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(?::\d*)?$/i;

/** RFC 9112 requires this, and authenticate.ts makes a URL of the header. HTTP/1.0 has no such header, and it may be empty. */
function requireValidHost({ raw }: FastifyRequest): void {
  const { host = raw.httpVersion === '1.0' ? '' : undefined } = raw.headers;
  if (host === '' || (host && hostAndPort.test(host) && URL.canParse(`http://${host}`))) return;
  throw badRequest(`Host: ${expected('a host name or an IP address, optionally with a port', host)}`);
}

/** Fastify would close the connection while the body is still arriving: most clients would see that instead of the 413. */
function keepConnectionOfLargeBody(_request: FastifyRequest, reply: FastifyReply, _body: unknown, done: () => void) {
  if (reply.statusCode === 413) reply.removeHeader('connection');
  done();
}

/** Logs the request when its response is complete or its connection is closed, whichever comes first. */
function logWhenClosed(request: FastifyRequest, reply: FastifyReply): void {
  let isComplete = false;
  // Unknown once the connection is closed. Behind a proxy that is not trusted, this is the proxy's address: a header can say anything.
  const address = request.ip;
  // Node also reports "finish" when the connection is destroyed while the response is being sent.
  reply.raw.once('finish', () => {
    isComplete = !request.raw.socket.destroyed;
  });
  reply.raw.once('close', () => {
    const { method, routeOptions, identity, usage, rejectionReason, operation, log } = request;
    const { statusCode, elapsedTime } = reply;
    const line = {
      method,
      route: routeOptions.url,
      operation,
      status: isComplete ? statusCode : undefined,
      reason: rejectionReason ?? (statusCode >= 400 ? reasonFor(statusCode) : undefined),
      milliseconds: Math.round(elapsedTime),
      statements: usage?.statements,
      key: identity?.keyPrefix,
      workspace: identity?.workspace.name,
      address,
    };
    // Probes come every few seconds, and would hide the other lines.
    const isProbe = routeOptions.url === '/healthz' || routeOptions.url === '/readyz';
    const level = isComplete && isProbe && statusCode < 400 ? 'debug' : 'info';
    log[level](line, isComplete ? 'request completed' : 'connection closed before the response was complete');
  });
}

/**
 * Responds to requests for which there is no route, before they are authenticated and before their bodies are read: 405 with `Allow` and
 * the hint for the method where the path supports other methods, otherwise 404. Covers the routes that are added later.
 */
export function rejectUnknownRoutes(
  app: FastifyInstance,
  hintFor: (method: string, path: string) => string | undefined,
): void {
  const methodsByUrl = new Map<string, string[]>();
  app.addHook('onRoute', ({ url, method }) => {
    methodsByUrl.set(url, [...(methodsByUrl.get(url) ?? []), method].flat());
  });

  function reject(request: FastifyRequest, reply: FastifyReply): never {
    const [path = ''] = request.url.split('?');
    const [url, methods = []] = [...methodsByUrl].find(([candidate]) => leadsTo(candidate, path)) ?? [];
    if (url === undefined) throw notFound(`there is nothing at this path${slashHint(path)}`, 'unknown path');
    const allowed = methods.toSorted().join(', ');
    reply.header('allow', allowed);
    const hint = hintFor(request.method, url);
    throw new ServiceError(405, `this path supports ${allowed} only${hint ? `: ${hint}` : ''}`);
  }

  /** Suggests a path only if it is one of ours: a slash at the end is easily overlooked. */
  function slashHint(path: string): string {
    const known = /^\/.+\/$/.test(path) && [...methodsByUrl.keys()].find((url) => leadsTo(url, path.slice(0, -1)));
    return known ? `: ${known.replace(':id', '{id}')} has no slash at the end` : '';
  }

  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404 || hasEmptyParameter(request)) reject(request, reply);
    done();
  });
}

/** True for `/projects/:id` and `/projects/x`. Neither a parameter nor what `*` stands for is empty. */
function leadsTo(url: string, path: string): boolean {
  const [expected, sent] = [url.split('/'), path.split('/')];
  return (
    (expected.length === sent.length || (expected.at(-1) === '*' && expected.length < sent.length)) &&
    expected.every((part, index) => (/^[:*]/.test(part) ? sent[index] !== '' : sent[index] === part))
  );
}

/** True for a path such as `/projects/`, at which the router finds `/projects/:id`. */
const hasEmptyParameter = ({ params }: FastifyRequest): boolean => Object.values(params as object).includes('');
