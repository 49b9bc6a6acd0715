/**
 * A record: its fields, what refers to it as tables, and its history, as people read it. Or an ID of another system, with what refers to it.
 */
import { html, nothing } from 'lit-html';
import { addressOf, type View } from './address.ts';
import { editable } from './edit.ts';
import { columns, inOrder, isLink, isRecord, kindOf, linkOf, nameOf, title, typeOf, words } from './kinds.ts';
import { atMost, descending, namesOf, query, rowsOf, selectionOf } from './queries.ts';
import { type Data, read, type Viewer } from './service.ts';
import { cell, recordTable, time } from './values.ts';

/**
 * Of what has a start, the last ones are first. What somebody has created or changed stays in the order of creation: all work orders of a
 * workspace may be in such a list, and sorting 100,000 takes 20 times as long.
 */
function linkedPage([field, kind]: readonly [string, string]): string {
  const { list, order } = kindOf(kind);
  const orderBy = field === list && order.includes('startDate') ? [{ startDate: descending }] : undefined;
  return query(field, { first: atMost(10), orderBy }, `totalCount ${rowsOf(kind)}`);
}

function recordQuery({ kind = '', id }: View): string {
  const { one, fields, lists } = kindOf(kind);
  const changes = 'nodes { cursor at action user { id name } message fields { field before after } }';
  const parts = [
    selectionOf(kind, Object.keys(fields)),
    ...Object.entries(lists).map(linkedPage),
    ...(isRecord(kind) ? [query('history', { first: atMost(20) }, changes)] : []),
  ];
  return query(one, { id }, `\n    ${parts.join('\n    ')}\n  `);
}

function fieldList(kind: string, record: Data) {
  const shown = Object.keys(kindOf(kind).fields).filter((field) => record[field] !== null && field !== 'name');
  return html`<dl>
    ${inOrder(kind, shown).map(
      (field) => html`<div><dt>${title(field)}</dt><dd>${cell(typeOf(kind, field), record[field])}</dd></div>`,
    )}
  </dl>`;
}

/** The filter of a table for what is in a list of a record, such as `ownedAssets` of a company: those whose `owner` it is. */
export function filterOfList(list: string, from: string, kind: string): { link: string; field: string } | undefined {
  // They do not refer to what they are above of.
  if (list === 'ancestors') return undefined;
  const { fields, filters } = kindOf(kind);
  const links = Object.keys(fields).filter((field) => fields[field] === from);
  const named = links.find((field) => list.startsWith(field.slice(0, 4)));
  // A list that is named after its kind is not about who created or changed its records.
  const link = named ?? links.find((field) => !field.endsWith('By')) ?? links[0];
  return link === undefined ? undefined : { link, field: `${link}Id` in filters ? `${link}Id` : link };
}

function linkedTable(from: string, [list, kind]: readonly [string, string], found: Data) {
  const { nodes, totalCount } = found[list];
  if (totalCount === 0) return nothing;
  const { link, field } = filterOfList(list, from, kind) ?? {};
  // It would be the same in all rows.
  const fields = columns[kind]?.filter((name) => name !== link);
  const all = field && addressOf({ kind, filters: [{ field, operator: 'eq', value: found.id }] });
  const count = totalCount.toLocaleString();
  return html`<section>
    <h2>${title(list)} <small>${count}</small></h2>
    ${recordTable(kind, nodes, title(list), fields)}
    ${totalCount > nodes.length && all ? html`<p><a href=${all}>All ${count}</a></p>` : nothing}
  </section>`;
}

/** The most names that are read for a history: a query has at most as many aliases. */
const maxNames = 50;

/** Reads the names of what the links of a record led to, before its changes and after them: by the field and the ID. */
async function readNames(kind: string, changes: readonly Data[]): Promise<Data> {
  const targets = new Map<string, readonly [type: string, id: string]>();
  const updates = changes.filter(({ action }) => action === 'UPDATED');
  for (const { field, before, after } of updates.flatMap(({ fields }) => fields)) {
    const type = typeOf(kind, linkOf(field));
    for (const id of [before, after]) if (isLink(type) && id !== null) targets.set(field + id, [type, id]);
  }
  const asked = [...targets].slice(0, maxNames);
  if (asked.length === 0) return {};
  const queries = asked.map(
    ([, [type, id]], index) => `name${index}: ${query(kindOf(type).one, { id }, namesOf(type))}`,
  );
  const names = await read(...queries);
  return Object.fromEntries(asked.map(([key], index) => [key, names[`name${index}`]]));
}

function changeList(kind: string, changes: readonly Data[], names: Data) {
  const shown = (field: string, value: unknown) => {
    const type = typeOf(kind, linkOf(field));
    const target = names[field + value];
    if (value === null) return 'nothing';
    return isLink(type) && !target ? value : cell(type, target ?? value);
  };
  const fieldOf = ({ field, before, after }: Data) =>
    html`<li>${words(linkOf(field))}: <del>${shown(field, before)}</del> <ins>${shown(field, after)}</ins></li>`;
  const list = (fields: Data) =>
    html`<ul>${fields.filter(({ field }: Data) => field !== 'updatedAt').map(fieldOf)}</ul>`;
  const changeOf = ({ at, action, user, message, fields }: Data) => html`<li>
    <p>${time(at)} ${action.toLowerCase()}${user && ` by ${nameOf(user)}`}${message && `: ${message}`}</p>
    ${action === 'UPDATED' ? list(fields) : nothing}
  </li>`;
  return html`<ol class="history">${changes.map(changeOf)}</ol>`;
}

export const record: Viewer = {
  queries: (view) => [recordQuery(view)],
  async *read(view) {
    const { kind = '' } = view;
    const data = await read(recordQuery(view));
    yield { ...data, names: await readNames(kind, data[kindOf(kind).one]?.history?.nodes ?? []) };
  },
  draw({ kind = '', id = '' }, { names, ...data }, page) {
    const { one, lists } = kindOf(kind);
    const found = data[one];
    if (!found) return html`<p>There is no ${words(kind)} with the ID ${id} in this workspace.</p>`;
    const fields = isRecord(kind)
      ? fieldList(kind, found)
      : html`<p>Kept in another system. This service has what refers to it.</p>`;
    const isAfter = (time: string) => (change: Data) => change.at > time;
    const changesSince = (time: string) => changeList(kind, found.history.nodes.filter(isAfter(time)), names);
    return html`
      ${kind === 'WorkOrder' && page.mayWrite ? editable(found, fields, changesSince, page) : fields}
      ${Object.entries(lists).map((list) => linkedTable(kind, list, found))}
      ${found.history ? html`<section><h2>History</h2>${changesSince('')}</section>` : nothing}`;
  },
};
