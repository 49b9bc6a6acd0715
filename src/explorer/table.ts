/** All records of a kind: searched, filtered, in an order, page by page. */
import { html, nothing } from 'lit-html';
import type { View } from './address.ts';
import { chips, filterForm, filterNames, firstPage, searchForm } from './filters.ts';
import { columns, isRecord, kindOf, title, typeOf, words } from './kinds.ts';
import { ascending, atMost, descending, query, rowsOf, whereOf } from './queries.ts';
import { type Data, download, type Viewer } from './service.ts';
import { headOf, recordTable } from './values.ts';

/** The head of a column leads to the table in its order, then in the opposite one, then in that of the creation. */
function sortingHead(view: View, field: string) {
  const { order } = kindOf(view.kind);
  // What is kept elsewhere is sorted by its ID.
  const by = [field, `${field}Id`].find((name) => order.includes(name));
  if (by === undefined) return headOf(field);
  const direction = view.sort === by ? 'ascending' : view.sort === `-${by}` ? 'descending' : 'none';
  const sort = { none: by, ascending: `-${by}`, descending: undefined }[direction];
  return html`<th scope="col" aria-sort=${direction}><a href=${firstPage(view, { sort })}>${title(field)}</a></th>`;
}

function pageOf(view: View, kind: string, { nodes, pageInfo }: Data, count: number | undefined) {
  const { list } = kindOf(kind);
  const { hasPreviousPage, startCursor, hasNextPage, endCursor } = pageInfo;
  const none = html`<p>No ${words(list)} ${view.search || view.filters?.length ? 'match' : 'are stored yet'}.</p>`;
  const heads = columns[kind]?.map((field) => sortingHead(view, field));
  const save = () => void download(list, whereOf(view)).catch(({ message }) => alert(message));
  const way = (rel: string, text: string, page: View) => html`<a rel=${rel} href=${firstPage(view, page)}>${text}</a>`;
  return html`
    ${nodes.length === 0 ? none : recordTable(kind, nodes, title(list), columns[kind], heads)}
    <nav class="pages" aria-label="Pages">
      ${hasPreviousPage ? way('prev', 'Previous', { before: startCursor }) : nothing}
      <span role="status">${count?.toLocaleString()} ${count === undefined ? nothing : words(count === 1 ? kind : list)}</span>
      ${hasNextPage ? way('next', 'Next', { after: endCursor }) : nothing}
      <button type="button" @click=${save}>CSV</button>
    </nav>`;
}

function orderOf({ kind = '', sort }: View): object[] | undefined {
  if (sort === undefined) return undefined;
  const field = sort.replace('-', '');
  const direction = sort.startsWith('-') ? descending : ascending;
  return [{ [field]: isRecord(typeOf(kind, field)) ? { name: direction } : direction }];
}

export const table: Viewer = {
  queries(view) {
    const { kind = '', before, after } = view;
    const { list } = kindOf(kind);
    const [where, orderBy] = [whereOf(view), orderOf(view)];
    const page = before === undefined ? { first: atMost(50), after } : { last: atMost(50), before };
    const selection = `${rowsOf(kind)} pageInfo { hasPreviousPage hasNextPage startCursor endCursor }`;
    // The count is read by itself: all that match are read for it.
    const count = `count: ${query(list, { first: 0, where }, 'totalCount')}`;
    return [[...filterNames(view), query(list, { ...page, where, orderBy }, selection)].join('\n  '), count];
  },
  // A filter that the service refuses can still be removed.
  draw(view, { count, ...data }) {
    const { kind = '' } = view;
    const page = data[kindOf(kind).list];
    return html`<div class="tools">${searchForm(view, kind)}${filterForm(view)}</div>
      ${chips(view, data)} ${page ? pageOf(view, kind, page, count?.totalCount) : nothing}`;
  },
};
