/** The documentation as pages, each at its path in the repository, so that the links between them work as they are. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { notFound } from '../errors.ts';
import { createPage, loadLate, pageHead, type Send } from '../http/pages.ts';
import { root } from '../program.ts';
import { readStyles } from './page-files.ts';

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

/** The pages with their headings, in the order of README's table. */
const pages = loadLate(async () => {
  const readme = await readPage('README.md');
  const named = readme.slice(readme.indexOf('## Documentation')).matchAll(/\]\(([\w/-]{1,60}\.md)\)/g);
  const paths = ['README.md', ...[...named].map(([, path = '']) => path)];
  return Promise.all(paths.map(async (path) => ({ path, title: titleOf(await readPage(path)) })));
});

export function serveDocumentation(app: FastifyInstance): void {
  for (const [path, to] of [
    ['/documentation', 'documentation/README.md'],
    ['/documentation/', 'README.md'],
    // Where other services have the page of their API.
    ['/docs', 'reference'],
    ['/docs/', '../reference'],
  ] as const)
    app.get(path, async (_request, reply) => reply.redirect(to, 308));
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

const readPage = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

const titleOf = (markdown: string): string => markdown.slice('# '.length, markdown.indexOf('\n'));

async function loadPage(path: string, markdown: string): Promise<Send> {
  const { styles, policy } = await readStyles('documentation.css');
  const send = createPage(await pageHtml(path, markdown, styles));
  return (request, reply) => send(request, reply.header('content-security-policy', policy));
}

async function render(markdown: string): Promise<string> {
  const { Marked } = await import('marked');
  const sections: string[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const content = this.parser.parseInline(tokens);
        if (depth === 2) sections.push(`<li><a href="#${anchorOf(text)}">${content}</a></li>`);
        return `<h${depth} id="${anchorOf(text)}">${content}</h${depth}>\n`;
      },
    },
  });
  // Names of settings are wider than a column, and break at an underscore.
  const html = marked
    .parse(markdown, { async: false })
    .replace(/<td><code>[A-Z_]{1,60}/g, (cell) => cell.replaceAll('_', '_<wbr>'));
  if (sections.length < 4) return html;
  return html.replace('</h1>\n', (end) => `${end}<nav aria-label="On this page"><ul>${sections.join('')}</ul></nav>\n`);
}

/** As GitHub makes them of headings. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

async function pageHtml(path: string, markdown: string, styles: string): Promise<string> {
  const top = path.includes('/') ? '../../' : '../';
  const links = (await pages()).map(({ path: other, title }) => {
    const current = other === path ? ' aria-current="page"' : '';
    return `<li><a href="${top}documentation/${other}"${current}>${title}</a></li>`;
  });
  return `${pageHead(`${titleOf(markdown)} – Yardgraph documentation`, top)}
<style>${styles}</style>
</head>
<body>
<header>
<nav aria-label="Yardgraph">
<a href="${top}">Home</a>
<a href="${top}reference">REST reference</a>
<a id="to-pages" href="#pages">All pages</a>
</nav>
</header>
<main>
${await render(markdown)}
</main>
<nav id="pages" aria-label="Documentation">
<ul>
${links.join('\n')}
</ul>
</nav>
</body>
</html>
`;
}
