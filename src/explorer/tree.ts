/** A kind as a tree of parents. The address has the open records, and a level is read when it is opened. */
import { html, nothing } from 'lit-html';
import { addressOf, type View } from './address.ts';
import { countText, kindOf, nameOf, numberedName, title } from './kinds.ts';
import { ascending, atMost, namesOf, query } from './queries.ts';
import { filterOfList } from './record.ts';
import type { Data, Viewer } from './service.ts';
import { link, newLink, notice } from './values.ts';

function levels(view: View, { nodes, pageInfo }: Data, totals: readonly Data[]) {
  const open = view.open?.split(',') ?? [];
  const { field = '' } = filterOfList('assets', view.kind ?? '', 'Asset') ?? {};
  const toggle = (node: Data, count: number) => {
    const isOpen = open.includes(node.id);
    const next = isOpen ? open.filter((id) => id !== node.id) : [...open, node.id];
    return html`<a class="chip" href=${addressOf({ ...view, open: next.join(',') })} aria-expanded=${isOpen}
      aria-label=${`${count} below ${nameOf(node)}`}>${count} ${isOpen ? '▾' : '▸'}</a>`;
  };
  const item = (node: Data): unknown => {
    const count = node.children.totalCount;
    const total: number = totals.find(({ id }) => id === node.id)?.assets.totalCount ?? 0;
    return html`<li>
      <div class="row">${link(view.kind ?? '', node, numberedName(node))} ${count > 0 ? toggle(node, count) : nothing}
      ${total > 0 ? html`<small class="end"><a href=${addressOf({ kind: 'Asset', filters: [{ field, operator: 'within', value: node.id }] })}>${countText('Asset', total)}</a></small>` : nothing}</div>
      ${open.includes(node.id) ? level(node.id) : nothing}
    </li>`;
  };
  const table = html`<a class="button" href=${addressOf({ kind: view.kind })}>Table</a>`;
  if (nodes.length === 0) return notice('Nothing is stored here yet', table);
  const level = (parent?: string) =>
    html`<ul class="tree" .style=${parent ? 'padding-left: 28px' : ''}>${nodes.filter((node: Data) => node.parent?.id === parent).map(item)}</ul>`;
  return html`<div class="card pad">${level()}</div>${pageInfo.hasNextPage ? html`<p>There are more: close some.</p>` : nothing}`;
}

export const tree: Viewer = {
  // The records without a parent, and the children of the open ones.
  queries({ kind = '', open }) {
    const levels = [{ parentId: { isNull: true } }, ...(open ? [{ parentId: { in: open.split(',') } }] : [])];
    const page = { first: atMost(1_000), where: { or: levels }, orderBy: [{ name: ascending }] };
    const nodes = `nodes { ${namesOf(kind)} parent { id } children(first: 0) { totalCount } } pageInfo { hasNextPage }`;
    const { list, lists } = kindOf(kind);
    const totals = 'nodes { id assets(below: true, first: 0) { totalCount } }';
    // The totals are read by themselves: below some pages, there are too many records to count.
    return [query(list, page, nodes), ...(lists.assets ? [`totals: ${query(list, page, totals)}`] : [])];
  },
  draw(view, { totals, ...data }, { mayWrite }) {
    const { kind = '' } = view;
    const { list } = kindOf(kind);
    const actions = mayWrite(kind) ? newLink(kind) : nothing;
    return { title: title(list), actions, content: data[list] && levels(view, data[list], totals?.nodes ?? []) };
  },
};
