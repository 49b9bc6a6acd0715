/** Redirects browsers to the explorer or the documentation. Others get links as JSON. */
import type { FastifyInstance } from 'fastify';
import { version } from '../../package.json';
import type { Config } from '../config.ts';
import { addVary } from '../http/compression.ts';
import { acceptsHtml } from '../http/pages.ts';

const iconLifetimeSeconds = 86_400;

export function serveHomePage(
  app: FastifyInstance,
  { graphiql, explorer, openAccess }: Pick<Config, 'graphiql' | 'explorer' | 'openAccess'>,
  isOpen: () => Promise<boolean>,
): void {
  app.get('/', async (request, reply) => {
    addVary(reply, 'Accept');
    if (acceptsHtml(request)) return reply.redirect(explorer ? 'explore' : 'documentation/README.md', 302);
    const needsKey = openAccess === 'no' || !(await isOpen());
    return { name: 'Yardgraph', version, needsKey, links: homeLinks(graphiql, explorer) };
  });
  app.get('/favicon.ico', async (_request, reply) =>
    reply.type('image/svg+xml').header('cache-control', `public, max-age=${iconLifetimeSeconds}`).send(icon),
  );
}

const homeLinks = (graphiql: boolean, explorer: boolean) => ({
  ...(explorer && { explorer: '/explore' }),
  graphql: '/graphql',
  ...(graphiql && { graphiql: '/graphql' }),
  reference: '/reference',
  documentation: '/documentation/README.md',
  openapi: '/openapi.json',
  health: '/healthz',
  readiness: '/readyz',
});

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#0b5cad"/>
<path d="M9 22 16 9l7 13z" fill="none" stroke="#fff" stroke-width="2"/>
<g fill="#ffc53d"><circle cx="16" cy="9" r="4"/><circle cx="9" cy="22" r="4"/><circle cx="23" cy="22" r="4"/></g>
</svg>
`;
