/** All records of a kind: searched, filtered, in an order, page by page. */
import { html, nothing } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { addressOf, type View, viewOf } from './address.ts';
import { bulkBar, drawBulkBar, pickRange, pressInRow } from './bulk.ts';
import { chips, facetQueries, facets, filterForm, filterNames, firstPage } from './filters.ts';
import { chooseFiles } from './imports.ts';
import { columns, inOrder, kindOf, title, words } from './kinds.ts';
import { ascending, atMost, descending, filterGroups, query, rowsOf, whereOf } from './queries.ts';
import { searchForm } from './search.ts';
import { type Data, download, type Viewer } from './service.ts';
import { keepColumns } from './storage.ts';
import { button, headOf, newLink, notice, recordTable } from './values.ts';

/** As many columns as fit beside the facets into a window of 1280 pixels. */
const shownFirst = (fields: readonly string[]) => fields.slice(0, 5);

/** The first column leads to the record, and stays. */
function columnsOf({ kind = '', columns: chosen }: View): readonly string[] {
  const all = columns[kind] ?? [];
  const fields = chosen?.split(',').filter((field) => Object.hasOwn(kindOf(kind).fields, field));
  return [...new Set([...all.slice(0, 1), ...(fields ?? shownFirst(all))])];
}

/** Adds, removes or moves a column of the address, which the table may not show yet. */
function changeColumn(field: string, step?: number): void {
  const view = viewOf(location.search);
  const [, ...fields] = columnsOf(view);
  const [at, others] = [fields.indexOf(field), fields.filter((other) => other !== field)];
  const toggled = at < 0 ? [...fields, field] : others;
  const changed = step === undefined ? toggled : others.toSpliced(Math.max(0, at + step), 0, field);
  showColumns(view, changed.join(',') || 'none');
}

function showColumns(view: View, columns?: string): void {
  keepColumns(view.kind ?? '', columns);
  location.assign(addressOf({ ...view, view: undefined, columns }));
}

function columnMenu(view: View) {
  const { kind = '' } = view;
  const [first, ...shown] = columnsOf(view);
  const hidden = inOrder(kind, Object.keys(kindOf(kind).fields)).filter((field) => ![first, ...shown].includes(field));
  const row = (field: string) => {
    const mover = (way: string, sign: string, step: number) =>
      html`<button type="button" class="bare" id=${`${way}-${field}`} aria-label=${`Move ${title(field)} ${way}`} @click=${() => changeColumn(field, step)}>${sign}</button>`;
    const isShown = shown.includes(field);
    return html`<li class="row">
      <label class="row"><input type="checkbox" id=${`column-${field}`} .checked=${live(isShown)} @change=${() => changeColumn(field)}> ${title(field)}</label>
      ${isShown ? html`<span class="end">${mover('up', '▴', -1)} ${mover('down', '▾', 1)}</span>` : nothing}
    </li>`;
  };
  return html`<button type="button" class="bare" popovertarget="columns">Columns</button>
    <div id="columns" class="floats pad" popover>
      <ul aria-label="Columns">${[...shown, ...hidden].map(row)}</ul>
      ${button('Reset', () => showColumns(view))}
    </div>`;
}

/** The head of a column leads to the table in its order, then in the opposite one, then in that of the creation. */
const sortingHead = (view: View) => (field: string, classes: string) => {
  const { order } = kindOf(view.kind);
  const by = [field, `${field}Id`].find((name) => order.includes(name));
  if (by === undefined) return headOf(field, classes);
  const direction = view.sort === by ? 'ascending' : view.sort === `-${by}` ? 'descending' : 'none';
  const sort = { none: by, ascending: `-${by}`, descending: undefined }[direction];
  return html`<th scope="col" class=${classes} aria-sort=${direction}>
    <a href=${firstPage(view, { sort })}>${title(field)}${{ ascending: ' ↑', descending: ' ↓', none: '' }[direction]}</a>
  </th>`;
};

/** A printed table has as many rows as the service allows, up to a thousand. */
const pageSize = ({ view }: View): number => atMost(view === 'print' ? 1_000 : 50);

/** The numbers of the records of a page, such as `51–100 of 19,481`, and of all where conditions leave some out. */
function noteOf(view: View, { nodes, pageInfo }: Data, { count, all = count }: Data): string {
  const start = pageInfo.hasPreviousPage ? (Number(view.page ?? 1) - 1) * pageSize(view) + 1 : 1;
  const range = [start, start + nodes.length - 1].map((number) => number.toLocaleString()).join('–');
  const shown = nodes.length === count?.totalCount ? [] : [nodes.length > 0 ? range : '0'];
  const totals = new Set<number | undefined>([count?.totalCount, all?.totalCount]);
  return [...shown, ...[...totals].flatMap((total) => total?.toLocaleString() ?? [])].join(' of ');
}

function pageOf(view: View, shown: Data, note: string, isPickable: boolean) {
  const { kind = '', page = 1 } = view;
  const { hasPreviousPage, startCursor, hasNextPage, endCursor } = shown.pageInfo;
  const way = (rel: string, text: string, step: number, cursor: View) => html`<a class="button" rel=${rel}
    href=${firstPage(view, { view: view.view, page: String(Number(page) + step), ...cursor })}>${text}</a>`;
  const pages = html`<nav class="pages row pad" aria-label="Pages">
    <small>${note}</small> <span class="end"></span>
    ${hasPreviousPage ? way('prev', 'Previous', -1, { before: startCursor }) : nothing}
    ${hasNextPage ? way('next', 'Next', 1, { after: endCursor }) : nothing}
  </nav>`;
  return html`
    ${recordTable(kind, shown.nodes, title(kindOf(kind).list), { fields: columnsOf(view), head: sortingHead(view), isPickable })}
    ${hasPreviousPage || hasNextPage ? pages : nothing}`;
}

function emptyPage({ kind = '', search, filters }: View, mayWrite: boolean, all: Data | undefined) {
  const list = words(kindOf(kind).list);
  if (all?.totalCount !== 0 && (search || filters?.length))
    return notice(`No ${list} match`, html`<a class="button" href=${addressOf({ kind })}>Remove all conditions</a>`);
  const entries = html`${button('Import a file', () => chooseFiles(kind))} ${statusLink(kind)}`;
  return notice(`No ${list} are stored yet`, mayWrite ? entries : nothing);
}

/** Leads to the label of a new status: without one, forms have no status to choose. */
export function statusLink(kind: string) {
  const address = addressOf({ kind: 'Status', id: `status-${Date.now().toString(36)}`, view: 'edit' });
  return 'status' in kindOf(kind).fields ? html`<a class="button" href=${address}>Name a status</a>` : nothing;
}

function orderOf({ kind = '', sort }: View): object[] | undefined {
  if (sort === undefined) return undefined;
  const field = sort.replace('-', '');
  const direction = sort.startsWith('-') ? descending : ascending;
  return [{ [field]: kindOf(kind).order.includes(`${field}Id`) ? { name: direction } : direction }];
}

function tableActions(view: View, mayWrite: boolean) {
  const { kind = '', filters = [] } = view;
  const save = (isForExcel: boolean) => () =>
    void download(kindOf(kind).list, whereOf(view), isForExcel).catch(({ message }) => alert(message));
  // A new record has one value of each.
  const given = filterGroups(filters).flatMap((group) => (group.length === 1 ? group : []));
  return html`<button type="button" class="bare narrow" popovertarget="actions">More</button>
    <div id="actions" class="floats pad actions" popover>
      ${columnMenu(view)} ${button('CSV', save(false), 'bare')} ${button('For Excel', save(true), 'bare')}
      <a class="button bare" .style=${'text-align: center'} href=${firstPage(view, { view: 'print' })}>Print</a>
      ${mayWrite ? button('Import', () => chooseFiles(kind)) : nothing}
    </div>
    ${mayWrite ? newLink(kind, given) : nothing}`;
}

export const table: Viewer = {
  queries(view, data) {
    const { kind = '', before, after } = view;
    const { list } = kindOf(kind);
    const [where, orderBy] = [whereOf(view), orderOf(view)];
    const page = before === undefined ? { first: pageSize(view), after } : { last: pageSize(view), before };
    const selection = `${rowsOf(kind, columnsOf(view))} pageInfo { hasPreviousPage hasNextPage startCursor endCursor }`;
    // The count is read by itself: all that match are read for it.
    const all = where ? `\n  all: ${query(list, { first: 0 }, 'totalCount')}` : '';
    const count = `count: ${query(list, { first: 0, where }, 'totalCount')}${all}`;
    const rows = [...filterNames(view), query(list, { ...page, where, orderBy }, selection)].join('\n  ');
    return [rows, count, ...facetQueries(view, data)];
  },
  // A filter that the service refuses can still be removed.
  draw(view, data, page) {
    const { kind = '', search } = view;
    const mayWrite = page.mayWrite(kind);
    const { list } = kindOf(kind);
    const shown = data[list];
    const note = shown ? noteOf(view, shown, data) : '';
    const narrowing = facets(view, data);
    const narrow = html`<button type="button" class="bare narrow" popovertarget="facets">Narrow down</button>`;
    const searching = searchForm(words(list), (search) => firstPage(view, { search }), search);
    const part = `Printed are the records ${note}: filter the table, or print the next page, too.`;
    const content = html`<div class="tools row">
        <div .style=${'flex: 1 1 150px; max-width: 250px'}>${searching}</div>
        ${filterForm(view)} ${narrowing ? narrow : nothing} ${chips(view, data)}
        <label class="row end phone"><input type="checkbox"> All ${columnsOf(view).length} columns</label>
      </div>
      ${view.view === 'print' && shown?.pageInfo.hasNextPage ? html`<p role="status">${part}</p>` : nothing}
      ${shown?.nodes.length === 0 ? emptyPage(view, mayWrite, data.all) : nothing}
      ${shown?.nodes.length > 0 ? html`<div class="beside" @click=${pickRange} @change=${() => drawBulkBar(kind, page)} @keydown=${pressInRow}><div>${pageOf(view, shown, note, mayWrite)}</div>${narrowing}</div>` : nothing}
      ${mayWrite ? bulkBar(view, page) : nothing}`;
    return { title: title(list), note, actions: tableActions(view, mayWrite), content };
  },
};
