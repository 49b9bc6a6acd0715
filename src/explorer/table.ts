/** All records of a kind: searched, filtered, in an order, page by page. */
import { html, nothing } from 'lit-html';
import { addressOf, type View } from './address.ts';
import { columnMenu, columnsOf } from './columns.ts';
import './bulk.ts';
import { facetQueries, facets, facetsButton } from './facets.ts';
import { chips, filterForm, filterNames, firstPage, searchForm } from './filters.ts';
import { newAddress } from './form.ts';
import { kindOf, title, words } from './kinds.ts';
import { ascending, atMost, descending, query, rowsOf, whereOf } from './queries.ts';
import { type Data, download, type Viewer } from './service.ts';
import { button, headOf, notice, recordTable } from './values.ts';

/** The head of a column leads to the table in its order, then in the opposite one, then in that of the creation. */
function sortingHead(view: View, field: string, classes: string) {
  const { order } = kindOf(view.kind);
  const by = [field, `${field}Id`].find((name) => order.includes(name));
  if (by === undefined) return headOf(field, classes);
  const direction = view.sort === by ? 'ascending' : view.sort === `-${by}` ? 'descending' : 'none';
  const sort = { none: by, ascending: `-${by}`, descending: undefined }[direction];
  return html`<th scope="col" class=${classes} aria-sort=${direction}>
    <a href=${firstPage(view, { sort })}>${title(field)}${{ ascending: ' ↑', descending: ' ↓', none: '' }[direction]}</a>
  </th>`;
}

const pageSize = () => atMost(50);

/** The first and last number of a page, such as `51–100`. An address with a cursor alone has no number. */
function rangeOf({ page = '', after, before }: View, { nodes, pageInfo }: Data, total?: number): string | undefined {
  const { hasPreviousPage, hasNextPage } = pageInfo;
  const isFirst = !hasPreviousPage || (after ?? before) === undefined;
  const last = hasNextPage ? undefined : total;
  const start = isFirst ? 1 : last ? last - nodes.length + 1 : (Number.parseInt(page, 10) - 1) * pageSize() + 1;
  if (!(start > 0)) return undefined;
  return [start, start + nodes.length - 1].map((number) => number.toLocaleString()).join('–');
}

function noteOf(view: View, { count, ...data }: Data): string {
  const shown = data[kindOf(view.kind).list];
  const total: number | undefined = count?.totalCount;
  if (!shown || shown.nodes.length === 0) return total?.toLocaleString() ?? '';
  const range = rangeOf(view, shown, total) ?? shown.nodes.length.toLocaleString();
  if (total === undefined) return range;
  return shown.nodes.length === total ? total.toLocaleString() : `${range} of ${total.toLocaleString()}`;
}

function pageOf(view: View, shown: Data, data: Data, isPickable: boolean) {
  const { kind = '', page } = view;
  const { hasPreviousPage, startCursor, hasNextPage, endCursor } = shown.pageInfo;
  const number = Number.parseInt(page ?? '1', 10) || undefined;
  const way = (rel: string, text: string, step: number, cursor: View) => html`<a class="button" rel=${rel}
    href=${firstPage(view, { ...cursor, page: number === undefined ? number : String(Math.max(1, number + step)) })}>${text}</a>`;
  const pages = html`<nav class="pages row" aria-label="Pages">
    <small>${noteOf(view, data)}</small> <span class="end"></span>
    ${hasPreviousPage ? way('prev', 'Previous', -1, { before: startCursor }) : nothing}
    ${hasNextPage ? way('next', 'Next', 1, { after: endCursor }) : nothing}
  </nav>`;
  return html`
    ${recordTable(kind, shown.nodes, title(kindOf(kind).list), {
      fields: columnsOf(view),
      head: (field, classes) => sortingHead(view, field, classes),
      isPickable,
    })}
    ${hasPreviousPage || hasNextPage ? pages : nothing}`;
}

function emptyPage({ kind = '', search, filters }: View, mayWrite: boolean) {
  const list = words(kindOf(kind).list);
  if (search || filters?.length)
    return notice(`No ${list} match`, html`<a class="button" href=${addressOf({ kind })}>Remove all conditions</a>`);
  return notice(`No ${list} are stored yet`, mayWrite ? button('Import a file', () => chooseFiles(kind)) : nothing);
}

export async function importFiles(kind: string | undefined, list: Iterable<File>): Promise<void> {
  // The list is empty once the event is over.
  const files = [...list];
  const { openImport } = await import('./import.js');
  openImport(kind, files);
}

export function chooseFiles(kind: string): void {
  const input = Object.assign(document.createElement('input'), { type: 'file', multiple: true });
  input.onchange = () => void importFiles(kind, input.files ?? []);
  input.click();
}

function orderOf({ kind = '', sort }: View): object[] | undefined {
  if (sort === undefined) return undefined;
  const field = sort.replace('-', '');
  const direction = sort.startsWith('-') ? descending : ascending;
  return [{ [field]: kindOf(kind).order.includes(`${field}Id`) ? { name: direction } : direction }];
}

export const table: Viewer = {
  queries(view, data) {
    const { kind = '', before, after } = view;
    const { list } = kindOf(kind);
    const [where, orderBy] = [whereOf(view), orderOf(view)];
    const page = before === undefined ? { first: pageSize(), after } : { last: pageSize(), before };
    const selection = `${rowsOf(kind, columnsOf(view))} pageInfo { hasPreviousPage hasNextPage startCursor endCursor }`;
    // The count is read by itself: all that match are read for it.
    const count = `count: ${query(list, { first: 0, where }, 'totalCount')}`;
    const rows = [...filterNames(view), query(list, { ...page, where, orderBy }, selection)].join('\n  ');
    return [rows, count, ...facetQueries(view, data)];
  },
  note: noteOf,
  actions(view, _, { mayWrite }) {
    const { kind = '' } = view;
    const { list } = kindOf(kind);
    const save = () => void download(list, whereOf(view)).catch(({ message }) => alert(message));
    return html`${columnMenu(view)} ${button('CSV', save, 'bare wide')}
      ${mayWrite ? button('Import', () => chooseFiles(kind), 'wide') : nothing}
      ${mayWrite ? html`<a class="button primary" href=${newAddress(kind, view.filters)}>New ${words(kind)}</a>` : nothing}`;
  },
  // A filter that the service refuses can still be removed.
  draw(view, data, page) {
    const { mayWrite } = page;
    const { kind = '' } = view;
    const shown = data[kindOf(kind).list];
    const number = columnsOf(view).length;
    return html`<div class="tools row">
        ${searchForm(view, kind)} ${chips(view, data)} ${filterForm(view)} ${facetsButton(view, data)}
        <label class="row end switch"><input type="checkbox"> All ${number} columns</label>
      </div>
      ${shown?.nodes.length === 0 ? emptyPage(view, mayWrite) : nothing}
      ${shown?.nodes.length > 0 ? html`<div class="beside"><div>${pageOf(view, shown, data, mayWrite)}</div>${facets(view, data)}</div>` : nothing}
      ${mayWrite ? html`<bulk-bar class="save bulk row" .options=${{ kind, page }}></bulk-bar>` : nothing}`;
  },
};
