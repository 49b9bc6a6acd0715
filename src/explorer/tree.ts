/** A kind as a tree of parents. The address has the open records, and a level is read when it is opened. */
import { html, nothing } from 'lit-html';
import { addressOf, type View } from './address.ts';
import { kindOf, nameOf } from './kinds.ts';
import { ascending, atMost, namesOf, query } from './queries.ts';
import type { Data, Viewer } from './service.ts';
import { link } from './values.ts';

/** The kinds whose tree shows the number of assets there, and below. */
const hasAssets = (kind = ''): boolean => ['Location', 'AssetCategory'].includes(kind);

function draw(view: View, { nodes, pageInfo }: Data, totals: ReadonlyMap<string, number>) {
  const open = new Set(view.open?.split(','));
  const toggle = (node: Data, count: number) => {
    const next = new Set(open);
    if (!next.delete(node.id)) next.add(node.id);
    const isOpen = open.has(node.id);
    return html`<a class="chip" href=${addressOf({ ...view, open: [...next].join(',') })} aria-expanded=${isOpen}
      aria-label=${`${count} below ${nameOf(node)}`}>${count} ${isOpen ? '▾' : '▸'}</a>`;
  };
  const item = (node: Data): unknown => {
    const count = node.children.totalCount;
    const total = totals.get(node.id) ?? 0;
    return html`<li>
      ${link(view.kind ?? '', node)} ${count > 0 ? toggle(node, count) : nothing}
      ${total > 0 ? html`<small>${total.toLocaleString()} ${total === 1 ? 'asset' : 'assets'}</small>` : nothing}
      ${open.has(node.id) ? level(node.id) : nothing}
    </li>`;
  };
  const level = (parent?: string) =>
    html`<ul class="tree">${nodes.filter((node: Data) => node.parent?.id === parent).map(item)}</ul>`;
  return html`${level()}${pageInfo.hasNextPage ? html`<p>There are more: close some.</p>` : nothing}`;
}

export const tree: Viewer = {
  // The records without a parent, and the children of the open ones.
  queries({ kind, open }) {
    const levels = [{ parentId: { isNull: true } }, ...(open ? [{ parentId: { in: open.split(',') } }] : [])];
    const page = { first: atMost(1_000), where: { or: levels }, orderBy: [{ name: ascending }] };
    const children = 'parent { id } children(first: 0) { totalCount }';
    const nodes = `nodes { ${namesOf(kind ?? '')} ${children} } pageInfo { hasNextPage }`;
    const { list } = kindOf(kind);
    const totals = 'nodes { id assets(below: true, first: 0) { totalCount } }';
    // The totals are read by themselves: below some pages, there are too many records to count.
    return [query(list, page, nodes), ...(hasAssets(kind) ? [`totals: ${query(list, page, totals)}`] : [])];
  },
  draw(view, { totals, ...data }) {
    const found: readonly Data[] = totals?.nodes ?? [];
    const byId = new Map(found.map(({ id, assets }): [string, number] => [id, assets.totalCount]));
    return draw(view, data[kindOf(view.kind).list], byId);
  },
};
