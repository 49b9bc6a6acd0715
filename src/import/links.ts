/**
 * Links of rows: to stored records, which the service finds by what cells say of them, and to rows of the same import, which may have no record
 * yet. If several cells say a link, such as an ID and a name, all must be true of one record. What is sent does not depend on what is stored, so
 * that an import that was stopped sends the same when it goes on.
 */
import type { Yardgraph } from '../../client/index.ts';
import { type Issue, quote } from '../model/issues.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { kindOfId } from '../records/index.ts';
import { storedWith } from './requests.ts';
import {
  externalKey,
  type LinkCells,
  type LinkedRow,
  nameOf,
  type RecordRow,
  type RowLink,
  type SentRow,
  valueAt,
} from './row.ts';
import type { Warn } from './warnings.ts';

/** The rows with one text by which links may lead to them, and what has become of these. */
interface Named {
  rows: number;
  /** The record that the first of them changes by its ID. */
  readonly known: string | undefined;
  /** The number of those that are not sent yet, and of those that are not refused. */
  coming: number;
  left: number;
  /** The record of the first one. A preview has none for a row that would be created. */
  record: string | undefined;
}

/** The rows to which links may lead: by kind, by what links say of them (`id`, `name`, `externalIds.erp`), and by its text. */
export type Names = ReadonlyMap<RecordKind, ReadonlyMap<string, Map<string, Named>>>;

/** Notes by what links may lead to a row. `known` is the ID of the record that it changes, if it says that. */
export function nameRow(names: Names, row: RecordRow, known: string | undefined): void {
  for (const [by, rows] of names.get(row.kind) ?? []) {
    const text = nameOf(row, by);
    if (text === undefined) continue;
    const named = rows.get(text);
    if (named) named.rows += 1;
    else rows.set(copied(text), { rows: 1, known: known && copied(known), coming: 0, left: 0, record: undefined });
  }
}

/** Begins to send all rows. */
export function expectRows(names: Names): void {
  for (const byText of names.values()) {
    for (const rows of byText.values()) {
      for (const named of rows.values()) {
        Object.assign(named, { coming: named.rows, left: named.rows, record: named.known });
      }
    }
  }
}

/** Notes what has become of a row: `record` is the ID of its record, if it has one. */
export function settleRow(names: Names, { row, outcome, before, after }: SentRow, record: string | undefined): void {
  for (const [by, rows] of names.get(row.kind) ?? []) {
    const named = rows.get(nameOf(row, by) ?? '');
    if (named) {
      named.coming -= 1;
      if (outcome === 'REJECTED') named.left -= 1;
      else named.record ??= record;
    }
    const old = valueAt(before, by);
    if (typeof old !== 'string' || old === valueAt(after, by) || rows.has(old)) continue;
    rows.set(copied(old), { rows: 0, known: undefined, coming: 0, left: 0, record: undefined });
  }
}

/** A part of a text keeps the whole piece of the file in memory. */
export const copied = (text: string): string => JSON.parse(JSON.stringify(text));

export interface Linking {
  readonly yardgraph: Yardgraph;
  readonly names: Names;
  readonly upsertKeys: ReadonlyMap<RecordKind, string>;
  /** Kinds of which records are created for names that none has. */
  readonly createMissing: ReadonlySet<RecordKind>;
  /** Those names: with a preview, they are only counted. */
  readonly missing: Map<RecordKind, Set<string>>;
  readonly isPreview: boolean;
}

/** A row whose links are being set. */
interface Linkable extends LinkedRow {
  readonly record: Record<string, unknown>;
  readonly issues: Issue[];
  readonly late: LinkCells[];
  readonly unsent: Set<string>;
}

/** Returns the rows with their links. They are sent together: those that are created may lead to each other. */
export async function linkRows(
  linking: Linking,
  kind: RecordKind,
  rows: readonly RecordRow[],
  warn: Warn = () => {},
): Promise<readonly LinkedRow[]> {
  const by = linking.upsertKeys.get(kind);
  const linked = rows.map((row): Linkable => {
    return { row, record: recordOf(row, by), issues: [...row.issues], late: [], unsent: new Set() };
  });
  const valid = linked.filter(({ issues }) => issues.length === 0);
  const refs = nameRows(linking, kind, valid);
  const references = valid.flatMap((each) => cellsOf(each.row, by === 'id').map((cells) => ({ each, cells })));
  const stored = await lookUp(
    linking,
    references.map(({ cells }) => cells),
  );
  for (const { each, cells } of references) {
    const [{ name, field, by: first, value }] = cells;
    const to = linkOf(linking, cells, stored);
    if (to === 'coming') {
      if (cells.length === 1 && first === 'id' && refs.has(value ?? '')) each.record[name] = { ref: value };
      else if (linking.isPreview) each.unsent.add(field);
      else each.late.push(cells);
    } else if ('issue' in to) each.issues.push(to.issue);
    else {
      Object.assign(each.record, to.values);
      warnOfForeign(warn, each.row, cells, to.values);
    }
  }
  return linked;
}

function recordOf({ id, fields, externalIds }: RecordRow, by: string | undefined): Record<string, unknown> {
  const ids = Object.entries(externalIds);
  const set = ids.filter(([, value]) => value !== null);
  const own = by === 'id' && id !== undefined ? { id, ...fields } : { ...fields };
  if (ids.length > 0 && by !== undefined) return { ...own, mergeExternalIds: externalIds };
  return set.length > 0 ? { ...own, externalIds: Object.fromEntries(set) } : own;
}

/**
 * Gives rows that are created the names by which others of the same request refer to them: their IDs in the file. Returns these. Only the first
 * row with an ID that is not refused may be meant by a link.
 */
function nameRows({ names, upsertKeys }: Linking, kind: RecordKind, rows: readonly Linkable[]): ReadonlySet<string> {
  const refs = new Set<string>();
  const seen = new Set<string>();
  const ofKind = names.get(kind)?.get('id');
  const by = upsertKeys.get(kind);
  for (const { row, record, issues } of rows) {
    const { id } = row;
    const named = id === undefined || by === 'id' ? undefined : ofKind?.get(id);
    if (id === undefined || !named) continue;
    if (named.left > named.coming || seen.has(id)) {
      issues.push({ path: ['id'], message: `an earlier row has the ID ${quote(id)}` });
    } else if (by === undefined) {
      record.ref = id;
      refs.add(id);
    }
    seen.add(id);
  }
  return refs;
}

/**
 * The cells of each link of a row. Rows with the IDs of stored records come from an export, which says a link in all ways, so an empty cell
 * says that the target has no such text. In other rows, it says nothing beside one with a value.
 */
function cellsOf({ links }: RecordRow, isExported: boolean): LinkCells[] {
  return [...new Set(links.map(({ field }) => field))].map((field) => {
    const all = links.filter((link) => link.field === field);
    const given = all.filter(({ value }) => value !== null);
    return (isExported || given.length === 0 ? all : given) as unknown as LinkCells;
  });
}

const namedBy = ({ names }: Linking, { target, by, value }: RowLink): Named | undefined =>
  names
    .get(target)
    ?.get(by)
    ?.get(value ?? '');

/** The IDs of the stored records with the text of a cell, as far as it matters who has it. */
type Stored = (link: RowLink) => readonly string[];

/**
 * Looks up texts of rows that have no record yet, which stored records may have, too, and names for which records are created if none has them.
 * These are created, or counted in a preview.
 */
async function lookUp(linking: Linking, all: readonly LinkCells[]): Promise<Stored> {
  const { yardgraph, upsertKeys, missing, isPreview } = linking;
  const found = new Map<string, Map<string, string[]>>();
  const keyOf = ({ target, by }: RowLink) => `${target.name}.${by}`;
  /** Not a name that a row of the import has: once a refused one is fixed and imported, there would be two. Nor beside another cell. */
  const mayBeCreated = ({ target, by, value }: RowLink, cells: LinkCells) =>
    by === 'name' && linking.createMissing.has(target) && cells.every((cell) => (cell.value ?? value) === value);
  const wanted = all.flatMap((cells) =>
    cells.filter((link) => {
      const { target, by, value } = link;
      if (value === null || by === 'id' || externalKey(by) !== undefined) return false;
      return namedBy(linking, link) ? isPreview || upsertKeys.get(target) === by : mayBeCreated(link, cells);
    }),
  );
  for (const key of new Set(wanted.map(keyOf))) {
    const ofKey = wanted.filter((link) => keyOf(link) === key);
    const [{ target, by }] = ofKey as [RowLink];
    const stored = await storedWith(yardgraph, target, by, [...new Set(ofKey.map(({ value }) => value ?? ''))]);
    found.set(key, stored);
    const isAbsent = (link: RowLink) => !namedBy(linking, link) && !stored.has(link.value ?? '');
    const absent = new Set(ofKey.filter(isAbsent).map(({ value }) => copied(value ?? '')));
    if (absent.size === 0) continue;
    const known = missing.get(target) ?? new Set();
    missing.set(target, known);
    for (const name of absent) known.add(name);
    const rows = [...absent].map((name) => ({ kind: target.name, record: { name } })) as never[];
    // A name that is refused leads to no record, which refuses the row.
    if (!isPreview) for await (const _ of yardgraph.import(rows));
  }
  return (link) => found.get(keyOf(link))?.get(link.value ?? '') ?? [];
}

type Link = { readonly values: Readonly<Record<string, unknown>> } | { readonly issue: Issue } | 'coming';

/** What the cells of a link say, as it is sent; or that it leads to a row that has no record yet. */
export function linkOf(linking: Linking, cells: LinkCells, stored: Stored = () => []): Link {
  const { upsertKeys, isPreview, missing } = linking;
  const [{ name, field, target }] = cells;
  const key = upsertKeys.get(target);
  if (cells.every(({ value }) => value === null)) return { values: { [field]: null } };
  const ids = new Set<string>();
  const ways: Record<string, unknown> = {};
  let isComing = false;
  for (const link of cells) {
    const { by, value } = link;
    const named = value === null ? undefined : namedBy(linking, link);
    const isLeft = named !== undefined && named.left > 0;
    if (by === 'id') {
      if (value === null) return contradiction(cells);
      const isOwn = kindOfId(value) === target;
      // A row that was refused leaves an ID of this service to the record that has it.
      if (!named || (isOwn && (key === 'id' || !isLeft))) ids.add(value);
      else if (!isLeft) return { issue: { path: [field], message: `the row with the ID ${quote(value)} was refused` } };
      else if (named.record === undefined) isComing = true;
      else ids.add(named.record);
    } else if (isLeft && (isPreview || named.coming > 0)) {
      const found = stored(link);
      const record = named.record ?? (by === key ? found[0] : undefined);
      // When they are stored, the service finds out how many have the text.
      if (isPreview && by !== key && (named.left > 1 || found.some((id) => id !== record))) return several(link);
      if (record === undefined) isComing = true;
      else ids.add(record);
    } else if (isPreview && named?.rows === 0) {
      const message = `no ${target.label} has the ${by} ${quote(value ?? '')} any more, when its row is stored`;
      return { issue: { path: [name], message } };
    } else if (isPreview && by === 'name' && missing.get(target)?.has(value ?? '')) isComing = true;
    else {
      const system = externalKey(by);
      if (system === undefined) ways[by] = value;
      else ways.externalIds = { ...(ways.externalIds as object), [system]: value };
    }
  }
  const [id, other] = ids;
  if (other !== undefined) return contradiction(cells);
  if (isComing) return 'coming';
  // What is stored elsewhere has no other texts here.
  const isForeign =
    id !== undefined && kindOfId(id) !== target && cells.every(({ by, value }) => by === 'id' || !value);
  if (isForeign || Object.keys(ways).length === 0) return { values: { [field]: id } };
  return { values: { [name]: id === undefined ? ways : { id, ...ways } } };
}

const several = ({ name, by, value, target }: RowLink): Link => ({
  issue: { path: [name], message: `several ${target.pluralLabel} have the ${by} ${quote(value ?? '')}` },
});

function contradiction(cells: LinkCells): Link {
  const [{ field, target }] = cells;
  const texts = cells.map(({ by, value }) => `${by} ${value === null ? 'nothing' : quote(value)}`);
  return { issue: { path: [field], message: `expected one ${target.label}, received ${texts.join(' and ')}` } };
}

function warnOfForeign(warn: Warn, { source }: RecordRow, cells: LinkCells, sent: object): void {
  for (const { by, value, cell, field, target } of cells) {
    const isForeign = by === 'id' && value !== null && kindOfId(value) !== target;
    if (!isForeign || !Object.values(sent).includes(value)) continue;
    const message = `no ${target.label} here has such an ID: it is kept as one of another system`;
    warn({ line: source.line, column: source.names[cell] ?? field, message });
  }
}

/** The IDs of the records that rows of this import have become, by the cells of `row` that have the IDs of these rows. */
export function recordIdsIn(names: Names, { links }: RecordRow): Map<number, string> {
  const ids = new Map<number, string>();
  for (const { target, by, value, cell } of links) {
    const record =
      by === 'id'
        ? names
            .get(target)
            ?.get(by)
            ?.get(value ?? '')?.record
        : undefined;
    if (record !== undefined) ids.set(cell, record);
  }
  return ids;
}
