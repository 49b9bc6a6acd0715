/** The service as one Fastify instance: what it answers, not that it listens. Tests inject into it, without a port. */
import type { FastifyInstance } from 'fastify';
import { authenticate } from './auth/authenticate.ts';
import type { Config } from './config.ts';
import { serveGraphql } from './graphql/endpoint.ts';
import { collectPaths, createHttp, refuseOtherMethods } from './http.ts';
import { handler } from './rest/handler.ts';
import { serveReference } from './rest/reference.ts';
import { routes } from './rest/routes.ts';
import type { Database } from './store/database.ts';

export async function createApp(database: Database, config: Config): Promise<FastifyInstance> {
  const app = createHttp(config);
  const paths = collectPaths(app);
  authenticate(app, database);
  for (const route of routes) {
    app.route({ method: route.method, url: route.path, handler: handler(route, config.limits) });
  }
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async () => {
    await database.ping();
    return { status: 'ok' };
  });
  await app.register(async (scope) => serveReference(scope, config.limits));
  await app.register(async (scope) => serveGraphql(scope, config));
  refuseOtherMethods(app, paths);
  return app;
}
