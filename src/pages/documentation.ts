/** A page has the path of its file in the repository: its links work unchanged. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { notFound } from '../errors.ts';
import { contentSecurityPolicy, createPage, loadOnce, pageHead, type SendPage } from '../http/pages.ts';
import { root } from '../program.ts';

const documentPolicy = contentSecurityPolicy("style-src 'self'");

/** No path of a request reaches the file system. */
const files = loadOnce(async () => {
  const folder = join(root, 'docs');
  // A copy of `dist` may run without the package.
  if (!existsSync(folder)) return new Map<string, () => Promise<SendPage>>();
  const docs = (await readdir(folder)).map((name) => `docs/${name}`);
  const paths = ['README.md', 'CHANGELOG.md', 'LICENSE', 'schema.graphql', 'client/README.md', ...docs];
  return new Map(paths.map((path) => [path, loadOnce(() => load(path))]));
});

export function serveDocumentation(app: FastifyInstance): void {
  for (const [path, to] of [
    ['/documentation', 'documentation/README.md'],
    ['/documentation/', 'README.md'],
    // Where other services have the reference of their API.
    ['/docs', 'reference'],
    ['/docs/', '../reference'],
  ] as const)
    app.get(path, async (_request, reply) => reply.redirect(to, 308));
  app.get<{ Params: { '*': string } }>('/documentation/*', async (request, reply) => {
    const file = (await files()).get(request.params['*']);
    if (!file) throw notFound('there is no page at this path', 'unknown path');
    const send = await file();
    return send(request, reply.header('content-security-policy', documentPolicy));
  });
}

async function load(path: string): Promise<SendPage> {
  const content = await readFile(join(root, path));
  switch (extname(path)) {
    case '.md':
      return createPage(await pageHtml(path, content.toString()));
    case '.png':
      return async (_request, reply) => reply.type('image/png').send(content);
    default:
      return createPage(content.toString(), 'text/plain; charset=utf-8');
  }
}

async function pageHtml(path: string, markdown: string): Promise<string> {
  const top = path.includes('/') ? '../../' : '../';
  return `${pageHead(`${titleOf(markdown)} – Yardgraph documentation`, top)}
<link rel="stylesheet" href="${top}pages/document.css">
</head>
<body>
<main>
${await render(markdown)}
</main>
<nav aria-label="Documentation">
<ul>
<li><a href="${top}">Home</a></li>
${(await pageLinks(path, top)).join('\n')}
</ul>
</nav>
</body>
</html>
`;
}

const titleOf = (markdown: string): string => markdown.slice('# '.length, markdown.indexOf('\n'));

/** In the order of README's table. */
async function pageLinks(current: string, top: string): Promise<string[]> {
  const readPage = (path: string) => readFile(join(root, path), 'utf8');
  const readme = await readPage('README.md');
  const named = readme.slice(readme.indexOf('## Documentation')).matchAll(/\]\(([\w/-]{1,60}\.md)\)/g);
  const paths = ['README.md', ...[...named].map(([, path = '']) => path)];
  return Promise.all(
    paths.map(async (path) => {
      const mark = path === current ? ' aria-current="page"' : '';
      return `<li><a href="${top}documentation/${path}"${mark}>${titleOf(await readPage(path))}</a></li>`;
    }),
  );
}

async function render(markdown: string): Promise<string> {
  const { Marked } = await import('marked');
  const sections: string[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const content = this.parser.parseInline(tokens);
        // GitHub derives the same anchors from headings.
        const anchor = text
          .toLowerCase()
          .replace(/[^\w\- ]/g, '')
          .replaceAll(' ', '-');
        if (depth === 2) sections.push(`<li><a href="#${anchor}">${content}</a></li>`);
        return `<h${depth} id="${anchor}">${content}</h${depth}>\n`;
      },
    },
  });
  const html = marked.parse(markdown, { async: false });
  if (sections.length < 4) return html;
  return html.replace('</h1>\n', (end) => `${end}<nav aria-label="On this page"><ul>${sections.join('')}</ul></nav>\n`);
}
