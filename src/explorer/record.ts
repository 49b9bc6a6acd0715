/**
 * A record: five facts, tables of the records that refer to it, then its other fields beside its history. Or an ID of
 * another system, with the records that refer to it.
 */
import { html, nothing } from 'lit-html';
import { addressOf, type View } from './address.ts';
import { openDeletion } from './deletion.ts';
import { formPage, labelAddress, newAddress } from './form.ts';
import { changeList, deletedRecord, historyQuery, readNames, valuesOf } from './history.ts';
import { columns, inOrder, isRecord, kindOf, nameOf, title, words } from './kinds.ts';
import { atMost, descending, query, rowsOf, selectionOf } from './queries.ts';
import { type Data, read, type Viewer } from './service.ts';
import { button, cell, link, notice, recordTable, time } from './values.ts';

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

function recordQuery({ kind = '', id }: View): string {
  const { one, fields, lists } = kindOf(kind);
  const parts = [
    selectionOf(kind, Object.keys(fields)),
    ...Object.entries(lists).map(linkedPage),
    ...(isRecord(kind) ? [historyQuery()] : []),
  ];
  return query(one, { id }, `\n    ${parts.join('\n    ')}\n  `);
}

const none = html`<span class="quiet">–</span>`;

function factList(kind: string, record: Data) {
  const fact = (field: string) =>
    html`<div><dt>${title(field)}</dt><dd>${isEmpty(record, field) ? none : cell(kind, field, record)}</dd></div>`;
  return html`<dl class="facts card pad">${factsOf(kind).map(fact)}</dl>`;
}

const isEmpty = (record: Data, field: string): boolean =>
  (record[field] ?? record[`${field}Id`] ?? null) === null || JSON.stringify(record[field]) === '{}';

function detailList(kind: string, record: Data) {
  const { fields } = kindOf(kind);
  const isDetail = (field: string) => ![...factsOf(kind), ...stamps, 'name'].includes(field) && !isEmpty(record, field);
  const detail = (name: string, value: unknown, classes = '') =>
    html`<div><dt>${name}</dt><dd class=${classes}>${value}</dd></div>`;
  const stamp = (word: string) => {
    const [at, by] = [record[`${word}At`], record[`${word}By`]];
    return (
      at &&
      detail(title(word), html`<span class="pair">${time(at)} ${by && html`by ${link('User', by)}`}</span>`, 'quiet')
    );
  };
  return html`<dl class="fields">
    ${inOrder(kind, Object.keys(fields).filter(isDetail)).map((field) => detail(title(field), cell(kind, field, record)))}
    ${stamp('created')} ${stamp('updated')} ${detail('ID', record.id, 'quiet')}
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

/** The address of the form for a new record of a list, with its link to this record, if a form sets it. */
function additionAddress(from: string, list: string, kind: string, id: string): string | undefined {
  const { field = '' } = filterOfList(list, from, kind) ?? {};
  return field in kindOf(kind).inputs ? newAddress(kind, [{ field, operator: 'eq', value: id }]) : undefined;
}

/** Links to the forms for the first record of each list that is empty. */
function additions(from: string, found: Data) {
  const empty = Object.entries(kindOf(from).lists).filter(([list]) => found[list].totalCount === 0);
  const links = empty.flatMap(([list, kind]) => {
    const href = additionAddress(from, list, kind, found.id);
    const place = list === 'children' ? ' below' : '';
    return href ? html`<a class="button" href=${href}>New ${words(kind)}${place}</a>` : [];
  });
  return links.length > 0 ? html`<div class="row">${links}</div>` : nothing;
}

function linkedTable(from: string, [list, kind]: readonly [string, string], found: Data, mayWrite: boolean) {
  const { nodes, totalCount } = found[list];
  if (totalCount === 0) return nothing;
  const { link, field } = filterOfList(list, from, kind) ?? {};
  const addition = mayWrite ? additionAddress(from, list, kind, found.id) : undefined;
  // It would be the same in all rows.
  const fields = (columns[kind] ?? []).filter((name) => name !== link).slice(0, 5);
  const all = field && addressOf({ kind, filters: [{ field, operator: 'eq', value: found.id }] });
  const count = totalCount.toLocaleString();
  return html`<section>
    <header class="row">
      <h2>${title(list)} <small>${count}</small></h2> <span class="end"></span>
      ${totalCount > nodes.length && all ? html`<a class="link" href=${all}>All ${count}</a>` : nothing}
      ${addition ? html`<a class="button" href=${addition} aria-label=${`New ${words(kind)}`}>New</a>` : nothing}
    </header>
    <div class="card">${recordTable(kind, nodes, title(list), { fields })}</div>
  </section>`;
}

export const record: Viewer = {
  queries: (view) => [recordQuery(view)],
  async *read(view) {
    const { kind = '', id } = view;
    const data = await read(recordQuery(view));
    const found = data[kindOf(kind).one];
    const { history } = found || !isRecord(kind) ? (found ?? {}) : await read(historyQuery(id));
    const changes: readonly Data[] = history?.nodes ?? [];
    yield { ...data, changes, names: await readNames(kind, changes) };
  },
  title: ({ kind = '', id }, { changes, ...data }) =>
    nameOf(data[kindOf(kind).one] ?? { id, ...(changes?.length > 0 && valuesOf(changes[0])) }),
  crumb({ kind = '' }, data) {
    const found = data[kindOf(kind).one];
    const number = inHead
      .slice(1)
      .map((field) => found?.[field])
      .find((value) => value && value !== nameOf(found));
    const list = isRecord(kind) ? html`<a href=${addressOf({ kind })}>${title(kindOf(kind).list)}</a>` : title(kind);
    return html`<div><small>${list}${number && ` / ${number}`}</small></div>`;
  },
  actions({ kind = '', id, view }, data, page) {
    const found = data[kindOf(kind).one];
    if (!found || !page.mayWrite || view === 'edit') return nothing;
    if (!isRecord(kind)) return html`<a class="button" href=${labelAddress(kind, found.id)}>Name and colour</a>`;
    return html`${button('Delete', () => void openDeletion(kind, found, page), 'bare')}
      <a class="button primary" id="edit" href=${addressOf({ kind, id, view: 'edit' })}>Edit</a>`;
  },
  draw({ kind = '', id = '', view }, { names, changes, ...data }, page) {
    const { one, lists } = kindOf(kind);
    const found = data[one];
    if (!found && changes.length > 0) return deletedRecord(kind, changes, names, page);
    const all = html`<a class="button" href=${addressOf({ kind })}>All ${words(kindOf(kind).list)}</a>`;
    if (!found) return notice(`There is no ${words(kind)} with the ID ${id} in this workspace`, all);
    const facts = isRecord(kind)
      ? factList(kind, found)
      : html`<p>Kept in another system. This service has what refers to it.</p>`;
    const isAfter = (time: string) => (change: Data) => change.at > time;
    const changesSince = (time: string) => changeList(kind, changes.filter(isAfter(time)), names);
    if (view === 'edit') return formPage({ kind, record: found, page, changesSince });
    const details = html`<div class="columns">
      <section><header><h2>Details</h2></header>${detailList(kind, found)}</section>
      <section><header><h2>History</h2></header>${found.history && changesSince('')}</section>
    </div>`;
    return html`
      ${facts}
      ${Object.entries(lists).map((list) => linkedTable(kind, list, found, page.mayWrite))}
      ${page.mayWrite && isRecord(kind) ? additions(kind, found) : nothing}
      ${found.history ? details : nothing}`;
  },
};
