/** A preview for people: names in place of IDs, names for typing errors, and what changes in stored records. */
import { html, nothing } from 'lit-html';
import { isTypo } from '../import/alike.ts';
import { readByKeys, type Wanted } from '../import/edits.ts';
import type { Preview } from '../import/import.ts';
import { cellsOf } from '../import/report.ts';
import { countStored, findStoredNames } from '../import/requests.ts';
import type { Import } from '../import/run.ts';
import { listField } from '../model/labels.ts';
import { matchableFields, type RecordKind } from '../model/record-kind.ts';
import { kindNamed, kindOfId, label, labelKey } from '../records/index.ts';
import { targetTitle } from './import-columns.ts';
import { isLink, isRecord, linkOf, nameOf, numberedName, textFields, typeOf } from './kinds.ts';
import { atMost } from './queries.ts';
import type { Data } from './service.ts';
import { cellOf, tableOf } from './values.ts';

/** By ID, or by the key of a label. */
const wantedOf = (type: string, id: unknown): Wanted =>
  isRecord(type) ? [kindNamed(type), String(id), textFields(type)] : [label, labelKey(type, String(id)), ['name']];

/** Reads the stored records that explain a preview, without a request for each row. */
export async function explain({ yardgraph, scanned, upsertKeys }: Import, { refusals, updated, newNames }: Preview) {
  const values = [...refusals.values.values()].toSorted((a, b) => b.count - a.count);
  // The key that texts of links have in place of names, such as machine numbers.
  const keys = new Map<RecordKind, string>();
  const named = new Map<RecordKind, readonly Data[]>();
  for (const kind of new Set(values.flatMap(({ creatable }) => creatable ?? []))) {
    const texts = values.flatMap(({ creatable, text }) => (creatable === kind && text) || []);
    for (const key of matchableFields(kind))
      if (!keys.has(kind) && (await countStored(yardgraph, kind, texts, key)) > 0) keys.set(kind, key);
    const list = listField(kind);
    const { [list]: found } = await yardgraph.graphql(`{ ${list}(first: ${atMost(1_000)}) { nodes { name } } }`);
    named.set(kind, found.nodes);
  }
  const wanted = updated.flatMap((outcome) => {
    const { name } = outcome.row.kind;
    const links = cellsOf(outcome).flatMap(({ column, old, now, isChanged }) => {
      const type = typeOf(name, linkOf(column));
      return isChanged && isLink(type) ? [old, now].flatMap((id) => (id === null ? [] : [wantedOf(type, id)])) : [];
    });
    return [wantedOf(name, outcome.id), ...links];
  });
  const besides = values.flatMap(({ beside: id }): Wanted[] => (id ? [[kindOfId(id) ?? label, id, ['name']]] : []));
  const targets = await readByKeys(yardgraph, [...wanted, ...besides]);
  // Other rows may mean the record that has the name.
  const texts = values.flatMap(({ beside, text }) => (beside && text) || []);
  const kinds = [...new Set(besides.map(([kind]) => kind))];
  const stored = await Promise.all(kinds.map((kind) => findStoredNames(yardgraph, kind, texts)));
  const explained = values.map((value, at) => {
    const { text = '', creatable, beside = '' } = value;
    const name = targets.get(beside)?.name;
    const isStored = stored.some((names) => names.has(text));
    const renamed = typeof name === 'string' && name !== text && !isStored ? name : undefined;
    // Only the first problems are shown. The import knows the labels of each type.
    const others = at < 20 && creatable && creatable !== label ? named.get(creatable) : undefined;
    const similar = others?.find((other) => isTypo(text, other.name ?? ''));
    const meant = [...new Set([value.alike ?? similar?.name, renamed])].filter((other) => other !== undefined);
    return { ...value, renamed, meant };
  });
  const [kind, ...otherKinds] = new Set(scanned.sections.map((section) => section.kind));
  const isOnlyNew = kind && otherKinds.length === 0 && !upsertKeys.has(kind);
  const names = isOnlyNew ? newNames.filter(Boolean) : [];
  const taken = kind && (await findStoredNames(yardgraph, kind, [...new Set(names)]));
  const namesakes = names.filter((name) => taken?.has(name));
  return { values: explained, keys, targets, namesakes };
}

export type Explained = Awaited<ReturnType<typeof explain>>;

/** The first records that change, each field with its value before and after. */
export function changeTable({ updated, totals }: Preview, { targets }: Explained) {
  if (updated.length === 0) return nothing;
  const rows = updated.map((outcome) => {
    const { kind, source } = outcome.row;
    const shown = (column: string, value: unknown, text = value) => {
      const type = typeOf(kind.name, linkOf(column));
      if (value === null) return 'nothing';
      if (!isLink(type)) return cellOf(type, value);
      const target = targets.get(String(wantedOf(type, value)[1]));
      return target ? nameOf(target) : text;
    };
    const change = ({ column, old, now, text }: ReturnType<typeof cellsOf>[number]) => html`<div>
      <span class="quiet">${targetTitle(kind, linkOf(column))}</span> <del class="quiet">${shown(column, old)}</del>
      <span class="quiet">→</span> <ins>${shown(column, now, text)}</ins></div>`;
    // A record without a name would have its ID in place of it.
    const record = { ...targets.get(outcome.id ?? ''), id: `Line ${source.line}` };
    const changed = cellsOf(outcome).filter(({ isChanged }) => isChanged);
    return [numberedName(record), changed.map(change)];
  });
  const { UPDATED: all } = totals.rows;
  return html`<header class="row"><h2>Changes</h2> <small>${all > rows.length ? `the first ${rows.length} of ${all.toLocaleString()}` : ''}</small></header>
    <div class="card" .style=${'max-height: 320px'}>${tableOf('Changes', { record: 'name', change: '' }, rows)}</div>`;
}
