/** The records of a kind as a table: searched, filtered, in an order, page by page. */
import { html, nothing } from 'lit-html';
import { addressOf, type Filter, type View } from './address.ts';
import { head, recordTable } from './cells.ts';
import { columns, kindOf, operators, searched, title, words } from './kinds.ts';
import { booleanOf, countQuery, pageQuery, whereOf } from './queries.ts';
import { type Data, download, type Viewer } from './service.ts';

const sortedHead = (view: View, kind: string) => (field: string) => {
  const { order } = kindOf(kind);
  // What is kept elsewhere is sorted by its ID.
  const by = [field, `${field}Id`].find((name) => order.includes(name));
  if (by === undefined) return head(title(field));
  const direction = view.sort === by ? 'ascending' : view.sort === `-${by}` ? 'descending' : 'none';
  const next = { none: by, ascending: `-${by}`, descending: undefined }[direction];
  const href = addressOf({ ...firstPage(view), sort: next });
  return html`<th scope="col" aria-sort=${direction}><a href=${href}>${title(field)}</a></th>`;
};

const firstPage = (view: View): View => ({ ...view, after: undefined, before: undefined });

const operatorNames: Readonly<Record<string, string>> = {
  eq: 'is',
  ne: 'is not',
  gt: 'after',
  gte: 'from',
  lt: 'before',
  lte: 'until',
  isNull: 'is empty',
  startsWith: 'starts with',
  endsWith: 'ends with',
};

function describe({ field, operator, value }: Filter): string {
  if (operator === 'isNull') return `${words(field)} ${booleanOf(value) === false ? 'is set' : 'is empty'}`;
  return `${words(field)} ${operatorNames[operator] ?? operator} ${value}`;
}

/** Goes where a form leads, in place of sending it. */
const onSubmit = (viewOf: (sent: FormData) => View) => (event: SubmitEvent) => {
  event.preventDefault();
  location.assign(addressOf(viewOf(new FormData(event.target as HTMLFormElement))));
};

function searchForm(view: View, kind: string) {
  // An ID of another system is found only with the name of that system.
  const texts = [...searched(kind).map(words), ...('externalIds' in kindOf(kind).fields ? ['erp:4711'] : [])];
  return html`
    <form role="search" @submit=${onSubmit((sent) => ({ ...firstPage(view), search: String(sent.get('search')).trim() }))}>
      <input type="search" name="search" aria-label="Search" .value=${view.search ?? ''}
        placeholder=${`Search ${texts.join(', ')}`} title="All words must be found.">
      <button>Search</button>
    </form>`;
}

function filterForm(view: View, kind: string) {
  const added = (sent: FormData): View => {
    const [field = '', operator = ''] = String(sent.get('condition')).split('.');
    const value = String(sent.get('value')).trim() || (operator === 'isNull' ? 'true' : '');
    return value ? { ...firstPage(view), filters: [...(view.filters ?? []), { field, operator, value }] } : view;
  };
  const optionsOf = ([field, type]: [string, string]) => html`
    <optgroup label=${title(field)}>
      ${operators[type]?.map(
        (name) => html`<option value=${`${field}.${name}`}>${words(field)} ${operatorNames[name] ?? name}</option>`,
      )}
    </optgroup>`;
  return html`
    <details>
      <summary>Filter</summary>
      <form @submit=${onSubmit(added)}>
        <select name="condition" aria-label="Condition">${Object.entries(kindOf(kind).filters).map(optionsOf)}</select>
        <input name="value" aria-label="Value" placeholder="value">
        <button>Add</button>
      </form>
    </details>`;
}

function chips(view: View) {
  const { filters = [] } = view;
  const without = (filter: Filter) =>
    addressOf({ ...firstPage(view), filters: filters.filter((other) => other !== filter) });
  return html`
    <ul class="chips" aria-label="Filters">
      ${filters.map(
        (filter) =>
          html`<li>${describe(filter)} <a href=${without(filter)} aria-label=${`Remove: ${describe(filter)}`}>×</a></li>`,
      )}
    </ul>`;
}

/** A page of records, and the ways to the others and out. */
function pageOf(view: View, kind: string, { nodes, pageInfo }: Data, count: number | undefined) {
  const { list } = kindOf(kind);
  const to = (next: Partial<View>) => addressOf({ ...firstPage(view), ...next });
  const save = () => void download(list, whereOf(view)).catch(({ message }) => alert(message));
  return html`
    ${
      nodes.length === 0
        ? html`<p>No ${words(list)} ${view.search || view.filters?.length ? 'match' : 'are stored yet'}.</p>`
        : recordTable(kind, nodes, title(list), columns[kind], sortedHead(view, kind))
    }
    <nav class="pages" aria-label="Pages">
      ${pageInfo.hasPreviousPage ? html`<a rel="prev" href=${to({ before: pageInfo.startCursor })}>Previous</a>` : nothing}
      <span role="status">${count === undefined ? '' : `${count.toLocaleString()} ${words(count === 1 ? kind : list)}`}</span>
      ${pageInfo.hasNextPage ? html`<a rel="next" href=${to({ after: pageInfo.endCursor })}>Next</a>` : nothing}
      <button type="button" @click=${save}>CSV</button>
    </nav>`;
}

export const table: Viewer = {
  queries: (view) => [pageQuery(view), countQuery(view)],
  // A filter that the service refuses can still be removed.
  draw(view, { count, ...data }) {
    const { kind = '' } = view;
    const page = data[kindOf(kind).list];
    return html`
      <div class="tools">${searchForm(view, kind)}${filterForm(view, kind)}</div>
      ${chips(view)}
      ${page ? pageOf(view, kind, page, count?.totalCount) : nothing}`;
  },
};
