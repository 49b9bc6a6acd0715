/** GraphQL is loaded late: this file must not import it. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { acceptsHtml, loadOnce, type SendPage } from '../http/pages.ts';
import type { RecordKind } from '../model/record-kind.ts';

/** REST is served first: loading GraphQL takes a third of a start. */
const preloadDelayMs = 200;

/** Browsers get the page of `sendPage`, if set. Returns a function that parses filters, for exports. */
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
  // Also without introspection; it needs a key once there is one.
  app.get('/schema.graphql', async (request, reply) => (await endpoint()).sendSchema(request, reply));
  return async (kind: RecordKind, where: unknown) => (await endpoint()).readFilter(kind, where);
}
