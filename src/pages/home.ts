/** The home page: what this service is, and where to go from here. It is public, and shows nothing of any workspace. */
import type { FastifyInstance } from 'fastify';
import { version } from '../../package.json';
import type { Config } from '../config.ts';
import { addVary } from '../http/compression.ts';
import { acceptsHtml, pageHead } from '../http/pages.ts';
import { program } from '../program.ts';
import { documentPolicy } from './documentation.ts';

/** Seconds for which browsers keep the icon. */
const iconAge = 86_400;

export function serveHomePage(
  app: FastifyInstance,
  { graphiql, explorer, openAccess }: Pick<Config, 'graphiql' | 'explorer' | 'openAccess'>,
  isOpen: () => Promise<boolean>,
): void {
  app.get('/', async (request, reply) => {
    const needsKey = openAccess === 'no' || !(await isOpen());
    addVary(reply, 'Accept');
    if (!acceptsHtml(request)) return { name: 'Yardgraph', version, needsKey, links: linksOf(graphiql, explorer) };
    if (explorer) return reply.redirect('explore', 302);
    return reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', documentPolicy)
      .send(pageHtml(needsKey, graphiql));
  });
  app.get('/favicon.ico', async (_request, reply) =>
    reply.type('image/svg+xml').header('cache-control', `public, max-age=${iconAge}`).send(icon),
  );
}

const linksOf = (graphiql: boolean, explorer: boolean) => ({
  ...(explorer && { explorer: '/explore' }),
  graphql: '/graphql',
  ...(graphiql && { graphiql: '/graphql' }),
  reference: '/reference',
  documentation: '/documentation/README.md',
  openapi: '/openapi.json',
  health: '/healthz',
  readiness: '/readyz',
});

const pageHtml = (needsKey: boolean, graphiql: boolean): string => `${pageHead('Yardgraph')}
<link rel="stylesheet" href="pages/document.css">
</head>
<body>
<main>
<h1><img src="favicon.ico" alt="" width="32" height="32"> Yardgraph</h1>
<p>A company’s operational records as one linked graph: assets, asset categories, locations, projects, work orders and
transport orders.</p>
<p>${needsKey ? keyNeeded : noKeyNeeded}</p>
<table>
${graphiql ? link('graphql', 'GraphiQL', 'Query and change records and everything they link to, in the browser.') : ''}
${link('reference', 'REST reference', 'The operations that create and change records. Try them on the page.')}
${link('documentation/README.md', 'Documentation', 'How to start, and a guide for each reader, as of this version.')}
${link('openapi.json', 'OpenAPI document', 'The REST interface, for client generators.')}
${link('healthz', 'Health', 'Whether the service runs.')}
${link('readyz', 'Readiness', 'Whether it reaches its database.')}
</table>
<p>Version ${version}. In a checkout, <code>npm start</code> starts the service, and <code>npm run demo</code> one
with records to look around; where the package is installed, <code>yardgraph serve</code> does.</p>
</main>
</body>
</html>
`;

const keyNeeded = `Requests need an API key. <code>${program} keys create --workspace default --user admin</code> creates one
that may read and write.`;
const noKeyNeeded =
  'Requests need no API key until the first one is <a href="documentation/README.md#keys">created</a>: anyone who can reach this service can read and change its records.';

const link = (href: string, name: string, description: string): string =>
  `<tr><td><a href="${href}">${name}</a></td><td>${description}</td></tr>`;

/** Three linked records. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#0b5cad"/>
<path d="M9 22 16 9l7 13z" fill="none" stroke="#fff" stroke-width="2"/>
<g fill="#ffc53d"><circle cx="16" cy="9" r="4"/><circle cx="9" cy="22" r="4"/><circle cx="23" cy="22" r="4"/></g>
</svg>
`;
