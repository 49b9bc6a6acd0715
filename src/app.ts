/** The app does not listen: tests inject requests without a port. */
import type { FastifyInstance } from 'fastify';
import { version } from '../package.json';
import { authenticate } from './auth/authenticate.ts';
import type { Config } from './config.ts';
import { serveExports } from './export/route.ts';
import { serveGraphql } from './graphql/route.ts';
import { createServer, refuseUnderPressure, rejectUnknownRoutes } from './http/server.ts';
import type { Logs } from './logs.ts';
import { serveDocumentation } from './pages/documentation.ts';
import { servePageFiles } from './pages/files.ts';
import { serveHomePage } from './pages/home.ts';
import { sendGraphiql, serveExplorer, serveReference } from './pages/key-pages.ts';
import { handler } from './rest/handler.ts';
import { serveOpenApi } from './rest/openapi/document.ts';
import { routes } from './rest/routes.ts';
import { type Database, schemaVersion } from './store/database.ts';

interface AppOptions {
  readonly logs?: Logs | undefined;
  /** The process serves nothing else: it refuses requests while it is short of memory. */
  readonly ownsProcess?: boolean;
}

export async function createApp(
  database: Database,
  config: Config,
  { logs, ownsProcess = false }: AppOptions = {},
): Promise<FastifyInstance> {
  const app = createServer(config, logs);
  if (ownsProcess) await refuseUnderPressure(app);
  rejectUnknownRoutes(app);
  const { isOpen } = await authenticate(app, database, config);
  for (const route of routes) {
    app.route({ method: route.method, url: route.path, handler: handler(route, config.limits) });
  }
  await app.register(async (scope) => servePublicly(scope, database, config, isOpen));
  await app.register(async (scope) => {
    const readFilter = serveGraphql(scope, config, config.graphiql ? sendGraphiql : undefined);
    // On `app`, because the errors of `scope` have GraphQL's form.
    serveExports(app, { limits: config.limits, exportTimeout: config.http.exportTimeout }, readFilter);
  });
  return app;
}

async function servePublicly(
  app: FastifyInstance,
  database: Database,
  config: Config,
  isOpen: () => Promise<boolean>,
): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, isPublic: () => true };
  });
  // `idempotencyKeys` tells clients that a repeated write with a key runs once.
  app.get('/healthz', async () => ({ status: 'ok', idempotencyKeys: true, version, schema: schemaVersion }));
  app.get('/readyz', async () => {
    await database.ping();
    return { status: 'ok' };
  });
  serveHomePage(app, config, isOpen);
  servePageFiles(app, config);
  if (config.explorer) serveExplorer(app, config);
  serveReference(app);
  serveDocumentation(app);
  serveOpenApi(app, config.limits);
}
