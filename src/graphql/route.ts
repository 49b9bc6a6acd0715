/** The route of GraphQL, and of GraphiQL for browsers. GraphQL is loaded after the start, and must not be imported here. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { loadLate } from './load-late.ts';

/** Milliseconds from the start until GraphQL is loaded, which takes a third of the time of a start: REST is served first. */
const preloadDelay = 200;

export function serveGraphql(app: FastifyInstance, config: Config, isOpen: () => Promise<boolean>): void {
  const endpoint = loadLate(async () => (await import('./endpoint.ts')).createEndpoint(config, isOpen));

  const isPage = ({ method, headers }: FastifyRequest) =>
    config.graphiql && method === 'GET' && !!headers.accept?.includes('text/html');

  const preload = () => endpoint().catch((error: unknown) => app.log.error({ err: error }, 'GraphQL cannot be loaded'));
  app.addHook('onListen', async () => void setTimeout(preload, preloadDelay).unref());
  app.setErrorHandler(async (error, request, reply) => (await endpoint()).sendError(error, request, reply));
  app.route({
    config: { isPublic: isPage },
    method: ['GET', 'POST'],
    url: '/graphql',
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const { sendPage, executeQuery } = await endpoint();
      return isPage(request) ? sendPage(reply) : executeQuery(request, reply);
    },
  });
}
