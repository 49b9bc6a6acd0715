/** The route of GraphQL and of its page for browsers. GraphQL is loaded late, and must not be imported here. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { acceptsHtml, loadOnce, type SendPage } from '../http/pages.ts';
import type { RecordKind } from '../model/record-kind.ts';

/** Milliseconds from the start until GraphQL is loaded, which takes a third of the time of a start: REST is served first. */
const preloadDelayMs = 200;

/** Browsers get the page of `sendPage`; without it, what others get. Returns a function that reads filters for others. */
export function serveGraphql(app: FastifyInstance, config: Config, sendPage?: SendPage) {
  const endpoint = loadOnce(async () => (await import('./endpoint.ts')).createEndpoint(config, app.closing.signal));

  const isPage = (request: FastifyRequest) => !!sendPage && request.method === 'GET' && acceptsHtml(request);

  const preload = () => endpoint().catch((error: unknown) => app.log.error({ err: error }, 'GraphQL cannot be loaded'));
  app.addHook('onListen', async () => void setTimeout(preload, preloadDelayMs).unref());
  app.setErrorHandler(async (error, request, reply) => (await endpoint()).sendError(error, request, reply));
  app.route({
    config: { isPublic: isPage },
    method: ['GET', 'POST'],
    url: '/graphql',
    exposeHeadRoute: false,
    handler: async (request, reply) =>
      sendPage && isPage(request) ? sendPage(request, reply) : (await endpoint()).executeQuery(request, reply),
  });
  // For tools of developers, also where introspection is off: it needs a key as soon as there is one.
  app.get('/schema.graphql', async (request, reply) => (await endpoint()).sendSchema(request, reply));
  return async (kind: RecordKind, where: unknown) => (await endpoint()).readFilter(kind, where);
}
