/** The first page: what this service is, and where to go from here. It is public, and shows nothing of any workspace. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { version } from '../../package.json';
import type { Config } from '../config.ts';
import { addVary } from '../http/compression.ts';
import { acceptsHtml, contentSecurityPolicy } from '../http/page.ts';

/** Seconds for which browsers keep the icon. */
const iconAge = 86_400;

export function serveFrontPage(
  app: FastifyInstance,
  { graphiql, openAccess }: Pick<Config, 'graphiql' | 'openAccess'>,
  isOpen: () => Promise<boolean>,
): void {
  app.get('/', async (request, reply) => {
    const needsKey = openAccess === 'no' || !(await isOpen());
    addVary(reply, 'Accept');
    if (!acceptsHtml(request)) return { name: 'Yardgraph', version, needsKey, links: linksOf(graphiql) };
    return reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', policy)
      .send(pageHtml(needsKey, graphiql));
  });
  app.get('/favicon.ico', async (_request, reply) =>
    reply.type('image/svg+xml').header('cache-control', `public, max-age=${iconAge}`).send(icon),
  );
}

const linksOf = (graphiql: boolean) => ({
  graphql: '/graphql',
  ...(graphiql && { graphiql: '/graphql' }),
  reference: '/reference',
  openapi: '/openapi.json',
  health: '/healthz',
  readiness: '/readyz',
});

/** URLs are relative: a proxy may serve the service under a path of its own. */
const pageHtml = (needsKey: boolean, graphiql: boolean): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Yardgraph</title>
<link rel="icon" href="favicon.ico" type="image/svg+xml">
<style>${styles}</style>
</head>
<body>
<main>
<h1><img src="favicon.ico" alt="" width="40" height="40"> Yardgraph</h1>
<p>A company’s operational records as one linked graph: assets, asset categories, locations, projects, work orders and
transport orders.</p>
<p class="key">${needsKey ? keyNeeded : noKeyNeeded}</p>
<ul>
${graphiql ? link('graphql', 'GraphiQL', 'Query records and everything they link to, in the browser.') : ''}
${link('reference', 'REST reference', 'The operations that create and change records. Try them on the page.')}
${link('openapi.json', 'OpenAPI document', 'The REST interface, for client generators.')}
${link('healthz', 'Health', 'Whether the service runs.')}
${link('readyz', 'Readiness', 'Whether it reaches its database.')}
</ul>
<p class="version">Version ${version}</p>
</main>
</body>
</html>
`;

const keyNeeded = 'Requests need an API key. <code>yardgraph keys create</code> creates one.';
const noKeyNeeded =
  'Requests need no API key until the first one is created with <code>yardgraph keys create</code>: anyone who can reach this service can read and change its records.';

const link = (href: string, name: string, description: string): string =>
  `<li><a href="${href}">${name}</a><span>${description}</span></li>`;

const styles = `
:root { color-scheme: light dark; --text: #1b2733; --soft: #55636f; --back: #f4f6f8; --card: #fff; --line: #d5dce3; --link: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e3e9ef; --soft: #a3b0bc; --back: #11181f; --card: #1c2530; --line: #35424f; --link: #7db8f5; }
}
body { margin: 0; padding: 24px 16px; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 640px; margin: 4vh auto 0; }
h1 { display: flex; align-items: center; gap: 12px; margin: 0; font-size: 30px; }
.key { padding: 10px 14px; border-left: 4px solid var(--link); background: var(--card); }
code { font-size: 0.9em; }
ul { margin: 24px 0; padding: 0; list-style: none; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
li { display: flex; flex-wrap: wrap; gap: 0 16px; padding: 12px 16px; }
li + li { border-top: 1px solid var(--line); }
li a { flex: 0 0 180px; font-weight: 600; color: var(--link); }
li span { flex: 1 1 240px; }
li span, .version { color: var(--soft); }
`;

const policy = contentSecurityPolicy({
  scripts: "'none'",
  styles: `'sha256-${createHash('sha256').update(styles).digest('base64')}'`,
});

/** Three linked records. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#0b5cad"/>
<path d="M9 22 16 9l7 13z" fill="none" stroke="#fff" stroke-width="2"/>
<g fill="#ffc53d"><circle cx="16" cy="9" r="4"/><circle cx="9" cy="22" r="4"/><circle cx="23" cy="22" r="4"/></g>
</svg>
`;
