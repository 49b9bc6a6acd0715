/** The REST reference: Swagger UI in a page of our own, which reads /openapi.json. */
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { contentSecurityPolicy, createAsset } from '../http/pages.ts';
import { keyPage } from './page-files.ts';

/** The official package of Swagger UI reports its installations; this one has the same files, and does not. */
const swaggerUi = (name: string) => readFile(require.resolve(`@fastify/swagger-ui/static/${name}`), 'utf8');

const page = keyPage({
  name: 'reference',
  title: 'REST reference',
  path: 'reference',
  folder: 'reference',
  policy: contentSecurityPolicy("script-src 'self'; style-src 'self'"),
  load: async () => ({
    styles: createAsset('swagger-ui', 'css', await swaggerUi('swagger-ui.css')),
    script: createAsset('swagger-ui', 'js', await swaggerUi('swagger-ui-bundle.js')),
  }),
  isOwnScriptFirst: false,
  body: `<div id="key-notice" role="status" hidden><span></span> <button type="button"></button></div>
<main id="swagger-ui"></main>`,
});

export function serveReference(app: FastifyInstance, hasGraphiql: boolean): void {
  app.get('/reference', page.sender(hasGraphiql));
  // Relative to this path, the page's URLs would lead elsewhere.
  app.get('/reference/', async (_request, reply) => reply.redirect('../reference', 308));
  page.serveFiles(app);
}
