/** The GraphiQL page: its scripts, its first tabs and its security policy. It loads nothing from other servers. */
import { createHash } from 'node:crypto';
import { contentSecurityPolicy } from '../http/page.ts';
import { graphiqlTabs } from './graphiql-tabs.ts';
import { loadLate } from './load-late.ts';

interface GraphiqlPage {
  readonly html: string;
  /** Content-Security-Policy: the page's own script and no other, and requests to this service only. */
  readonly policy: string;
}

/** The page contains all its scripts, nine megabytes: it is rendered for the first browser, not at every start. */
export const graphiqlPage = (isOpen: boolean): Promise<GraphiqlPage> => (isOpen ? openPage() : closedPage());

const openPage = loadLate(() => renderPage(true));
const closedPage = loadLate(() => renderPage(false));

/** If requests need a key, the headers tab has a placeholder for it. */
const keyHeader = { headers: JSON.stringify({ Authorization: 'Bearer YOUR_API_KEY' }), shouldPersistHeaders: false };

/** Animations leave tabs out of place, and the first press would move them away from under the pointer. */
const tabsStayInPlace = '<style>.graphiql-tab { transform: none !important }</style>';

async function renderPage(isOpen: boolean): Promise<GraphiqlPage> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const options = { title: 'Yardgraph', defaultTabs: graphiqlTabs, ...(!isOpen && keyHeader) };
  const html = String(renderGraphiQL(options)).replace('</head>', `${tabsStayInPlace}</head>`);
  const script = /<script>(.*?)<\/script>/s.exec(html)?.[1] ?? '';
  const hash = createHash('sha256').update(script).digest('base64');
  const policy = contentSecurityPolicy({
    scripts: `'sha256-${hash}'`,
    styles: "'unsafe-inline'",
    workers: 'blob:',
    fonts: 'data:',
  });
  return { html, policy };
}
