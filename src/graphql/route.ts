/** The route of GraphQL, and of GraphiQL for browsers. GraphQL itself is loaded late, and must not be imported here. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { loadLate } from './load-late.ts';

/** Milliseconds after the start at which GraphQL is loaded. Loading it takes a third of the start, so REST serves first. */
const loadAfter = 200;

export function serveGraphql(app: FastifyInstance, config: Config, isOpen: () => Promise<boolean>): void {
  const endpoint = loadLate(async () => (await import('./endpoint.ts')).createEndpoint(config, isOpen));

  const isPage = ({ method, headers }: FastifyRequest) =>
    config.graphiql && method === 'GET' && !!headers.accept?.includes('text/html');

  const loadEarly = () =>
    endpoint().catch((error: unknown) => app.log.error({ err: error }, 'GraphQL cannot be loaded'));
  app.addHook('onListen', async () => void setTimeout(loadEarly, loadAfter).unref());
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
