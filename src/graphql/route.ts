/** The route of GraphQL, and of GraphiQL for browsers. GraphQL is loaded after the start, and must not be imported here. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { acceptsHtml } from '../http/page.ts';
import { loadLate } from '../load-late.ts';
import { sendGraphiql } from './graphiql.ts';

/** Milliseconds from the start until GraphQL is loaded, which takes a third of the time of a start: REST is served first. */
const preloadDelay = 200;

export function serveGraphql(app: FastifyInstance, config: Config): void {
  const endpoint = loadLate(async () => (await import('./endpoint.ts')).createEndpoint(config));

  const isPage = (request: FastifyRequest) => config.graphiql && request.method === 'GET' && acceptsHtml(request);

  const preload = () => endpoint().catch((error: unknown) => app.log.error({ err: error }, 'GraphQL cannot be loaded'));
  app.addHook('onListen', async () => void setTimeout(preload, preloadDelay).unref());
  app.setErrorHandler(async (error, request, reply) => (await endpoint()).sendError(error, request, reply));
  app.route({
    config: { isPublic: isPage },
    method: ['GET', 'POST'],
    url: '/graphql',
    exposeHeadRoute: false,
    handler: async (request, reply) =>
      isPage(request) ? sendGraphiql(request, reply) : (await endpoint()).executeQuery(request, reply),
  });
}
