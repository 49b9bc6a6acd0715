/** A record: its fields, what refers to it as tables, and its history. Or an ID of another system, with what refers to it. */
import { html, nothing } from 'lit-html';
import { addressOf } from './address.ts';
import { editable } from './edit.ts';
import { changeList, withNames } from './history.ts';
import { capitalized, columns, fieldsInOrder, foreign, isRecord, kindOf, typeOf, words } from './kinds.ts';
import { filtersOf, linkOf, nextList, recordQuery } from './queries.ts';
import { type Data, read, type Viewer } from './service.ts';
import { cell, plainHead, rows } from './table.ts';

const fieldList = (kind: string, record: Data) => html`
  <dl>
    ${fieldsInOrder(kind).map((field) => {
      if (record[field] === null || field === 'name') return nothing;
      return html`<div><dt>${capitalized(words(field))}</dt><dd>${cell(typeOf(kind, field), record[field])}</dd></div>`;
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

export const record: Viewer = {
  queries: (view) => [recordQuery(view)],
  async *read(view) {
    const { kind = '' } = view;
    const [[name, found]] = Object.entries(await read(recordQuery(view))) as [[string, Data | null]];
    yield { [name]: await withNames(kind, found) };
  },
  draw({ kind = '', id = '' }, data, page) {
    const [found] = Object.values(data);
    if (!found) return html`<p>There is no ${words(kind)} with the ID ${id} in this workspace.</p>`;
    const { pages } = foreign[kind] ?? kindOf(kind);
    const fields = isRecord(kind)
      ? fieldList(kind, found)
      : html`<p>Kept in another system. This service has what refers to it.</p>`;
    return html`
      ${kind === 'WorkOrder' && page.mayWrite ? editable(found, fields, page) : fields}
      ${Object.entries(pages).map((list) => linkedTable(kind, list, found))}
      ${found.history ? html`<section><h2>History</h2>${changeList(kind, found)}</section>` : nothing}`;
  },
};
