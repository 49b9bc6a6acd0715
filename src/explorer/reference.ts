/** The REST reference: Swagger UI in a page of our own that loads nothing from other origins. It reads /openapi.json. */
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import {
  byFileName,
  contentSecurityPolicy,
  createAsset,
  createPage,
  loadLate,
  pageHead,
  serveAssets,
} from '../http/pages.ts';
import { allOf, keyBar, loadOwnAssets } from './page-files.ts';

const policy = contentSecurityPolicy({ scripts: "'self'", styles: "'self'" });

/** The official package of Swagger UI reports its installations; this one has the same files, and does not. */
const swaggerUi = (name: string) => readFile(require.resolve(`@fastify/swagger-ui/static/${name}`), 'utf8');

const files = loadLate(async () => ({
  library: {
    styles: createAsset('swagger-ui', 'css', await swaggerUi('swagger-ui.css')),
    script: createAsset('swagger-ui', 'js', await swaggerUi('swagger-ui-bundle.js')),
  },
  own: await loadOwnAssets('reference'),
}));

type Files = Awaited<ReturnType<typeof files>>;

export function serveReference(app: FastifyInstance, { graphiql }: Pick<Config, 'graphiql'>): void {
  const page = loadLate(async () => createPage(pageHtml(await files(), graphiql)));
  app.get('/reference', async (request, reply) => {
    const send = await page();
    return send(request, reply.header('content-security-policy', policy));
  });
  // Relative to this path, the page's URLs would lead elsewhere.
  app.get('/reference/', async (_request, reply) => reply.redirect('../reference', 308));
  serveAssets(app, '/reference', async () => {
    const { library, own } = await files();
    return byFileName([...Object.values(library), ...allOf(own)]);
  });
}

const pageHtml = ({ library, own }: Files, hasGraphiql: boolean): string => `${pageHead({
  title: 'REST reference – Yardgraph',
  styles: [library.styles, own.styles].map(({ fileName }) => `reference/${fileName}`),
})}
${own.modules.map(({ fileName }) => `<link rel="modulepreload" href="reference/${fileName}">`).join('\n')}
<script defer src="reference/${library.script.fileName}"></script>
<script type="module" src="reference/${own.script.fileName}"></script>
</head>
<body>
${keyBar({ current: 'reference', graphiql: hasGraphiql })}
<div id="key-notice" role="status" hidden><span></span> <button type="button"></button></div>
<main id="swagger-ui"></main>
</body>
</html>
`;
