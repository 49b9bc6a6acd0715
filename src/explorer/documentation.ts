/** The documentation as pages, each at its path in the repository, so that the links between them work as they are. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { notFound } from '../errors.ts';
import { createPage, type Send } from '../http/assets.ts';
import { contentSecurityPolicy, pageHead, styleSource } from '../http/page.ts';
import { loadLate } from '../load-late.ts';
import { root } from '../program.ts';
import { readOwnFile } from './own-files.ts';

const types: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.graphql': 'text/plain; charset=utf-8',
  '': 'text/plain; charset=utf-8',
};

/** Only these can be requested: no path of a request reaches the file system. */
const files = loadLate(async () => {
  const folder = join(root, 'docs');
  // Some run a copy of `dist` alone.
  if (!existsSync(folder)) return new Map<string, () => Promise<Send>>();
  const docs = (await readdir(folder)).map((name) => `docs/${name}`);
  const paths = ['README.md', 'CHANGELOG.md', 'LICENSE', 'schema.graphql', 'client/README.md', ...docs];
  return new Map(paths.map((path) => [path, loadLate(() => load(path))]));
});

export function serveDocumentation(app: FastifyInstance): void {
  app.get('/documentation', async (_request, reply) => reply.redirect('documentation/README.md', 308));
  app.get<{ Params: { '*': string } }>('/documentation/*', async (request, reply) => {
    const file = (await files()).get(request.params['*']);
    if (!file) throw notFound('there is no page at this path', 'unknown path');
    const send = await file();
    return send(request, reply);
  });
}

async function load(path: string): Promise<Send> {
  const content = await readFile(join(root, path));
  if (extname(path) === '.md') return loadPage(path, content.toString());
  const type = types[extname(path)] ?? 'application/octet-stream';
  if (type.startsWith('text/')) return createPage(content.toString(), type);
  return async (_request, reply) => reply.type(type).send(content);
}

async function loadPage(path: string, markdown: string): Promise<Send> {
  const styles = await readOwnFile('documentation.css');
  const policy = contentSecurityPolicy({ scripts: "'none'", styles: styleSource(styles) });
  const send = createPage(
    pageHtml({
      path,
      title: markdown.slice('# '.length, markdown.indexOf('\n')),
      styles,
      content: await render(markdown),
    }),
  );
  return (request, reply) => send(request, reply.header('content-security-policy', policy));
}

async function render(markdown: string): Promise<string> {
  const { Marked } = await import('marked');
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
    },
  });
  return marked.parse(markdown, { async: false });
}

/** As GitHub makes them of headings. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

interface PageParts {
  readonly path: string;
  /** The heading, with which every page begins. */
  readonly title: string;
  readonly styles: string;
  readonly content: string;
}

/** URLs are relative: a proxy may serve the service under a path of its own. */
function pageHtml({ path, title, styles, content }: PageParts): string {
  const top = path.includes('/') ? '../../' : '../';
  return `${pageHead({ title: `${title} – Yardgraph documentation`, styles: [], top })}
<style>${styles}</style>
</head>
<body>
<nav aria-label="Yardgraph">
<a href="${top}">Yardgraph</a>
<a href="${top}documentation/README.md">Documentation</a>
</nav>
<main>
${content}
</main>
</body>
</html>
`;
}
