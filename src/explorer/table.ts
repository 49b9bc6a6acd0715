/** The records of a kind as a table: searched, filtered, in an order, page by page. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { addressOf, type Filter, type View } from './address.ts';
import { capitalized, columns, isLink, kindOf, operators, searched, typeOf, words } from './kinds.ts';
import { booleanOf, countQuery, pageQuery, whereOf } from './queries.ts';
import { type Data, download, type Viewer } from './service.ts';

/** A time as people read it: a date where it is midnight in UTC, as dates are stored. */
export function time(value: string): TemplateResult {
  const isDate = value.endsWith('T00:00:00.000Z');
  const text = isDate
    ? new Date(value).toLocaleDateString(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
    : new Date(value).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  return html`<time datetime=${value} title=${value}>${text}</time>`;
}

export const nameOf = ({ name, reference, id }: Data): string => name || reference || id;

/** A link to a record, or to what is kept elsewhere. */
export const link = (kind: string, target: Data) =>
  html`${dot(target.color)}<a href=${addressOf({ kind, id: target.id })}>${nameOf(target)}</a>`;

/** The colour of a label. */
const dot = (color: unknown) =>
  color
    ? html`<svg class="dot" viewBox="0 0 10 10" aria-hidden="true"><circle cx="5" cy="5" r="5" fill=${color} /></svg> `
    : nothing;

/** The value of a field, as it is shown. */
export function cell(type: string, value: unknown): unknown {
  if (value === null || value === undefined) return nothing;
  if (isLink(type)) return link(type, value as Data);
  if (type === 'DateTime') return time(String(value));
  if (type === 'Boolean') return value ? 'yes' : 'no';
  if (type === 'ExternalIds') return Object.entries(value).map(([key, id]) => html`<div>${key}: ${id}</div>`);
  return String(value);
}

/** The rows of a table. The first column leads to the record. */
export const rows = (
  kind: string,
  nodes: readonly Data[],
  shown: readonly string[] = [],
  head: (field: string) => unknown,
  caption: string,
) => html`
  <div class="scroll" tabindex="0" role="region" aria-label=${caption}>
    <table>
      <caption class="hidden">${caption}</caption>
      <thead><tr>${shown.map(head)}</tr></thead>
      <tbody>
        ${nodes.map(
          (node) => html`<tr>
            ${shown.map((field, index) =>
              index === 0
                ? html`<th scope="row">${link(kind, node)}</th>`
                : html`<td>${cell(typeOf(kind, field), node[field])}</td>`,
            )}
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;

export const plainHead = (field: string) => html`<th scope="col">${capitalized(words(field))}</th>`;

/** By what a column is sorted: a link to what is kept elsewhere by its ID. */
function orderField(kind: string, field: string): string | undefined {
  const { order } = kindOf(kind);
  return order.includes(field) ? field : order.find((name) => name === `${field}Id`);
}

const sortedHead = (view: View, kind: string) => (field: string) => {
  const { sort } = view;
  const by = orderField(kind, field);
  if (by === undefined) return plainHead(field);
  const direction = sort === by ? 'ascending' : sort === `-${by}` ? 'descending' : 'none';
  const next = { none: by, ascending: `-${by}`, descending: undefined }[direction];
  const href = addressOf({ ...view, sort: next, after: undefined, before: undefined });
  return html`<th scope="col" aria-sort=${direction}><a href=${href}>${capitalized(words(field))}</a></th>`;
};

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

const operatorName = (operator: string) => operatorNames[operator] ?? operator;

const describe = ({ field, operator, value }: Filter): string =>
  operator === 'isNull'
    ? `${words(field)} ${booleanOf(value) === false ? 'is set' : 'is empty'}`
    : `${words(field)} ${operatorName(operator)} ${value}`;

/** An ID of another system is found only with the name of that system. */
function searchHint(kind: string): string {
  const hasExternalIds = 'externalIds' in kindOf(kind).fields;
  return `Search ${searched(kind).map(words).join(', ')}${hasExternalIds ? ', erp:4711' : ''}`;
}

const go = (view: View) => location.assign(addressOf(view));

/** Takes what a form holds in place of sending it. */
function take(event: SubmitEvent): (name: string) => string {
  event.preventDefault();
  const sent = new FormData(event.target as HTMLFormElement);
  return (name) => String(sent.get(name) ?? '').trim();
}

function filterForm(view: View, kind: string) {
  const { filters } = kindOf(kind);
  const first = { ...view, after: undefined, before: undefined };
  const own = view.filters ?? [];
  const search = (event: SubmitEvent) => go({ ...first, search: take(event)('search') });
  const add = (event: SubmitEvent) => {
    const sent = take(event);
    const [field = '', operator = ''] = sent('condition').split('.');
    const value = sent('value') || (operator === 'isNull' ? 'true' : '');
    (event.target as HTMLFormElement).reset();
    if (value) go({ ...first, filters: [...own, { field, operator, value }] });
  };
  return html`
    <div class="tools">
      <form role="search" @submit=${search}>
        <input type="search" name="search" aria-label="Search" .value=${view.search ?? ''}
          placeholder=${searchHint(kind)} title="All words must be found.">
        <button>Search</button>
      </form>
      <details>
        <summary>Filter</summary>
        <form @submit=${add}>
          <select name="condition" aria-label="Condition">
            ${Object.entries(filters).map(
              ([field, type]) => html`<optgroup label=${capitalized(words(field))}>
                ${operators[type]?.map(
                  (operator) =>
                    html`<option value=${`${field}.${operator}`}>${words(field)} ${operatorName(operator)}</option>`,
                )}
              </optgroup>`,
            )}
          </select>
          <input name="value" aria-label="Value" placeholder="value">
          <button>Add</button>
        </form>
      </details>
    </div>
    <ul class="chips" aria-label="Filters">
      ${own.map(
        (filter) => html`<li>
          <span>${describe(filter)}</span>
          <a href=${addressOf({ ...first, filters: own.filter((other) => other !== filter) })}
            aria-label=${`Remove: ${describe(filter)}`}>×</a>
        </li>`,
      )}
    </ul>`;
}

/** A page of records, and the ways to the others and out. */
function pageOf(view: View, kind: string, { nodes, pageInfo }: Data, count: number | undefined) {
  const to = (next: Partial<View>) => addressOf({ ...view, after: undefined, before: undefined, ...next });
  const label = words(kindOf(kind).list);
  const save = () => void download(kindOf(kind).list, whereOf(view)).catch(({ message }) => alert(message));
  return html`
    ${
      nodes.length === 0
        ? html`<p>No ${label} ${view.search || view.filters?.length ? 'match' : 'are stored yet'}.</p>`
        : rows(kind, nodes, columns[kind], sortedHead(view, kind), capitalized(label))
    }
    <nav class="pages" aria-label="Pages">
      ${pageInfo.hasPreviousPage ? html`<a rel="prev" href=${to({ before: pageInfo.startCursor })}>Previous</a>` : nothing}
      <span role="status">${count === undefined ? '' : `${count.toLocaleString()} ${count === 1 ? words(kind) : label}`}</span>
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
    return html`${filterForm(view, kind)}${page ? pageOf(view, kind, page, count?.totalCount) : nothing}`;
  },
};
