/** The side bar: the kinds with the numbers of their records, the pages of developers, and whose key it is. */
import { html, nothing } from 'lit-html';
import { addressOf, homeOf, type View } from './address.ts';
import { kindNames, kindOf, title } from './kinds.ts';
import { query } from './queries.ts';
import type { Data } from './service.ts';

export const countsQuery = kindNames.map((kind) => query(kindOf(kind).list, { first: 0 }, 'totalCount')).join('\n  ');

export function sideBar({ kind, search, view }: View, counts: Data, viewer: string) {
  const link = (to: string | undefined, text: string) => {
    const count: number | undefined = counts[kindOf(to).list]?.totalCount;
    // The name of a link does not change with every record.
    return html`<a href=${addressOf(homeOf(to))} aria-current=${kind === to && (kind || !(search || view)) ? 'page' : nothing}>${text}
      <small aria-hidden="true">${to && count?.toLocaleString()}</small></a>`;
  };
  const other = (name: string) =>
    html`<a href=${addressOf({ view: name })} aria-current=${!kind && view === name ? 'page' : nothing}>${title(name)}</a>`;
  const { graphiql } = document.body.dataset;
  return html`
    <a href="explore"><img src="favicon.ico" width="20" height="30" alt=""> <b>Yardgraph</b></a>
    ${link(undefined, 'Overview')}
    <h2>Records</h2>
    ${kindNames.map((name) => link(name, title(kindOf(name).list)))}
    ${other('imports')} ${other('deleted')}
    <h2>For developers</h2>
    ${graphiql === 'on' ? html`<a href="graphql">GraphiQL</a>` : nothing}
    <a href="reference">REST reference</a>
    <a href="documentation/README.md">Documentation</a>
    <small id="viewer">${viewer}</small>`;
}
