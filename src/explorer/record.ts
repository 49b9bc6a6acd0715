/** A record: its fields, what refers to it as tables, and its history. Or an ID of another system, with what refers to it. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { addressOf, type View } from './address.ts';
import { capitalized, fieldsInOrder, foreign, isRecord, kindOf, words } from './kinds.ts';
import type { Data } from './service.ts';
import { cell, nameOf, plainHeads, rows, time } from './table.ts';

const fieldList = (kind: string, record: Data) => html`
  <dl>
    ${fieldsInOrder(kind).map((field) => {
      const { type = '' } = kindOf(kind).fields[field] ?? {};
      if (record[field] === null || field === 'name') return nothing;
      return html`<div><dt>${capitalized(words(field))}</dt><dd>${cell(type, record[field])}</dd></div>`;
    })}
  </dl>`;

/** The field of the target with which records of a list refer to it, if the list can be filtered by it. */
function filterFor(list: string, from: string, target: string, id: string) {
  const { fields, filters } = kindOf(target);
  const links = Object.keys(fields).filter((field) => fields[field]?.type === from);
  const named = links.find((field) => list.toLowerCase().startsWith(field.toLowerCase().slice(0, 5))) ?? links[0] ?? '';
  const field = [`${named}Id`, named].find((name) => name in filters);
  return field === undefined ? undefined : [{ field, operator: 'eq', value: id }];
}

const linkedTable = (from: string, id: string, [list, kind]: readonly [string, string], page: Data) => {
  const { nodes, totalCount } = page;
  if (totalCount === 0) return nothing;
  const title = capitalized(words(list));
  const filters = filterFor(list, from, kind, id);
  return html`
    <section>
      <h2>${title} <small>${totalCount.toLocaleString()}</small></h2>
      ${rows(kind, nodes, plainHeads(kind), title)}
      ${totalCount > nodes.length && filters ? html`<p><a href=${addressOf({ kind, filters })}>All ${totalCount.toLocaleString()}</a></p>` : nothing}
    </section>`;
};

const written = (value: unknown): string =>
  value === null ? 'nothing' : typeof value === 'object' ? JSON.stringify(value) : String(value);

/** Who has changed what, and when. */
export const changeList = (changes: readonly Data[]) => html`
  <ol class="history">
    ${changes.map(
      ({ at, action, user, message, fields }) => html`<li>
        <p>${time(at)} ${String(action).toLowerCase()}${user ? html` by ${user.id}` : nothing}${message ? html`: ${message}` : nothing}</p>
        ${
          action === 'UPDATED'
            ? html`<ul>
                ${fields
                  .filter(({ field }: Data) => field !== 'updatedAt')
                  .map(
                    ({ field, before, after }: Data) =>
                      html`<li>${words(field)}: <del>${written(before)}</del> <ins>${written(after)}</ins></li>`,
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
