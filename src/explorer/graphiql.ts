/** The GraphiQL page and its files: loaded for the first browser, and kept. It loads nothing from other servers. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addVary } from '../http/compression.ts';
import {
  byFileName,
  contentSecurityPolicy,
  createAsset,
  createPage,
  loadLate,
  pageHead,
  serveAssets,
} from '../http/pages.ts';
import { allOf, keyBar, loadOwnAssets, type OwnAssets } from './page-files.ts';

/** The editor sets inline styles, and its own styles contain fonts. */
const policy = contentSecurityPolicy({
  scripts: "'self'",
  styles: "'self' 'unsafe-inline'",
  workers: "'self'",
  fonts: 'data:',
});

const page = loadLate(renderPage);

export function serveGraphiqlFiles(app: FastifyInstance): void {
  serveAssets(app, '/explorer', async () => (await page()).assets);
}

export async function sendGraphiql(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { send } = await page();
  addVary(reply, 'Accept');
  return send(request, reply.header('content-security-policy', policy));
}

/** The tabs that GraphiQL opens with: operations that run unchanged on any workspace, explained by their comments. */
export function readTabs(): { query: string; variables: string }[] {
  const folder = join(__dirname, 'tabs');
  const names = readdirSync(folder).toSorted();
  const contentOf = (name: string) => readFileSync(join(folder, name), 'utf8');
  return names.flatMap((name) => {
    if (!name.endsWith('.graphql')) return [];
    const variables = name.replace('.graphql', '.json');
    // As GraphiQL would format them.
    const json = names.includes(variables) ? JSON.stringify(JSON.parse(contentOf(variables)), null, 2) : '';
    return [{ query: contentOf(name), variables: json }];
  });
}

async function renderPage() {
  const { js, css, editorWorkerService, graphqlWorker, jsonWorker } = await import(
    '@graphql-yoga/render-graphiql/graphiql'
  );
  const library = { styles: createAsset('graphiql', 'css', css), script: createAsset('graphiql', 'js', js) };
  const own = await loadOwnAssets('graphiql');
  /** Keyed by the editor's names for them. */
  const workers = {
    editorWorkerService: createAsset('editor-worker', 'js', editorWorkerService),
    graphql: createAsset('graphql-worker', 'js', graphqlWorker),
    json: createAsset('json-worker', 'js', jsonWorker),
  };
  const urls = Object.entries(workers).map(([name, { fileName }]) => [name, `explorer/${fileName}`]);
  const options = JSON.stringify({ tabs: readTabs(), workers: Object.fromEntries(urls) }).replaceAll('<', '\\u003c');
  return {
    send: createPage(pageHtml({ library, own, options })),
    assets: byFileName([...Object.values(library), ...allOf(own), ...Object.values(workers)]),
  };
}

interface PageParts {
  readonly library: Pick<OwnAssets, 'styles' | 'script'>;
  readonly own: OwnAssets;
  readonly options: string;
}

const pageHtml = ({ library, own, options }: PageParts): string => `${pageHead({
  title: 'GraphiQL – Yardgraph',
  styles: [library.styles, own.styles].map(({ fileName }) => `explorer/${fileName}`),
})}
<script id="options" type="application/json">${options}</script>
${own.modules.map(({ fileName }) => `<link rel="modulepreload" href="explorer/${fileName}">`).join('\n')}
<script type="module" src="explorer/${own.script.fileName}"></script>
<script defer src="explorer/${library.script.fileName}"></script>
</head>
<body>
${keyBar({ current: 'graphql', graphiql: true })}
<noscript>GraphiQL needs JavaScript.</noscript>
<main id="root"></main>
</body>
</html>
`;
