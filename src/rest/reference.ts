/** Serves the OpenAPI document, and the reference: Swagger UI in a page of our own that loads nothing from other origins. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import { type Asset, byFileName, createAsset, serveAssets } from '../http/assets.ts';
import { contentSecurityPolicy } from '../http/page.ts';
import { loadLate } from '../load-late.ts';
import { openApiDocument } from './openapi/document.ts';

const policy = contentSecurityPolicy({ scripts: "'self'", styles: "'self'" });

/** The official package of Swagger UI reports its installations; this one has the same files, and does not. */
const swaggerUi = (name: string) => readFile(require.resolve(`@fastify/swagger-ui/static/${name}`), 'utf8');

const ownFile = (name: string) => readFile(join(__dirname, '../explorer', name), 'utf8');

/** The page's files, in the order in which it uses them. */
const files = loadLate(async () => ({
  styles: [
    createAsset('swagger-ui', 'css', await swaggerUi('swagger-ui.css')),
    createAsset('reference', 'css', await ownFile('reference.css')),
  ],
  scripts: [
    createAsset('swagger-ui', 'js', await swaggerUi('swagger-ui-bundle.js')),
    createAsset('reference', 'js', await ownFile('reference.js')),
  ],
}));

export function serveReference(app: FastifyInstance, { limits, graphiql }: Pick<Config, 'limits' | 'graphiql'>): void {
  const document = openApiDocument(limits);
  app.get('/openapi.json', async () => document);

  for (const path of ['/reference', '/reference/']) {
    app.get(path, async (_request, reply) =>
      reply
        .header('content-security-policy', policy)
        .type('text/html; charset=utf-8')
        .send(pageHtml(await files(), graphiql)),
    );
  }
  serveAssets(app, '/reference', async () => {
    const { styles, scripts } = await files();
    return byFileName([...styles, ...scripts]);
  });
}

interface Files {
  readonly styles: readonly Asset[];
  readonly scripts: readonly Asset[];
}

const pageHtml = ({ styles, scripts }: Files, hasGraphiql: boolean): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Yardgraph reference</title>
    <link rel="icon" href="/favicon.ico" type="image/svg+xml">
    ${styles.map(({ fileName }) => `<link rel="stylesheet" href="/reference/${fileName}">`).join('\n    ')}
  </head>
  <body>
    <nav aria-label="Yardgraph">
      <a href="/">Yardgraph</a>${hasGraphiql ? '\n      <a href="/graphql">GraphiQL</a>' : ''}
      <a href="/reference" aria-current="page">Reference</a>
    </nav>
    <div id="key-notice" role="status" hidden><span></span> <button type="button"></button></div>
    <main id="swagger-ui"></main>
    ${scripts.map(({ fileName }) => `<script src="/reference/${fileName}"></script>`).join('\n    ')}
  </body>
</html>
`;
