/** GraphiQL in the browser: the page, and what it opens with. Nothing on it is loaded from outside. */
import type { GraphiQLOptions } from 'graphql-yoga';
import { graphiqlTabs } from './graphiql-tabs.ts';

export const graphiqlOptions: GraphiQLOptions = { title: 'Yardgraph', defaultTabs: graphiqlTabs };

/** Tabs are drawn where an animation left them until the first press moves them away from under the pointer. */
const tabsStayInPlace = '<style>.graphiql-tab { transform: none !important }</style>';

let page: Promise<string> | undefined;

/** The page holds all its scripts, nine megabytes of them: made when the first browser comes, not at every start. */
export function renderGraphiql(options: GraphiQLOptions): Promise<string> {
  page ??= import('@graphql-yoga/render-graphiql').then(({ renderGraphiQL }) =>
    String(renderGraphiQL(options)).replace('</head>', `${tabsStayInPlace}</head>`),
  );
  page.catch(() => {
    page = undefined;
  });
  return page;
}
