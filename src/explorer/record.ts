/** A record: its fields, what refers to it as tables, and its history. Or an ID of another system, with what refers to it. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { addressOf, type View } from './address.ts';
import { capitalized, columns, fieldsInOrder, foreign, isRecord, kindOf, words } from './kinds.ts';
import { filtersOf, linkOf } from './queries.ts';
import type { Data } from './service.ts';
import { cell, nameOf, plainHead, rows, time } from './table.ts';

const fieldList = (kind: string, record: Data) => html`
  <dl>
    ${fieldsInOrder(kind).map((field) => {
      const { type = '' } = kindOf(kind).fields[field] ?? {};
      if (record[field] === null || field === 'name') return nothing;
      return html`<div><dt>${capitalized(words(field))}</dt><dd>${cell(type, record[field])}</dd></div>`;
    })}
  </dl>`;

const linkedTable = (from: string, id: string, [list, kind]: readonly [string, string], page: Data) => {
  const { nodes, totalCount } = page;
  if (totalCount === 0) return nothing;
  const title = capitalized(words(list));
  const link = linkOf(list, from, kind);
  // It would be the same in all rows.
  const shown = columns[kind]?.filter((field) => field !== link);
  return html`
    <section>
      <h2>${title} <small>${totalCount.toLocaleString()}</small></h2>
      ${rows(kind, nodes, shown, plainHead, title)}
      ${totalCount > nodes.length && link ? html`<p><a href=${addressOf({ kind, filters: filtersOf(kind, link, id) })}>All ${totalCount.toLocaleString()}</a></p>` : nothing}
    </section>`;
};

const written = (value: unknown): string =>
  value === null ? 'nothing' : typeof value === 'object' ? JSON.stringify(value) : String(value);

const shown = (value: unknown) =>
  /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(String(value)) ? time(String(value)) : written(value);

/** Who has changed what, and when. */
export const changeList = (changes: readonly Data[]) => html`
  <ol class="history">
    ${changes.map(
      ({ at, action, user, message, fields }) => html`<li>
        <p>${time(at)} ${String(action).toLowerCase()}${user ? html` by ${nameOf(user)}` : nothing}${message ? html`: ${message}` : nothing}</p>
        ${
          action === 'UPDATED'
            ? html`<ul>
                ${fields
                  .filter(({ field }: Data) => field !== 'updatedAt')
                  .map(
                    ({ field, before, after }: Data) =>
                      html`<li>${words(field)}: <del>${shown(before)}</del> <ins>${shown(after)}</ins></li>`,
                  )}
              </ul>`
            : nothing
        }
      </li>`,
    )}
  </ol>`;

/** `editable` puts what changes the fields around them. */
export function record(
  { kind = '', id = '' }: View,
  found: Data | null,
  editable = (_record: Data, shown: TemplateResult) => shown,
) {
  if (!found) return html`<p>There is no ${words(kind)} with the ID ${id} in this workspace.</p>`;
  const { pages } = foreign[kind] ?? kindOf(kind);
  return html`
    <p class="kind">${capitalized(words(kind))}</p>
    <h1>${nameOf(found)}</h1>
    ${isRecord(kind) ? editable(found, fieldList(kind, found)) : html`<p>Kept in another system. This service has what refers to it.</p>`}
    ${Object.entries(pages).map((list) => linkedTable(kind, id, list, found[list[0]]))}
    ${found.history ? html`<section><h2>History</h2>${changeList(found.history.nodes)}</section>` : nothing}`;
}
