/**
 * A record: five facts, tables of the records that refer to it, then its other fields beside its history. Or an ID of
 * another system, with the records that refer to it.
 */
import { html, nothing } from 'lit-html';
import { labelKey, linkField as linkOf } from '../model/labels.ts';
import { addressOf, type View } from './address.ts';
import { clashNotice, findClashes } from './clashes.ts';
import { formPage, isUnsaved } from './form.ts';
import {
  columns,
  inOrder,
  isLink,
  isRecord,
  kindOf,
  nameOf,
  numberedName,
  title,
  typeOf,
  withoutId,
  words,
} from './kinds.ts';
import { atMost, descending, namesOf, query, rowsOf, selectionOf } from './queries.ts';
import { type Data, type Page, read, type Viewer } from './service.ts';
import {
  button,
  cell,
  cellOf,
  isEmpty,
  link,
  nonEmptyFields,
  notice,
  overdueMark,
  recordTable,
  time,
} from './values.ts';
import { compareTurns, isOpen } from './work.ts';
import { deleteRecord, rangeOfDeletion, rangeOfWrite, undo, undoMessage } from './writes.ts';

/** A field of a record with its value. */
const detail = (field: string, value: unknown, classes = '') =>
  html`<div><dt>${title(field)}</dt><dd class=${classes}>${value}</dd></div>`;

/** A page of the changes of a record: the latest, or those before the cursor `after`. */
function historyQuery(place: { readonly id?: string; readonly after?: string | undefined }, size = 20): string {
  const nodes = 'nodes { cursor at action recordId user { id name } message fields { field before after } }';
  return query('history', { ...place, first: atMost(size) }, `${nodes} hasMore endCursor`);
}

/** The most names that are read for a history: a query has at most as many aliases. */
const maxNames = 50;

/** Reads the names of the linked records before the changes and after them: by the field and the ID. */
export async function readNames(kind: string, changes: readonly Data[]): Promise<Data> {
  const queries = new Map<string, string>();
  const listed = changes.filter(({ action }) => action !== 'CREATED');
  for (const { field, before, after } of listed.flatMap(({ fields }) => fields)) {
    const type = typeOf(kind, linkOf(field));
    for (const id of isLink(type) ? [before, after] : [])
      if (id !== null) queries.set(field + id, query(kindOf(type).one, { id }, namesOf(type)));
  }
  const asked = [...queries].slice(0, maxNames);
  if (asked.length === 0) return {};
  const names = await read(...asked.map(([, query], index) => `name${index}: ${query}`));
  return Object.fromEntries(asked.map(([key], index) => [key, names[`name${index}`]]));
}

function shownValue(kind: string, field: string, value: unknown, names: Data) {
  const type = typeOf(kind, linkOf(field));
  const target = names[field + value];
  if (value === null) return html`<span class="quiet">nothing</span>`;
  return isLink(type) && !target ? value : cellOf(type, target ?? value);
}

/** With `mayUndo`, the latest change has a button that reverses it: earlier ones have been changed since. */
function changeList(kind: string, changes: readonly Data[], names: Data, mayUndo = false) {
  const fieldOf = ({ field, before, after }: Data) => html`<span class="quiet">${title(linkOf(field))}</span>
    <div>${before === null ? shownValue(kind, field, before, names) : html`<del>${shownValue(kind, field, before, names)}</del>`} <span class="quiet">→</span> <ins>${shownValue(kind, field, after, names)}</ins></div>`;
  const changeOf = (change: Data, index: number) => {
    const { at, user, action, message, fields } = change;
    const [ofUndo, count] = undoMessage.exec(message ?? '') ?? [];
    const isUndo = ofUndo?.startsWith('Undo');
    const did = isUndo ? ({ CREATED: 'restored' }[String(action)] ?? 'undid a change') : action.toLowerCase();
    // Without keys, nobody knows who changed a record.
    const who = user ? html`<b>${nameOf(user)}</b> ${did}` : html`<b>${title(did)}</b>`;
    const changed = action === 'UPDATED' ? fields.filter(({ field }: Data) => field !== 'updatedAt') : [];
    const undoAll = button(
      isUndo ? 'Undo for all' : `Undo for all ${count}`,
      () => void undo(rangeOfWrite(change, Number(count))),
      'bare',
    );
    const range = { after: String(Number(change.cursor) - 1), upTo: change.cursor };
    const reverse = html`${button(Number(count) > 1 ? 'Undo here only' : 'Undo', () => void undo(range), 'bare')} ${Number(count) > 1 ? undoAll : nothing}`;
    return html`<li>
      ${time(at)}
      <div>${who}${message && !ofUndo ? `: ${withoutId(message)}` : ''} ${mayUndo && index === 0 && changed.length > 0 ? reverse : nothing}</div>
      ${changed.map(fieldOf)}
    </li>`;
  };
  return html`<ol class="history">${changes.map(changeOf)}</ol>`;
}

/** The page of the history that the address has, with links to the older and to the latest changes. */
function historyPage(view: View, { nodes, hasMore, endCursor, horizon }: Data, names: Data, mayUndo: boolean) {
  const { kind = '', after } = view;
  const isCut = horizon && !hasMore && nodes.at(-1)?.action !== 'CREATED';
  const way = (text: string, cursor?: string) =>
    html`<a class="button" href=${addressOf({ ...view, after: cursor })}>${text}</a>`;
  return html`<section>
    <header><h2>History</h2></header> ${changeList(kind, nodes, names, mayUndo && !after)}
    ${isCut ? html`<small>Earlier changes are no longer kept.</small>` : nothing}
    <div class="row">${hasMore ? way('Older changes', endCursor) : nothing} ${after ? way('Latest changes') : nothing}</div>
  </section>`;
}

/** The last values of a record that was deleted. */
const valuesOf = ({ fields }: Data): Data =>
  Object.fromEntries(fields.map(({ field, before }: Data) => [field, before]));

/** An allocation is called by its asset. */
export function deletedName(change: Data, names: Data): string {
  const values = valuesOf(change);
  const asset = names[`assetId${values.assetId}`];
  return numberedName({ id: change.recordId, asset: asset && { name: numberedName(asset) }, ...values });
}

/** Nothing where the key may not write the kind. */
export function restoreButton(kind: string, deletion: Data, { mayWrite }: Page, classes = '') {
  const restore = () => void undo(rangeOfDeletion(deletion), { word: 'restored', noun: title(kind) });
  return mayWrite(kind) ? button('Restore', restore, classes) : nothing;
}

function deletionNotice(kind: string, deletion: Data, page: Page, remark = '') {
  const { at, user } = deletion;
  return html`<div class="notice card pad row">
    <span><b>Deleted</b> ${time(at)} ${user ? `by ${nameOf(user)}` : ''}</span> ${remark} ${restoreButton(kind, deletion, page, 'primary end')}
  </div>`;
}

function deletedRecord(view: View, deletion: Data, history: Data, names: Data, page: Page) {
  const { kind = '' } = view;
  const values = valuesOf(deletion);
  const fields = inOrder(kind, Object.keys(values)).filter((field) => !/^(id|name|createdAt|updatedAt)$/.test(field));
  return html`${deletionNotice(kind, deletion, page)}
    <div class="columns">
      <section><header><h2>Last values</h2></header><dl class="fields">
        ${fields.map((field) => detail(linkOf(field), shownValue(kind, field, values[field], names)))}
      </dl></section>
      ${historyPage(view, history, names, false)}
    </div>`;
}

/**
 * Records with a start: the last ones first. The lists of a user stay in the order of creation: all work orders of a
 * workspace may be in such a list, and sorting 100,000 takes 20 times as long.
 */
function linkedPage([field, kind]: readonly [string, string]): string {
  const { list, order } = kindOf(kind);
  const orderBy = field === list && order.includes('startDate') ? [{ startDate: descending }] : undefined;
  return query(field, { first: atMost(10), orderBy }, `totalCount ${rowsOf(kind)}`);
}

/** They are in the title, and in the line above it. */
const inHead = ['name', 'reference', 'number', 'uid'];
const stamps = ['createdAt', 'createdBy', 'updatedAt', 'updatedBy', 'id'];

const factsOf = (kind: string): readonly string[] =>
  (columns[kind] ?? []).filter((field) => !inHead.includes(field)).slice(0, 5);

function recordQuery({ kind = '', id = '', view, after }: View): string {
  const { one, fields, lists } = kindOf(kind);
  const parts = [
    selectionOf(kind, Object.keys(fields)),
    ...Object.entries(lists).map(linkedPage),
    ...(isRecord(kind) ? [historyQuery({ after })] : []),
  ];
  const record = query(one, { id }, `\n    ${parts.join('\n    ')}\n  `);
  if (isRecord(kind)) return `${record}\n  changeHorizon`;
  if (view !== 'edit') return record;
  const where = { key: { eq: labelKey(kind, id) } };
  return `${record}\n  ${query('labels', { where }, 'nodes { id key name color updatedAt }')}`;
}

/** The status is first, and empty facts are last. */
function factList(kind: string, record: Data) {
  const rank = (field: string) => (isEmpty(record, field) ? 2 : field === 'status' ? 0 : 1);
  const fields = factsOf(kind).toSorted((a, b) => rank(a) - rank(b));
  const shown = (field: string) =>
    html`${cell(kind, field, record)}${field === 'endDate' ? overdueMark(kind, record) : nothing}`;
  const factOf = (field: string) =>
    detail(field, isEmpty(record, field) ? html`<span class="quiet">–</span>` : shown(field));
  return html`<dl class="facts card pad" .style=${'--min: 150px'}>${fields.map(factOf)}</dl>`;
}

function detailList(kind: string, record: Data) {
  const hidden = [...factsOf(kind), ...stamps, 'name'];
  const fields = Object.keys(kindOf(kind).fields).filter((field) => !hidden.includes(field) && !isEmpty(record, field));
  const stamp = (word: string) => {
    const [at, by] = [record[`${word}At`], record[`${word}By`]];
    const text = html`<span class="pair">${at && time(at)} ${by && html`by ${link('User', by)}`}</span>`;
    return at && detail(word, text, 'quiet');
  };
  const place = `${addressOf({ kind, view: 'map' })}#15/${record.latitude}/${record.longitude}`;
  const onMap = fields.includes('latitude') ? html`<a class="link" href=${place}>On the map</a>` : nothing;
  return html`<dl class="fields">
    ${inOrder(kind, fields).map((field) => detail(field, html`${cell(kind, field, record)} ${field === 'longitude' ? onMap : nothing}`))}
    ${stamp('created')} ${stamp('updated')} ${detail('id', record.id, 'quiet')}
  </dl>`;
}

/** The filter of a table for a list of a record: for `ownedAssets` of a company, the assets whose `owner` it is. */
export function filterOfList(list: string, from: string, kind: string): { link: string; field: string } | undefined {
  // An ancestor has no link to the records below it.
  if (list === 'ancestors') return undefined;
  const { fields, filters } = kindOf(kind);
  const links = Object.keys(fields).filter((field) => fields[field] === from);
  const named = links.find((field) => list.startsWith(field.slice(0, 4)));
  // A list that is named after its kind is not about who created or changed its records.
  const link = named ?? links.find((field) => !field.endsWith('By')) ?? links[0];
  return link === undefined ? undefined : { link, field: `${link}Id` in filters ? `${link}Id` : link };
}

/** Unfinished work first, the next at the top. Earlier work that was not read would come before the work here. */
const inTurn = (nodes: readonly Data[], isWhole: boolean): readonly Data[] =>
  isWhole || !isOpen(nodes.at(-1) ?? {}) ? nodes.toSorted(compareTurns) : nodes;

/** The tables of the lists that have records, then links to forms for the first record of each other list. */
function linkedRecords(from: string, found: Data, { mayWrite }: Page) {
  const lists = Object.entries(kindOf(from).lists).map(([list, kind]) => {
    const { nodes, totalCount } = found[list];
    return {
      list,
      kind,
      nodes: list === kindOf(kind).list ? inTurn(nodes, nodes.length === totalCount) : nodes,
      totalCount,
      ...filterOfList(list, from, kind),
    };
  });
  type List = (typeof lists)[number];
  const addition = ({ list, kind, field = '' }: List) => {
    if (!mayWrite(kind) || !(field in kindOf(kind).inputs)) return nothing;
    const href = addressOf({ kind, view: 'new', filters: [{ field, operator: 'eq', value: found.id }] });
    return html`<a class="button" href=${href}>New ${words(kind)}${list === 'children' ? ' as part of this one' : ''}</a>`;
  };
  const tableOf = (shown: List) => {
    const { list, kind, link, field, nodes, totalCount } = shown;
    // The link would be the same in all rows.
    const fields = nonEmptyFields(
      (columns[kind] ?? []).filter((name) => name !== link),
      nodes,
    ).slice(0, 5);
    const filter = { field: field ?? '', operator: 'eq', value: found.id };
    const count = totalCount.toLocaleString();
    const all = html`<a class="link" href=${addressOf({ kind, filters: [filter] })}>All ${count}</a>`;
    return html`<section>
      <header class="row">
        <h2>${title(list)} <small>${count}</small></h2> <span class="end"></span>
        ${field && totalCount > nodes.length ? all : nothing} ${addition(shown)}
      </header>
      <div class="card">${recordTable(kind, nodes, title(list), { fields })}</div>
    </section>`;
  };
  const empty = isRecord(from) ? lists.filter(({ totalCount }) => totalCount === 0) : [];
  return html`${lists.filter(({ totalCount }) => totalCount > 0).map(tableOf)}
    <div class="row">${empty.map(addition)}</div>`;
}

function recordPage(view: View, { history, names, clashes = [] }: Data, found: Data, page: Page) {
  const { kind = '' } = view;
  const linked = linkedRecords(kind, found, page);
  if (!isRecord(kind)) return html`<p>The records with this ${words(kind)} are listed here.</p> ${linked}`;
  return html`${clashNotice(clashes)} ${factList(kind, found)} ${linked}
    <div class="columns">
      <section><header><h2>Details</h2></header>${detailList(kind, found)}</section>
      ${historyPage(view, history, names, page.mayWrite(kind))}
    </div>`;
}

function content(view: View, data: Data, page: Page) {
  const { kind = '', id } = view;
  const { names, deletion, history } = data;
  const { one, list } = kindOf(kind);
  // A form with entries stays when somebody deletes the record: the deletion may be undone.
  const isKept = deletion && view.view === 'edit' && isUnsaved();
  const record = isKept ? { id, ...valuesOf(deletion), history } : data[one];
  if (deletion && !isKept) return deletedRecord(view, deletion, history, names, page);
  const all = html`<a class="button" href=${addressOf({ kind })}>All ${words(list)}</a>`;
  if (record === null) return notice(`There is no ${words(kind)} with the ID ${id} in this workspace`, all);
  if (!record || view.view !== 'edit') return record && recordPage(view, data, record, page);
  if (!isRecord(kind)) {
    const label = data.labels.nodes[0] ?? { key: labelKey(kind, record.id) };
    return formPage({ kind: 'Label', record: label, page, noun: kind, address: addressOf({ kind, id }) });
  }
  const since = (time: string) => record.history.nodes.filter(({ at }: Data) => at > time);
  const changesSince = (time: string) => changeList(kind, since(time), names);
  return html`${isKept ? deletionNotice(kind, deletion, page, 'Your entries stay: restore the record to save them.') : nothing} ${formPage({ kind, record, page, changesSince })}`;
}

function recordActions(kind: string, record: Data, page: Page) {
  const edit = addressOf({ kind, id: record.id, view: 'edit' });
  if (!isRecord(kind)) return html`<a class="button" href=${edit}>Name and colour</a>`;
  return html`${button('Delete', () => void deleteRecord(kind, record, page), 'bare')}
    <a class="button primary" id="edit" href=${edit}>Edit</a>`;
}

export const record: Viewer = {
  queries: (view) => [recordQuery(view)],
  async *read(view) {
    const { kind = '', id = '', after } = view;
    const data = await read(recordQuery(view));
    const found = data[kindOf(kind).one];
    const queries = [`latest: ${historyQuery({ id }, 1)}`, historyQuery({ id, after })];
    const { latest, history }: Data = found ?? (isRecord(kind) ? await read(...queries) : {});
    const deletions: readonly Data[] = latest?.nodes ?? [];
    const names = await readNames(kind, [...deletions, ...(history?.nodes ?? [])]);
    yield { ...data, deletion: deletions[0], history: { ...history, horizon: data.changeHorizon }, names };
    // An allocation has a list of its clashes. Without the others, the page is still right.
    if (kind === 'WorkOrder' && found && !view.view)
      yield { clashes: await findClashes(kind, [found]).catch(() => []) };
  },
  draw(view, data, page) {
    const { kind = '', id } = view;
    const { one, list } = kindOf(kind);
    const found: Data = data[one] ?? { id };
    const isLabelForm = view.view === 'edit' && !isRecord(kind);
    const labelTitle = data.labels?.nodes.length === 0 ? `New ${words(kind)}` : 'Name and colour';
    const number = found.uid ?? found.reference ?? found.number;
    const ofFound = data[one] === null ? title(kind) : nameOf(found);
    const name = data.deletion ? deletedName(data.deletion, data.names) : ofFound;
    return {
      title: isLabelForm ? labelTitle : data[one] && view.view === 'edit' ? `Edit ${name}` : name,
      crumb: html`${isRecord(kind) ? html`<a href=${addressOf({ kind })}>${title(list)}</a>` : title(kind)}${number && number !== nameOf(found) ? ` / ${number}` : ''}`,
      actions: data[one] && page.mayWrite(kind) && view.view !== 'edit' ? recordActions(kind, found, page) : nothing,
      content: content(view, data, page),
    };
  },
};
