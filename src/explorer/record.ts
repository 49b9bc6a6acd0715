/** A record: its fields, what refers to it as tables, and its history. Or an ID of another system, with what refers to it. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { addressOf, type View } from './address.ts';
import { capitalized, columns, fieldsInOrder, foreign, isLink, isRecord, kindOf, words } from './kinds.ts';
import { filtersOf, linkOf, namesQuery, nextList } from './queries.ts';
import { type Data, read } from './service.ts';
import { cell, nameOf, plainHead, rows, time } from './table.ts';

const fieldList = (kind: string, record: Data) => html`
  <dl>
    ${fieldsInOrder(kind).map((field) => {
      const { type = '' } = kindOf(kind).fields[field] ?? {};
      if (record[field] === null || field === 'name') return nothing;
      return html`<div><dt>${capitalized(words(field))}</dt><dd>${cell(type, record[field])}</dd></div>`;
    })}
  </dl>`;

const linkedTable = (from: string, [list, kind]: readonly [string, string], found: Data) => {
  const { nodes: some, totalCount } = found[list];
  if (totalCount === 0) return nothing;
  const next: readonly Data[] = found[nextList(list)]?.nodes ?? [];
  const others = some.filter(({ id }: Data) => !next.some((node) => node.id === id));
  const nodes = [...next, ...others].slice(0, some.length);
  const title = capitalized(words(list));
  const link = linkOf(list, from, kind);
  // It would be the same in all rows.
  const shown = columns[kind]?.filter((field) => field !== link);
  return html`
    <section>
      <h2>${title} <small>${totalCount.toLocaleString()}</small></h2>
      ${rows(kind, nodes, shown, plainHead, title)}
      ${totalCount > nodes.length && link ? html`<p><a href=${addressOf({ kind, filters: filtersOf(kind, link, found.id) })}>All ${totalCount.toLocaleString()}</a></p>` : nothing}
    </section>`;
};

/** The type of a field of a change: of `statusId` that of the link. */
const typeOf = (kind: string, field: string): string => kindOf(kind).fields[field.replace(/Id$/, '')]?.type ?? '';

const nameKey = (field: string, id: unknown): string => `${field} ${id}`;

/** The most names that are read for a history: a query has at most as many aliases. */
const maxNames = 50;

/** Adds the names of what the links of a record led to, before its changes and after them. */
export async function withNames(kind: string, found: Data | null): Promise<Data | null> {
  const changes: readonly Data[] = found?.history?.nodes ?? [];
  const updates = changes.filter(({ action }) => action === 'UPDATED');
  const targets = new Map<string, readonly [type: string, id: string]>();
  for (const { field, before, after } of updates.flatMap(({ fields }) => fields)) {
    const type = typeOf(kind, field);
    for (const id of isLink(type) ? [before, after] : []) if (id !== null) targets.set(nameKey(field, id), [type, id]);
  }
  const asked = [...targets].slice(0, maxNames);
  if (asked.length === 0) return found;
  const names = Object.values(await read(namesQuery(asked.map(([, target]) => target))));
  return { ...found, names: Object.fromEntries(asked.map(([key], index) => [key, names[index]])) };
}

/** Who has changed what of a record, and when: all changes that were read, or those after a time. */
export function changeList(kind: string, { history, names = {} }: Data, after = '') {
  const shown = (field: string, value: unknown) => {
    if (value === null) return 'nothing';
    const type = typeOf(kind, field);
    const target = names[nameKey(field, value)];
    return isLink(type) && !target ? value : cell(type, target ?? value);
  };
  const changes: readonly Data[] = history.nodes.filter(({ at }: Data) => at > after);
  return html`
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
                      html`<li>
                        ${words(field.replace(/Id$/, ''))}: <del>${shown(field, before)}</del> <ins>${shown(field, after)}</ins>
                      </li>`,
                  )}
              </ul>`
            : nothing
        }
      </li>`,
    )}
  </ol>`;
}

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
    ${Object.entries(pages).map((list) => linkedTable(kind, list, found))}
    ${found.history ? html`<section><h2>History</h2>${changeList(kind, found)}</section>` : nothing}`;
}
