/** The side bar: the kinds with the numbers of their records, the pages of developers, and whose key it is. */
import { html, nothing } from 'lit-html';
import { addressOf, homeOf, type View } from './address.ts';
import { isFinished, kindNames, kindOf, title } from './kinds.ts';
import { atMost, query, statusLabels, systems, whereOf } from './queries.ts';
import { type Data, read } from './service.ts';
import { keptColumns } from './storage.ts';

/** Reads the IDs of finished statuses, and the systems of which the latest records have IDs. */
async function readStatusesAndSystems(): Promise<readonly string[]> {
  const withIds = kindNames.map(kindOf).filter(({ fields }) => fields.externalIds);
  const queries = withIds.map(({ list }) => query(list, { last: atMost(100) }, 'nodes { externalIds }'));
  const { labels, ...latest } = await read(...queries, query('labels', statusLabels, 'nodes { key name }'));
  for (const { externalIds } of Object.values(latest).flatMap(({ nodes }) => nodes))
    for (const system of Object.keys(externalIds ?? {})) systems.add(system);
  return labels.nodes.filter(isFinished).map(({ key }: Data) => key.replace('STATUS:', ''));
}

/** Reads the numbers of records in the tables to which the links lead. */
export async function readCounts(): Promise<Data> {
  const finished = await readStatusesAndSystems();
  const counted = kindNames.map((kind) =>
    query(kindOf(kind).list, { first: 0, where: whereOf(homeOf(kind, finished)) }, 'totalCount'),
  );
  return { finished, ...(await read(...counted)) };
}

export function sideBar({ kind, search, view }: View, { finished, ...counts }: Data, viewer: string) {
  const columns = keptColumns();
  const link = (to: View, text: string, count?: number) => {
    const isCurrent = kind === to.kind && (kind || (view === to.view && !search));
    // The name of a link does not change with every record.
    return html`<a href=${addressOf(to)} aria-current=${isCurrent ? 'page' : nothing}>${text}
      <small aria-hidden="true">${count?.toLocaleString()}</small></a>`;
  };
  return html`
    <a href="explore"><img src="favicon.ico" width="20" height="30" alt=""> <b>Yardgraph</b></a>
    ${link({}, 'Overview')}
    <h2>Records</h2>
    ${kindNames.map((kind) => link({ ...homeOf(kind, finished), columns: columns[kind] }, title(kindOf(kind).list), counts[kindOf(kind).list]?.totalCount))}
    ${['imports', 'deleted'].map((name) => link({ view: name }, title(name)))}
    <h2>For developers</h2>
    ${document.body.dataset.graphiql === 'on' ? html`<a href="graphql">GraphiQL</a>` : nothing}
    <a href="reference">REST reference</a>
    <a href="documentation/README.md">Documentation</a>
    <div id="viewer"><small>${viewer}</small></div>`;
}
