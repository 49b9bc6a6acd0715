/**
 * Records as tables. How values and links are shown, in tables and elsewhere; and all records of a kind: searched, filtered, in an order,
 * page by page.
 */
import { html, nothing, type TemplateResult } from 'lit-html';
import { addressOf, type Filter, filterOf, textOf, type View } from './address.ts';
import {
  columns,
  inOrder,
  isLink,
  isRecord,
  kindOf,
  nameOf,
  operators,
  searched,
  title,
  typeOf,
  words,
} from './kinds.ts';
import { ascending, atMost, descending, query, rowsOf, whereOf } from './queries.ts';
import { type Data, download, type Viewer } from './service.ts';

/** A time as people read it: a date where it is midnight in UTC, as dates are stored. */
export function time(value: string): TemplateResult {
  const isDate = value.endsWith('T00:00:00.000Z');
  const style = isDate ? ({ timeZone: 'UTC' } as const) : ({ timeStyle: 'short' } as const);
  const text = new Date(value).toLocaleString(undefined, { dateStyle: 'medium', ...style });
  return html`<time datetime=${value} title=${value}>${text}</time>`;
}

/** A link to a record, or to what is kept elsewhere, with the colour of its label. */
export function link(kind: string, target: Data, text: unknown = nameOf(target)): TemplateResult {
  const { id, color } = target;
  const dot = html`<svg class="dot" viewBox="0 0 9 9" aria-hidden="true"><circle cx="5" cy="5" r="4" fill=${color} /></svg> `;
  return html`${color ? dot : nothing}<a href=${addressOf({ kind, id })}>${text}</a>`;
}

export function cell(type: string, value: unknown): unknown {
  if (value === null || value === undefined) return nothing;
  if (isLink(type)) return link(type, value as Data);
  if (type === 'DateTime') return time(String(value));
  if (type === 'Boolean') return value ? 'yes' : 'no';
  if (type === 'ExternalIds') return Object.entries(value).map(([key, id]) => html`<div>${key}: ${id}</div>`);
  return String(value);
}

type Cells = readonly unknown[];

/** A table of which the first column has the heads of the rows. */
export function tableOf(label: string, heads: Cells, rows: readonly Cells[]): TemplateResult {
  const cells = (shown: Cells) => shown.map((value) => html`<td>${value}</td>`);
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table>
      <thead><tr>${heads}</tr></thead>
      <tbody>${rows.map(([first, ...others]) => html`<tr><th scope="row">${first}</th>${cells(others)}</tr>`)}</tbody>
    </table>
  </div>`;
}

export const headOf = (field: string) => html`<th scope="col">${title(field)}</th>`;

/** A table of records. The first column leads to each. */
export function recordTable(
  kind: string,
  nodes: readonly Data[],
  label: string,
  shown = columns[kind] ?? [],
  heads: Cells = shown.map(headOf),
) {
  const [first = '', ...others] = shown;
  const shownIn = (node: Data, field: string) => cell(typeOf(kind, field), node[field]);
  // Kinds without a name begin with a time.
  const nameIn = (node: Data) => (typeOf(kind, first) === 'DateTime' && node[first] ? shownIn(node, first) : undefined);
  const rowOf = (node: Data) => [link(kind, node, nameIn(node)), ...others.map((field) => shownIn(node, field))];
  return tableOf(label, heads, nodes.map(rowOf));
}

/** The address of the first page of what is shown, with something changed. */
const firstPage = (view: View, changed: View) =>
  addressOf({ ...view, after: undefined, before: undefined, ...changed });

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

/** Goes where a form leads, in place of sending it. */
const onSubmit = (addressFor: (sent: FormData) => string) => (event: SubmitEvent) => {
  event.preventDefault();
  location.assign(addressFor(new FormData(event.target as HTMLFormElement)));
};

function searchForm(view: View, kind: string) {
  // An ID of another system is found only with the name of that system.
  const texts = [...searched(kind).map(words), ...('externalIds' in kindOf(kind).fields ? ['erp:4711'] : [])];
  const found = (sent: FormData) => firstPage(view, { search: String(sent.get('search')).trim() });
  return html`<form role="search" @submit=${onSubmit(found)}>
    <input type="search" name="search" aria-label="Search" .value=${view.search ?? ''}
      placeholder=${`Search ${texts.join(', ')}`} title="All words must be found.">
    <button>Search</button>
  </form>`;
}

/** Of times, and of numbers where these are said in other words. */
const operatorNames: Readonly<Record<string, readonly [string, string?]>> = {
  eq: ['is'],
  ne: ['is not'],
  gt: ['after', 'above'],
  gte: ['from'],
  lt: ['before', 'below'],
  lte: ['until', 'up to'],
  startsWith: ['starts with'],
  endsWith: ['ends with'],
};

function describe(kind: string, { field, operator, value }: Filter): string {
  if (operator === 'isNull') return `${words(field)} ${value === 'false' ? 'is set' : 'is empty'}`;
  const [name = operator, ofNumber = name] = operatorNames[operator] ?? [];
  const said = kindOf(kind).filters[field] === 'NumberFilter' ? ofNumber : name;
  return `${words(field)} ${said} ${value === 'true' ? 'yes' : value === 'false' ? 'no' : value}`;
}

/** Conditions that need no value, and those that need one, which is empty here. */
function conditionsOf(field: string, type = ''): readonly Filter[] {
  const valuesOf = (operator: string) => (operator === 'isNull' || type === 'BooleanFilter' ? ['true', 'false'] : ['']);
  return (operators[type] ?? []).flatMap((operator) => valuesOf(operator).map((value) => ({ field, operator, value })));
}

const inputTypes: Readonly<Record<string, string>> = { DateTimeFilter: 'date', NumberFilter: 'number' };

function filterForm(view: View, kind: string) {
  const { filters } = kindOf(kind);
  const optionOf = (condition: Filter) =>
    html`<option value=${textOf(condition)}>${describe(kind, condition)}</option>`;
  const groupOf = (field: string) =>
    html`<optgroup label=${title(field)}>${conditionsOf(field, filters[field]).map(optionOf)}</optgroup>`;
  const added = (sent: FormData) => {
    const filter = filterOf(kind, `${sent.get('condition')}${sent.get('value') ?? ''}`);
    return firstPage(view, { filters: [...(view.filters ?? []), ...(filter ? [filter] : [])] });
  };
  /** The value is entered as the field needs it, or not at all. */
  const choose = ({ target }: Event) => {
    const { value: text, form } = target as HTMLSelectElement;
    const { field = '', value } = filterOf(kind, text) ?? {};
    const input = form?.elements.namedItem('value') as HTMLInputElement;
    input.type = inputTypes[filters[field] ?? ''] ?? 'text';
    input.disabled = input.hidden = value !== '';
  };
  return html`<details>
    <summary>Filter</summary>
    <form @submit=${onSubmit(added)}>
      <select name="condition" aria-label="Condition" @change=${choose}>
        ${inOrder(kind, Object.keys(filters)).map(groupOf)}
      </select>
      <input name="value" aria-label="Value" placeholder="value" required step="any">
      <button>Add</button>
    </form>
  </details>`;
}

function chips(view: View) {
  const { kind = '', filters = [] } = view;
  const chip = (filter: Filter) => {
    const others = firstPage(view, { filters: filters.filter((other) => other !== filter) });
    return html`<li>${describe(kind, filter)} <a href=${others} aria-label=${`Remove: ${describe(kind, filter)}`}>×</a></li>`;
  };
  return html`<ul class="chips" aria-label="Filters">${filters.map(chip)}</ul>`;
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
    return [query(list, { ...page, where, orderBy }, selection), count];
  },
  // A filter that the service refuses can still be removed.
  draw(view, { count, ...data }) {
    const { kind = '' } = view;
    const page = data[kindOf(kind).list];
    return html`<div class="tools">${searchForm(view, kind)}${filterForm(view, kind)}</div>
      ${chips(view)} ${page ? pageOf(view, kind, page, count?.totalCount) : nothing}`;
  },
};
