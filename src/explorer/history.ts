/** The changes of a record with the values before and after them, and the page of a record that was deleted. */
import { html, nothing } from 'lit-html';
import { addressOf, type View } from './address.ts';
import { inOrder, isLink, kindOf, linkOf, nameOf, title, typeOf } from './kinds.ts';
import { atMost, namesOf, query } from './queries.ts';
import { type Data, type Page, read } from './service.ts';
import { button, cellOf, detail, time } from './values.ts';
import { isOfUndo, undo } from './writes.ts';

/** A page of the changes of a record: the latest, or those before the cursor `after`. */
export const historyQuery = (sent: { id?: string | undefined; after?: string | undefined; size?: number }): string => {
  const { size = 20, ...place } = sent;
  const nodes = 'nodes { cursor at action user { id name } message fields { field before after } }';
  return query('history', { ...place, first: atMost(size) }, `${nodes} hasMore endCursor`);
};

/** The most names that are read for a history: a query has at most as many aliases. */
const maxNames = 50;

/** Reads the names of the linked records before the changes and after them: by the field and the ID. */
export async function readNames(kind: string, changes: readonly Data[]): Promise<Data> {
  const values = changes
    .filter(({ action }) => action !== 'CREATED')
    .flatMap(({ fields }) => fields)
    .flatMap(({ field, before, after }) =>
      [before, after].map((id) => ({ field, id, type: typeOf(kind, linkOf(field)) })),
    );
  const links = values.filter(({ type, id }) => isLink(type) && id !== null);
  const asked = [...new Map(links.map((link) => [link.field + link.id, link]))].slice(0, maxNames);
  if (asked.length === 0) return {};
  const queries = asked.map(
    ([, { type, id }], index) => `name${index}: ${query(kindOf(type).one, { id }, namesOf(type))}`,
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

/** The page of the history that the address has, with links to the older and to the latest changes. */
export function historyPage(view: View, { nodes, hasMore, endCursor }: Data, names: Data) {
  const { kind = '', after } = view;
  const way = (text: string, cursor?: string) =>
    html`<a class="button" href=${addressOf({ ...view, after: cursor })}>${text}</a>`;
  return html`<section>
    <header><h2>History</h2></header> ${changeList(kind, nodes, names)}
    <p class="row">${hasMore ? way('Older changes', endCursor) : nothing} ${after ? way('Latest changes') : nothing}</p>
  </section>`;
}

/** The last values of a record that was deleted. */
export const valuesOf = ({ fields }: Data): Data =>
  Object.fromEntries(fields.map(({ field, before }: Data) => [field, before]));

export function deletedRecord(view: View, deletion: Data, history: Data, names: Data, { mayWrite }: Page) {
  const { kind = '' } = view;
  const values = valuesOf(deletion);
  const fields = inOrder(kind, Object.keys(values)).filter((field) => !/^(id|name|createdAt|updatedAt)$/.test(field));
  const range = { after: String(BigInt(deletion.cursor) - 1n), upTo: deletion.cursor };
  const restore = button('Undo', () => void undo(range), 'primary end');
  return html`<div class="notice card pad row">
      <span><b>${authorOf(deletion)} deleted this record.</b> ${time(deletion.at)}</span> ${mayWrite ? restore : nothing}
    </div>
    <div class="columns">
      <section><header><h2>Last values</h2></header><dl class="fields">
        ${fields.map((field) => detail(linkOf(field), shownValue(kind, field, values[field], names)))}
      </dl></section>
      ${historyPage(view, history, names)}
    </div>`;
}
