/** GraphiQL in the browser: the page, and what it opens with. Nothing on it is loaded from outside. */
import type { GraphiQLOptions } from 'graphql-yoga';
import { graphiqlTabs } from './graphiql-tabs.ts';

export const graphiqlOptions: GraphiQLOptions = { title: 'Yardgraph', defaultTabs: graphiqlTabs };

/** Tabs are drawn where an animation left them until the first press moves them away from under the pointer. */
const tabsStayInPlace = '<style>.graphiql-tab { transform: none !important }</style>';

/** The page holds all its scripts, nine megabytes of them: read when the first browser comes, not at every start. */
export async function renderGraphiql(options: GraphiQLOptions): Promise<string> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  return String(renderGraphiQL(options)).replace('</head>', `${tabsStayInPlace}</head>`);
}
