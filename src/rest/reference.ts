/** Serves the OpenAPI document, and the reference: Swagger UI in a page of our own that loads nothing from other origins. */
import { dirname, join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import { contentSecurityPolicy } from '../http/page.ts';
import { openApiDocument } from './openapi/document.ts';

const policy = contentSecurityPolicy({ scripts: "'self'", styles: "'self'" });

/** The official package of Swagger UI reports its installations; this one has the same files, and does not. */
const swaggerUi = dirname(require.resolve('@fastify/swagger-ui/static/swagger-ui.css'));

const ownAssets = join(__dirname, 'reference-assets');

const assets = ['swagger-ui.css', 'swagger-ui-bundle.js', 'reference.css', 'reference.js'];

export async function serveReference(
  app: FastifyInstance,
  { limits, graphiql }: Pick<Config, 'limits' | 'graphiql'>,
): Promise<void> {
  const document = openApiDocument(limits);
  app.get('/openapi.json', async () => document);

  const html = page(graphiql);
  for (const path of ['/reference', '/reference/']) {
    app.get(path, (_request, reply) =>
      reply.header('content-security-policy', policy).type('text/html; charset=utf-8').send(html),
    );
  }
  await app.register(fastifyStatic, { root: [ownAssets, swaggerUi], serve: false });
  for (const asset of assets) app.get(`/reference/${asset}`, (_request, reply) => reply.sendFile(asset));
}

const page = (hasGraphiql: boolean): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Yardgraph reference</title>
    <link rel="stylesheet" href="/reference/swagger-ui.css">
    <link rel="stylesheet" href="/reference/reference.css">
  </head>
  <body>
    <nav aria-label="Yardgraph">
      <a href="/">Yardgraph</a>${hasGraphiql ? '\n      <a href="/graphql">GraphiQL</a>' : ''}
      <a href="/reference" aria-current="page">Reference</a>
    </nav>
    <div id="key-notice" role="status" hidden><span></span> <button type="button"></button></div>
    <main id="swagger-ui"></main>
    <script src="/reference/swagger-ui-bundle.js"></script>
    <script src="/reference/reference.js"></script>
  </body>
</html>
`;
