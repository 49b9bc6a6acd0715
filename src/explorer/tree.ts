/** A kind as a tree of parents. The address has the open records, and a level is read when it is opened. */
import { html, nothing } from 'lit-html';
import { addressOf, type View } from './address.ts';
import { kindOf, nameFields, nameOf } from './kinds.ts';
import { ascending, atMost, query } from './queries.ts';
import type { Data, Viewer } from './service.ts';
import { link } from './table.ts';

function draw(view: View, { nodes, pageInfo }: Data) {
  const open = new Set(view.open?.split(','));
  const toggle = (node: Data, count: number) => {
    const next = new Set(open);
    if (!next.delete(node.id)) next.add(node.id);
    const isOpen = open.has(node.id);
    return html`<a href=${addressOf({ ...view, open: [...next].join(',') })} aria-expanded=${isOpen}
      aria-label=${`${count} below ${nameOf(node)}`}>${count} ${isOpen ? '▾' : '▸'}</a>`;
  };
  const item = (node: Data): unknown => {
    const count = node.children.totalCount;
    return html`<li>
      ${link(view.kind ?? '', node)} ${count > 0 ? toggle(node, count) : nothing}
      ${open.has(node.id) ? level(node.id) : nothing}
    </li>`;
  };
  const level = (parent?: string) =>
    html`<ul>${nodes.filter((node: Data) => node.parent?.id === parent).map(item)}</ul>`;
  return html`${level()}${pageInfo.hasNextPage ? html`<p>There are more: close some.</p>` : nothing}`;
}

export const tree: Viewer = {
  // Those without a parent, and those below the open ones.
  queries({ kind, open }) {
    const levels = [{ parentId: { isNull: true } }, ...(open ? [{ parentId: { in: open.split(',') } }] : [])];
    const page = { first: atMost(1_000), where: { or: levels }, orderBy: [{ name: ascending }] };
    const fields = nameFields(kind ?? '').join(' ');
    const selection = `nodes { ${fields} parent { id } children(first: 0) { totalCount } } pageInfo { hasNextPage }`;
    return [query(kindOf(kind).list, page, selection)];
  },
  draw: (view, data) => draw(view, data[kindOf(view.kind).list]),
};
