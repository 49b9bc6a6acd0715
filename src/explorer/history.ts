/** The changes of a record with the values before and after them, and the page of a record that was deleted. */
import { html, nothing } from 'lit-html';
import { inOrder, isLink, kindOf, linkOf, nameOf, title, typeOf } from './kinds.ts';
import { atMost, namesOf, query } from './queries.ts';
import { type Data, type Page, read } from './service.ts';
import { button, cellOf, time } from './values.ts';
import { isOfUndo, undo } from './writes.ts';

export const historyQuery = (id?: string): string =>
  query(
    'history',
    { id, first: atMost(20) },
    'nodes { cursor at action user { id name } message fields { field before after } }',
  );

/** The most names that are read for a history: a query has at most as many aliases. */
const maxNames = 50;

/** Reads the names of the linked records before the changes and after them: by the field and the ID. */
export async function readNames(kind: string, changes: readonly Data[]): Promise<Data> {
  const targets = new Map<string, readonly [type: string, id: string]>();
  const listed = changes.filter(({ action }) => action !== 'CREATED');
  for (const { field, before, after } of listed.flatMap(({ fields }) => fields)) {
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

function shownValue(kind: string, field: string, value: unknown, names: Data) {
  const type = typeOf(kind, linkOf(field));
  const target = names[field + value];
  if (value === null) return html`<span class="quiet">nothing</span>`;
  return isLink(type) && !target ? value : cellOf(type, target ?? value);
}

const actions: Readonly<Record<string, string>> = { CREATED: 'created', UPDATED: 'updated', DELETED: 'deleted' };

const authorOf = ({ user }: Data): string => (user ? nameOf(user) : 'Somebody');

export function changeList(kind: string, changes: readonly Data[], names: Data) {
  const fieldOf = ({ field, before, after }: Data) => html`<span class="quiet">${title(linkOf(field))}</span>
    <div><del class="quiet">${shownValue(kind, field, before, names)}</del> <span class="quiet">→</span> <ins>${shownValue(kind, field, after, names)}</ins></div>`;
  const changeOf = (change: Data) => {
    const { at, action, message, fields } = change;
    const isUndo = message === 'Undo';
    const did = isUndo ? 'undid a change' : actions[action];
    const changed = action === 'UPDATED' ? fields.filter(({ field }: Data) => field !== 'updatedAt') : [];
    return html`<li>
      ${time(at)}
      <div><b>${authorOf(change)}</b> ${did}${message && !isUndo && !isOfUndo(message) ? `: ${message}` : ''}</div>
      ${changed.map(fieldOf)}
    </li>`;
  };
  return html`<ol class="history">${changes.map(changeOf)}</ol>`;
}

/** The last values of a record that was deleted. */
export const valuesOf = ({ fields }: Data): Data =>
  Object.fromEntries(fields.map(({ field, before }: Data) => [field, before]));

export function deletedRecord(kind: string, changes: readonly Data[], names: Data, { mayWrite }: Page) {
  const [deletion = {}] = changes;
  const values = valuesOf(deletion);
  const fields = inOrder(kind, Object.keys(values)).filter((field) => !/^(id|name|createdAt|updatedAt)$/.test(field));
  const range = { after: String(BigInt(deletion.cursor) - 1n), upTo: deletion.cursor };
  const restore = button('Undo', () => void undo(range), 'primary end');
  return html`<div class="notice card pad row">
      <span><b>${authorOf(deletion)} deleted this record.</b> ${time(deletion.at)}</span> ${mayWrite ? restore : nothing}
    </div>
    <div class="columns">
      <section><header><h2>Last values</h2></header><dl class="fields">
        ${fields.map((field) => html`<div><dt>${title(linkOf(field))}</dt><dd>${shownValue(kind, field, values[field], names)}</dd></div>`)}
      </dl></section>
      <section><header><h2>History</h2></header>${changeList(kind, changes, names)}</section>
    </div>`;
}
