import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import underPressure from '@fastify/under-pressure';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Config } from '../config.ts';
import { badRequest, forbidden, notFound, ServiceError, unavailable } from '../errors.ts';
import { type Logs, standardError } from '../logs.ts';
import { requestTimes } from '../metrics.ts';
import { expected } from '../model/issues.ts';
import { compressResponses } from './compression.ts';
import { reasonFor, sendError } from './error-response.ts';
import { readJsonBodies } from './request.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborted when the service begins to stop: event streams end. */
    readonly closing: AbortController;
  }
  interface FastifyRequest {
    /** Null unless the request was rejected. GraphQL may reject with status 200. */
    rejectionReason: string | null;
    operation: string | undefined;
  }
}

const timeoutCheckIntervalMs = 1_000;

export function createServer(config: Config, logs: Logs = standardError()): FastifyInstance {
  const { logLevel, limits, http, trustedProxies, corsOrigins } = config;
  const app = Fastify({
    logger: { level: logLevel, stream: logs },
    ...(trustedProxies.length > 0 && { trustProxy: [...trustedProxies] }),
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger, bindings, options, request) =>
      logger.child({ ...bindings, trace_id: traceId(request) }, options),
    bodyLimit: limits.maxBodyBytes,
    requestTimeout: http.requestTimeout,
    http: {
      maxHeaderSize: http.maxHeaderBytes,
      // Node throws if headersTimeout exceeds requestTimeout, by default 300,000. Fastify sets requestTimeout later:
      // Node would swap the two, and give a slow body the time of headers.
      headersTimeout: Math.min(http.headerTimeout, http.requestTimeout),
      requestTimeout: http.requestTimeout,
      connectionsCheckingInterval: timeoutCheckIntervalMs,
      // Otherwise Node responds to a request without Host, with an empty body.
      requireHostHeader: false,
    },
    // A long ID is an unknown ID, not an error of the router.
    routerOptions: { maxParamLength: http.maxHeaderBytes },
    genReqId: requestId,
    // While the service stops, requests on open connections get their response, not Fastify's 503.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => {
      beginRequest(request, reply, config);
      return sendError(request, reply, error);
    },
    clientErrorHandler: ({ code }, socket) => rejectBrokenHttp(app.log, code, socket),
  });
  const openResponses = trackResponses(app.server);
  app.decorate('closing', new AbortController());
  app.addHook('preClose', async () => {
    app.closing.abort();
    await finishResponses(app.server, openResponses);
  });
  app.decorateRequest('rejectionReason', null);
  app.decorateRequest('operation', undefined);
  // In hooks of every request, callbacks cost less than promises.
  app.addHook('onRequest', (request, reply, done) => {
    beginRequest(request, reply, config);
    if (isPreflight(request)) return allowRequest(request, reply, corsOrigins);
    requireValidHost(request);
    done();
  });
  app.addHook('onSend', (_request, reply, _body, done) => {
    // Fastify would close the connection while the body arrives: most clients would miss the 413.
    if (reply.statusCode === 413) reply.removeHeader('connection');
    done();
  });
  app.setErrorHandler((error, request, reply) => sendError(request, reply, error));
  app.server.maxConnections = http.maxConnections;
  // After the 408 for slow requests.
  closeStalledSockets(app.server, http.requestTimeout + 2 * timeoutCheckIntervalMs);
  readJsonBodies(app, limits);
  compressResponses(app);
  return app;
}

const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

/** Allows any headers: tracing and GraphQL clients add many. */
function allowRequest({ headers }: FastifyRequest, reply: FastifyReply, origins: readonly string[]): void {
  const { origin = '', 'access-control-request-headers': requestedHeaders } = headers;
  // Browsers send it without the key: a 401 would mislead the developer.
  if (!origins.includes(origin)) {
    throw forbidden(`Origin: ${expected('an origin that CORS_ORIGINS lists', origin)}`, 'origin not in CORS_ORIGINS');
  }
  reply.headers({
    'access-control-allow-methods': 'GET, POST, PATCH',
    ...(requestedHeaders !== undefined && { 'access-control-allow-headers': requestedHeaders }),
    'access-control-max-age': '600',
    vary: 'Origin, Access-Control-Request-Headers',
  });
  reply.code(204).send();
}

const exposedHeaders =
  'api-version, etag, export-count, idempotency-replayed, preference-applied, query-cost, ratelimit-limit, ratelimit-remaining, ratelimit-reset, retry-after, x-request-id';

function corsHeaders({ headers: { origin } }: FastifyRequest, origins: readonly string[]) {
  if (origin === undefined || !origins.includes(origin)) return { vary: 'Origin' };
  return { vary: 'Origin', 'access-control-allow-origin': origin, 'access-control-expose-headers': exposedHeaders };
}

/** The client's, if it is safe to log. */
function requestId({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && /^[\w.:@/+=-]{1,128}$/.test(sent) ? sent : randomUUID();
}

/** W3C Trace Context, in the length of version 00; no ID is zero. In logs, OpenTelemetry's name is `trace_id`. */
const traceparent = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

const traceId = ({ headers }: IncomingMessage) => traceparent.exec(String(headers.traceparent))?.[1];

export const apiVersion = '1.0.0';

function beginRequest(request: FastifyRequest, reply: FastifyReply, { corsOrigins, slowRequestMs }: Config): void {
  logWhenClosed(request, reply, slowRequestMs);
  reply.headers({
    'x-request-id': request.id,
    'api-version': apiVersion,
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    ...(corsOrigins.length > 0 && corsHeaders(request, corsOrigins)),
  });
}

/** In the characters of RFC 3986. */
const hostAndPort = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(?::\d*)?$/i;

/** authenticate.ts parses it as a URL. It may be empty, and absent in HTTP/1.0. */
function requireValidHost({ raw }: FastifyRequest): void {
  const { host = raw.httpVersion === '1.0' ? '' : undefined } = raw.headers;
  if (host === '' || (host && hostAndPort.test(host) && URL.canParse(`http://${host}`))) return;
  throw badRequest(`Host: ${expected('a host name or an IP address, optionally with a port', host)}`);
}

function logWhenClosed(request: FastifyRequest, reply: FastifyReply, slowRequestMs: number): void {
  let isComplete = false;
  // Unknown once the connection is closed. Behind an untrusted proxy, the proxy's.
  const address = request.ip;
  // Node also reports "finish" if the connection is destroyed while the response is sent.
  reply.raw.once('finish', () => {
    isComplete = !request.raw.socket.destroyed;
  });
  reply.raw.once('close', () => {
    const { method, routeOptions, identity, usage, rejectionReason, operation, log } = request;
    const { statusCode, elapsedTime } = reply;
    const { url: route } = routeOptions;
    const status = isComplete ? statusCode : undefined;
    const labels = `method="${route ? method : ''}",route="${route ?? 'unknown'}",status="${status ?? 'closed'}",`;
    // It lasts as long as its client stays.
    const isStream = String(reply.getHeader('content-type')).startsWith('text/event-stream');
    if (!isStream) requestTimes.observe(elapsedTime / 1_000, labels);
    const line = {
      method,
      route,
      operation,
      status,
      reason: rejectionReason ?? (statusCode >= 400 ? reasonFor(statusCode) : undefined),
      milliseconds: Math.round(elapsedTime),
      statements: usage?.statements,
      cost: reply.getHeader('query-cost'),
      key: identity?.keyPrefix,
      user: identity?.userId,
      workspace: identity?.workspace.name,
      address,
    };
    // Probes come every few seconds, and would hide other lines.
    const isProbe = route === '/healthz' || route === '/readyz';
    const isSlow = !isStream && elapsedTime > slowRequestMs;
    const level = isSlow ? 'warn' : isComplete && isProbe && statusCode < 400 ? 'debug' : 'info';
    log[level](line, isComplete ? 'request completed' : 'connection closed before the response was complete');
  });
}

/** Responds before requests are authenticated and their bodies are read. Must be called before routes are added. */
export function rejectUnknownRoutes(app: FastifyInstance): void {
  const methodsByUrl = new Map<string, string[]>();
  app.addHook('onRoute', ({ url, method }) => {
    methodsByUrl.set(url, [...(methodsByUrl.get(url) ?? []), method].flat());
  });

  app.addHook('onRequest', (request, reply, done) => {
    // The router also finds `/projects/:id` for `/projects/`.
    if (!request.is404 && !Object.values(request.params as object).includes('')) return done();
    const [path = ''] = request.url.split('?');
    const url = [...methodsByUrl.keys()].find((route) => matches(route, path));
    if (url === undefined) throw notFound('there is nothing at this path', 'unknown path');
    const allowed = methodsByUrl.get(url)?.toSorted().join(', ');
    if (request.method === 'OPTIONS') return void reply.header('allow', `${allowed}, OPTIONS`).code(204).send();
    reply.header('allow', allowed);
    const isOfRecords = url !== '/graphql' && /POST|PATCH/.test(allowed ?? '');
    const hint = isOfRecords ? ': /graphql reads, updates and deletes records' : '';
    throw new ServiceError(405, `this path supports ${allowed} only${hint}`);
  });
}

/** True for `/projects/:id` and `/projects/x`. Neither a parameter nor `*` matches an empty text. */
function matches(url: string, path: string): boolean {
  const expected = url.split('/');
  const sent = path.split('/');
  return (
    (expected.length === sent.length || (expected.at(-1) === '*' && expected.length < sent.length)) &&
    expected.every((part, index) => (/^[:*]/.test(part) ? sent[index] !== '' : sent[index] === part))
  );
}

setFlagsFromString('--expose-gc');
export const collectGarbage: () => void = runInNewContext('gc');
const collectionIntervalMs = 5_000;

/**
 * While the process is short of memory, or its event loop late by `maxEventLoopDelay` milliseconds on average.
 * `maxBytes` counts heap and buffers with their garbage, and leaves half of 1 GB to running requests.
 */
export async function refuseUnderPressure(
  app: FastifyInstance,
  { maxBytes = 400 * 1_048_576, maxEventLoopDelay = 5_000 } = {},
): Promise<void> {
  let collectedAt = Number.NEGATIVE_INFINITY;
  await app.register(underPressure, {
    maxEventLoopDelay,
    healthCheck: async () => {
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external <= maxBytes;
    },
    healthCheckInterval: 200,
    pressureHandler: (request, _reply, type) => {
      // A process that refuses requests allocates nothing: garbage counted for 50 s after the load had ended.
      if (performance.now() - collectedAt > collectionIntervalMs) {
        collectedAt = performance.now();
        collectGarbage();
      }
      // A supervisor whose probe is refused would end the service.
      if (request.routeOptions.config.isPublic?.(request)) return;
      throw unavailable('the service is overloaded, try again', type);
    },
  });
}

/** The response that is due or being sent has no public name. */
type HttpSocket = Socket & { readonly _httpMessage?: ServerResponse<IncomingMessage> | null };

const readRejectionMs = 1_000;

/**
 * Closes responses with their connection. Node closes only the one being sent: pipelined responses behind it would
 * never end, and keep their memory.
 */
export function trackResponses(server: Server): ReadonlySet<ServerResponse> {
  const open = new Set<ServerResponse>();
  const responsesBySocket = new WeakMap<Socket, Set<ServerResponse>>();
  server.on('connection', (socket: Socket) => {
    const responses = new Set<ServerResponse>();
    responsesBySocket.set(socket, responses);
    socket.once('close', () => setImmediate(() => responses.forEach(close)));
  });
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const responses = responsesBySocket.get(socket);
    open.add(response);
    responses?.add(response);
    response.once('close', () => {
      open.delete(response);
      responses?.delete(response);
    });
  });
  return open;
}

function close(response: ServerResponse): void {
  response.destroy();
  response.emit('close');
}

const closeTimeoutMs = 30_000;

/**
 * Fastify and Node would close connections in the middle of a response, and wait forever for those without a request.
 */
async function finishResponses(server: Server, open: ReadonlySet<ServerResponse>): Promise<void> {
  server.on('connection', (socket: Socket) => socket.destroy());
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('connection', 'close');
  });
  for (const response of open) if (!response.headersSent) response.setHeader('connection', 'close');
  const deadline = performance.now() + closeTimeoutMs;
  while (open.size > 0 && performance.now() < deadline) await wait(20);
  server.closeAllConnections();
}

/** Closes sockets without traffic unless a response is due. */
function closeStalledSockets(server: Server, timeout: number): void {
  server.setTimeout(timeout, (socket: HttpSocket) => {
    const isResponseDue = socket._httpMessage && socket.writableLength === 0;
    if (!isResponseDue) socket.destroy();
  });
}

function rejectBrokenHttp(log: FastifyBaseLogger, code: string | undefined, socket: HttpSocket): void {
  if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  // Otherwise a request could still complete and run, without a response.
  socket.pause();
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const reason = status === 400 ? 'invalid HTTP' : reasonFor(status);
  log.info({ status, reason, code, address: socket.remoteAddress }, 'not a valid HTTP request');
  const title = STATUS_CODES[status] ?? '';
  const body = JSON.stringify({ error: `the request is not valid: ${title.toLowerCase()}`, code: String(status) });
  const head = `content-type: application/json; charset=utf-8\r\ncontent-length: ${body.length}\r\nconnection: close`;
  // Earlier complete requests get their responses first.
  const rejectInTurn = (): void => {
    const response = socket._httpMessage;
    if (response && (response.req.complete || response.headersSent)) return void response.once('close', rejectInTurn);
    if (!socket.writable) return;
    socket.end(`HTTP/1.1 ${status} ${title}\r\n${head}\r\n\r\n${body}`);
    setTimeout(() => socket.destroy(), readRejectionMs);
  };
  rejectInTurn();
}
