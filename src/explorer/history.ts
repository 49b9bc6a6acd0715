/** What has become of a record: who has changed what, and when, as people read it. */
import { html, nothing } from 'lit-html';
import { isLink, typeOf, words } from './kinds.ts';
import { namesQuery } from './queries.ts';
import { type Data, read } from './service.ts';
import { cell, nameOf, time } from './table.ts';

/** The type of a field of a change: of `statusId` that of the link. */
const typeOfChange = (kind: string, field: string): string => typeOf(kind, field.replace(/Id$/, ''));

const nameKey = (field: string, id: unknown): string => `${field} ${id}`;

/** The most names that are read for a history: a query has at most as many aliases. */
const maxNames = 50;

/** Adds the names of what the links of a record led to, before its changes and after them. */
export async function withNames(kind: string, found: Data | null): Promise<Data | null> {
  const changes: readonly Data[] = found?.history?.nodes ?? [];
  const updates = changes.filter(({ action }) => action === 'UPDATED');
  const targets = new Map<string, readonly [type: string, id: string]>();
  for (const { field, before, after } of updates.flatMap(({ fields }) => fields)) {
    const type = typeOfChange(kind, field);
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
    const type = typeOfChange(kind, field);
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
