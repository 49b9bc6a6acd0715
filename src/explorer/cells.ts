/** How values, links and records are shown, alone and in tables. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { addressOf } from './address.ts';
import { columns, isLink, title, typeOf } from './kinds.ts';
import type { Data } from './service.ts';

/** A time as people read it: a date where it is midnight in UTC, as dates are stored. */
export function time(value: string): TemplateResult {
  const isDate = value.endsWith('T00:00:00.000Z');
  const text = isDate
    ? new Date(value).toLocaleDateString(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
    : new Date(value).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  return html`<time datetime=${value} title=${value}>${text}</time>`;
}

export const nameOf = ({ name, reference, id }: Data): string => name || reference || id;

/** A link to a record, or to what is kept elsewhere, with the colour of its label. */
export function link(kind: string, target: Data): TemplateResult {
  const { id, color } = target;
  const dot = html`<svg class="dot" viewBox="0 0 9 9" aria-hidden="true"><circle cx="5" cy="5" r="4" fill=${color} /></svg> `;
  return html`${color ? dot : nothing}<a href=${addressOf({ kind, id })}>${nameOf(target)}</a>`;
}

/** The value of a field, as it is shown. */
export function cell(type: string, value: unknown): unknown {
  if (value === null || value === undefined) return nothing;
  if (isLink(type)) return link(type, value as Data);
  if (type === 'DateTime') return time(String(value));
  if (type === 'Boolean') return value ? 'yes' : 'no';
  if (type === 'ExternalIds') return Object.entries(value).map(([key, id]) => html`<div>${key}: ${id}</div>`);
  return String(value);
}

/** A table of which the first column has the heads of the rows. */
export const tableOf = (label: string, heads: readonly unknown[], rows: readonly (readonly unknown[])[]) => html`
  <div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table>
      <thead><tr>${heads}</tr></thead>
      <tbody>
        ${rows.map(
          ([first, ...others]) =>
            html`<tr><th scope="row">${first}</th>${others.map((shown) => html`<td>${shown}</td>`)}</tr>`,
        )}
      </tbody>
    </table>
  </div>`;

export const head = (text: string) => html`<th scope="col">${text}</th>`;

/** A table of records. The first column leads to each. */
export function recordTable(
  kind: string,
  nodes: readonly Data[],
  label: string,
  shown = columns[kind] ?? [],
  headOf: (field: string) => unknown = (field) => head(title(field)),
) {
  const [, ...others] = shown;
  const rowOf = (node: Data) => [link(kind, node), ...others.map((field) => cell(typeOf(kind, field), node[field]))];
  return tableOf(label, shown.map(headOf), nodes.map(rowOf));
}
