/** The service as one Fastify instance: what it answers, not that it listens. Tests inject into it, without a port. */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, METHODS, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, LogController, type RouteOptions } from 'fastify';
import { authenticate } from './auth/authenticate.ts';
import type { Config } from './config.ts';
import { notFound, ServiceError } from './errors.ts';
import { serveGraphql } from './graphql/endpoint.ts';
import { readJsonBodies } from './json-body.ts';
import { sendError } from './rest/error-answer.ts';
import { handler } from './rest/handler.ts';
import { serveReference } from './rest/reference.ts';
import { routes } from './rest/routes.ts';
import type { Database } from './store/database.ts';

/** A client that needs longer to send a request than this is cut off. */
const requestTimeout = 120_000;

export async function createApp(database: Database, config: Config): Promise<FastifyInstance> {
  const app = Fastify({
    logger: { level: config.logLevel, stream: process.stderr },
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: config.limits.maxBodyBytes,
    requestTimeout,
    genReqId: requestId,
    // While closing, requests on open connections are answered like all others instead of with Fastify's own 503.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => sendError(request, reply, error),
    clientErrorHandler: answerBrokenHttp,
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-request-id': request.id, 'api-version': '1.0.0' });
  });
  app.addHook('onResponse', async ({ method, routeOptions, log }, { statusCode, elapsedTime }) => {
    log.info(
      { method, route: routeOptions.url, status: statusCode, milliseconds: Math.round(elapsedTime) },
      'answered',
    );
  });
  app.setErrorHandler((error, request, reply) => sendError(request, reply, error));
  app.setNotFoundHandler((request, reply) => sendError(request, reply, notFound('there is nothing at this path')));
  readJsonBodies(app, config.limits);
  authenticate(app, database);
  await app.register(async (scope) => serveReference(scope, config.limits));

  const registered: RouteOptions[] = [];
  app.addHook('onRoute', (route) => void registered.push(route));
  for (const route of routes) {
    app.route({ method: route.method, url: route.path, handler: handler(route, config.limits) });
  }
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async () => {
    await database.ping();
    return { status: 'ok' };
  });
  await app.register(async (scope) => serveGraphql(scope, config));
  answerOtherMethods(app, [...registered]);
  return app;
}

/** The client's own id, when it is one that can be logged and sent back safely. */
function requestId({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && /^[\w.:@/+=-]{1,128}$/.test(sent) ? sent : randomUUID();
}

/** Every method that a path does not have is 405 with `Allow`, not 404. Refused before a body is read. */
function answerOtherMethods(app: FastifyInstance, registered: readonly RouteOptions[]): void {
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  for (const url of new Set(registered.map((route) => route.url))) {
    const allowed = registered.filter((route) => route.url === url).flatMap(({ method }) => method);
    const refuse = async (_request: unknown, reply: FastifyReply) => {
      reply.header('allow', allowed.join(', '));
      throw new ServiceError(405, `this path answers to ${allowed.join(', ')} only`);
    };
    const method = app.supportedMethods.filter((supported) => !allowed.includes(supported));
    app.route({ method, url, onRequest: refuse, handler: refuse });
  }
}

/** What is not HTTP never becomes a request: the answer is written to the socket, in the form of all errors. */
function answerBrokenHttp({ code }: NodeJS.ErrnoException, socket: Socket): void {
  if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const reason = STATUS_CODES[status] ?? '';
  const body = JSON.stringify({ error: `the request is not valid: ${reason.toLowerCase()}`, code: String(status) });
  const head = ['content-type: application/json; charset=utf-8', `content-length: ${body.length}`, 'connection: close'];
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${head.join('\r\n')}\r\n\r\n${body}`);
}
