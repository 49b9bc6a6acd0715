/** The asset categories as a tree. What is open in it is in the address, and its levels are read when they are opened. */
import { html, nothing } from 'lit-html';
import { addressOf, type View, viewOf } from './address.ts';
import { link, nameOf } from './cells.ts';
import { treeQuery } from './queries.ts';
import type { Data, Page, Viewer } from './service.ts';

const openIn = ({ open }: View): Set<string> => new Set(open?.split(','));

function draw(view: View, { nodes, pageInfo }: Data, { refresh }: Page): unknown {
  const open = openIn(view);
  const toggle = (id: string) => {
    // What was opened a moment ago is in the address, and not on the page yet.
    const next = openIn(viewOf(location.search));
    if (!next.delete(id)) next.add(id);
    // No step of its own for the way back.
    history.replaceState(null, '', addressOf({ ...view, open: [...next].join(',') }));
    void refresh();
  };
  const toggleButton = (node: Data, count: number) => html`
    <button type="button" aria-expanded=${open.has(node.id)} aria-label=${`${count} below ${nameOf(node)}`}
      @click=${() => toggle(node.id)}>${count} ${open.has(node.id) ? '▾' : '▸'}</button>`;
  const level = (parent?: string): unknown => html`
    <ul>
      ${nodes
        .filter((node: Data) => node.parent?.id === parent)
        .map((node: Data) => {
          const count = node.children.totalCount;
          return html`<li>
            ${link('AssetCategory', node)} ${count > 0 ? toggleButton(node, count) : nothing}
            ${open.has(node.id) ? level(node.id) : nothing}
          </li>`;
        })}
    </ul>`;
  return html`${level()}${pageInfo.hasNextPage ? html`<p>There are more: close some.</p>` : nothing}`;
}

export const tree: Viewer = {
  queries: (view) => [treeQuery(view)],
  draw: (view, { assetCategories }, page) => draw(view, assetCategories, page),
};
