/** How values, links and tables of records are shown. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { addressOf } from './address.ts';
import { columns, isLink, nameOf, title, typeOf } from './kinds.ts';
import type { Data } from './service.ts';

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
