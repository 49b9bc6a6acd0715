/**
 * Links of rows: to stored records, which the service finds by what cells say of them, and to rows of the same import, which are known by texts
 * that are not stored, such as their IDs in the file. Records of other kinds are stored before those that link to them; links to rows of the
 * same kind, as of categories to their parents, are set when all rows are stored. If several cells say a link, such as an ID and a name, all
 * must be true of one record.
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

/** The rows that had one text, by which links lead to them. */
interface Named {
  /** The number of those that were not refused. */
  count: number;
  /** The record of the first of these. A preview has none of a row that would be created. */
  record: string | undefined;
  /** True if a record that had the text gets another one. */
  isTaken?: boolean;
}

/** What links say of their targets, by kind: `id`, `name`, `externalIds.erp`. */
export type LinkKeys = ReadonlyMap<RecordKind, ReadonlySet<string>>;

/** The rows that have been sent, as far as links may lead to them: by kind, by what links say, and by its text. */
export type Names = ReadonlyMap<RecordKind, ReadonlyMap<string, Map<string, Named>>>;

export const noNames = (keys: LinkKeys): Names =>
  new Map([...keys].map(([kind, all]) => [kind, new Map([...all].map((by) => [by, new Map()]))]));

/** The texts of all rows of the kinds that link to themselves. */
export type OwnTexts = ReadonlyMap<RecordKind, ReadonlyMap<string, ReadonlySet<string>>>;

/** Notes what has become of a row: `record` is the ID of its record, if it has one. */
export function noteRow(names: Names, { row, outcome, before, after }: SentRow, record: string | undefined): void {
  for (const [by, rows] of names.get(row.kind) ?? []) {
    const entryOf = (text: string): Named => {
      const known = rows.get(text);
      const named = known ?? { count: 0, record: undefined };
      if (!known) rows.set(copied(text), named);
      return named;
    };
    const text = nameOf(row, by);
    const named = text === undefined ? undefined : entryOf(text);
    if (named && outcome !== 'REJECTED') {
      named.count += 1;
      named.record ??= record;
    }
    const old = valueAt(before, by);
    if (typeof old === 'string' && old !== valueAt(after, by)) entryOf(old).isTaken = true;
  }
}

/** A part of a text keeps the whole piece of the file in memory. */
export const copied = (text: string): string => JSON.parse(JSON.stringify(text));

export interface Linking {
  readonly yardgraph: Yardgraph;
  readonly names: Names;
  readonly ownTexts: OwnTexts;
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

/** Returns the rows with their links, and those that are to be set later. */
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
  if (by !== 'id') refuseRepeatedIds(linking, kind, valid);
  const references = valid.flatMap((each) => cellsOf(each.row, by === 'id').map((cells) => ({ each, cells })));
  const stored = await lookUp(
    linking,
    references.map(({ cells }) => cells),
  );
  for (const { each, cells } of references) {
    const [{ target, field }] = cells;
    const isOwn = target === kind && isToRow(linking, cells);
    const to = isOwn ? linkToOwnKind(linking, cells, stored) : linkOf(linking, cells, stored);
    if (to === 'later') {
      each.unsent.add(field);
      if (isOwn) each.late.push(cells);
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

/** Links by an ID of the file lead to the first row that has it and is not refused. */
function refuseRepeatedIds({ names }: Linking, kind: RecordKind, rows: readonly Linkable[]): void {
  const ids = names.get(kind)?.get('id');
  const seen = new Set<string>();
  for (const { row, issues } of rows) {
    if (!ids || row.id === undefined) continue;
    const isRepeated = seen.has(row.id) || (ids.get(row.id)?.count ?? 0) > 0;
    if (isRepeated) issues.push({ path: ['id'], message: `an earlier row has the ID ${quote(row.id)}` });
    seen.add(row.id);
  }
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

const namedBy = (names: Names, { target, by, value }: RowLink): Named | undefined =>
  names
    .get(target)
    ?.get(by)
    ?.get(value ?? '');

/** The IDs of the stored records with the text of a cell, as far as they were looked up. */
type Stored = (link: RowLink) => readonly string[];

/**
 * Looks up what a preview must know of stored records, and names for which records are created if none has them: these are created, or counted
 * in a preview.
 */
async function lookUp(linking: Linking, all: readonly LinkCells[]): Promise<Stored> {
  const { yardgraph, missing, isPreview } = linking;
  const found = new Map<string, Map<string, string[]>>();
  const keyOf = ({ target, by }: RowLink) => `${target.name}.${by}`;
  const isOfRow = (link: RowLink) => namedBy(linking.names, link) !== undefined || isToRow(linking, [link]);
  /** Not a name that a row of the import has: once a refused one is fixed and imported, there would be two. Nor beside another cell. */
  const mayBeCreated = ({ target, by }: RowLink, cells: LinkCells) =>
    by === 'name' && linking.createMissing.has(target) && cells.filter(({ value }) => value !== null).length === 1;
  const wanted = all.flatMap((cells) =>
    cells.filter((link) => {
      if (link.value === null || link.by === 'id' || externalKey(link.by) !== undefined) return false;
      return isOfRow(link) ? isPreview : mayBeCreated(link, cells);
    }),
  );
  for (const key of new Set(wanted.map(keyOf))) {
    const ofKey = wanted.filter((link) => keyOf(link) === key);
    const [{ target, by }] = ofKey as [RowLink];
    const stored = await storedWith(yardgraph, target, by, [...new Set(ofKey.map(({ value }) => value ?? ''))]);
    found.set(key, stored);
    const isAbsent = (link: RowLink) => !isOfRow(link) && !stored.has(link.value ?? '');
    const absent = new Set(ofKey.filter(isAbsent).map(({ value }) => copied(value ?? '')));
    if (absent.size === 0) continue;
    const known = missing.get(target) ?? new Set();
    missing.set(target, known);
    const rows = [...absent].map((name) => ({ kind: target.name, record: { name } }));
    // A name that is refused leads to no record, which refuses the row.
    const created = isPreview ? absent : await createdNames(yardgraph, rows as never[]);
    for (const name of created) known.add(name);
  }
  return (link) => found.get(keyOf(link))?.get(link.value ?? '') ?? [];
}

async function createdNames(yardgraph: Yardgraph, rows: Parameters<Yardgraph['import']>[0]): Promise<string[]> {
  const names: string[] = [];
  for await (const { row, outcome } of yardgraph.import(rows)) {
    if (outcome === 'CREATED') names.push(String((row.record as { readonly name?: unknown }).name));
  }
  return names;
}

type Link = { readonly values: Readonly<Record<string, unknown>> } | { readonly issue: Issue } | 'later';

/** True if a cell may mean another row of the same kind. */
const isToRow = ({ ownTexts }: Linking, cells: readonly RowLink[]): boolean =>
  cells.some(({ target, by, value }) => value !== null && ownTexts.get(target)?.get(by)?.has(value));

const hasId = (cells: LinkCells): boolean => cells.some(({ by, value }) => by === 'id' && value !== null);

/** A link to a row of the same kind: it is set at the end, unless an ID says the record. A preview compares what is stored so far. */
function linkToOwnKind(linking: Linking, cells: LinkCells, stored: Stored): Link {
  const [{ field, target }] = cells;
  const id = linking.upsertKeys.get(target) === 'id' ? cells.find(({ by }) => by === 'id')?.value : undefined;
  if (id && (linking.isPreview || cells.length === 1)) return { values: { [field]: id } };
  const [only, ...others] = hasId(cells) ? [] : new Set(cells.flatMap(stored));
  if (!linking.isPreview || only === undefined) return 'later';
  const isCreated = !linking.upsertKeys.has(target);
  return others.length === 0 && !isCreated ? { values: { [field]: only } } : several(cells[0]);
}

/** What the cells of a link say, as it is sent. In a preview, it may lead to a row that would be created. */
function linkOf(linking: Linking, cells: LinkCells, stored: Stored): Link {
  const { upsertKeys, isPreview, missing } = linking;
  const [{ name, field, target }] = cells;
  const key = upsertKeys.get(target);
  if (cells.every(({ value }) => value === null)) return { values: { [field]: null } };
  const isById = hasId(cells);
  const ids = new Set<string>();
  const said: Record<string, unknown> = {};
  let isLater = false;
  for (const link of cells) {
    const { by, value } = link;
    const named = value === null ? undefined : namedBy(linking.names, link);
    const isLeft = named !== undefined && named.count > 0;
    if (by === 'id') {
      if (value === null) return contradiction(cells);
      const isOwn = kindOfId(value) === target;
      // A row that was refused leaves an ID of this service to the record that has it.
      if (!named || (isOwn && (key === 'id' || !isLeft))) ids.add(value);
      else if (!isLeft) return { issue: { path: [field], message: `the row with the ID ${quote(value)} was refused` } };
      else if (named.record === undefined) isLater = true;
      else ids.add(named.record);
    } else if (isPreview && isLeft) {
      // When it is stored, the service finds out how many have the text, beside what else is said.
      // A record that has the text now, and gets another one, does not count.
      const isFree = named.isTaken || stored(link).every((id) => id === named.record);
      const isOnly = by === key || (named.count === 1 && isFree);
      if (!isById && !isOnly) return several(link);
      if (named.record === undefined) isLater = true;
      else if (!isById) ids.add(named.record);
    } else if (isPreview && named?.isTaken) {
      const message = `no ${target.label} has ${textOf(link)} any more, when its row is stored`;
      return { issue: { path: [name], message } };
    } else if (isPreview && by === 'name' && missing.get(target)?.has(value ?? '')) isLater = true;
    else {
      const system = externalKey(by);
      if (system === undefined) said[by] = value;
      else said.externalIds = { ...(said.externalIds as object), [system]: value };
    }
  }
  const [id, other] = ids;
  if (other !== undefined) return contradiction(cells);
  if (isLater) return 'later';
  // What is stored elsewhere has no other texts here.
  const isForeign =
    id !== undefined && kindOfId(id) !== target && cells.every(({ by, value }) => by === 'id' || !value);
  if (isForeign || Object.keys(said).length === 0) return { values: { [field]: id } };
  return { values: { [name]: id === undefined ? said : { id, ...said } } };
}

const textOf = ({ by, value }: RowLink): string => `the ${by === 'id' ? 'ID' : by} ${quote(value ?? '')}`;

const several = (link: RowLink): Link => ({
  issue: { path: [link.name], message: `several ${link.target.pluralLabel} have ${textOf(link)}` },
});

function contradiction(cells: LinkCells): Link {
  const [{ field, target }] = cells;
  const texts = cells.map(({ by, value }) => `${by} ${value === null ? 'nothing' : quote(value)}`);
  return { issue: { path: [field], message: `expected one ${target.label}, received ${texts.join(' and ')}` } };
}

/** Links that are set when all rows are sent: what is to be sent, or why it cannot be. A preview does not send them. */
export async function lateLinks(linking: Linking, all: readonly LinkCells[]): Promise<readonly Link[]> {
  const stored = await lookUp(linking, all);
  return all.map((cells) => {
    const isLost = (link: RowLink) =>
      link.by !== 'id' && !namedBy(linking.names, link)?.count && stored(link).length === 0;
    const lost = linking.isPreview ? cells.find((link) => link.value !== null && isLost(link)) : undefined;
    if (lost) return { issue: { path: [], message: `the row with ${textOf(lost)} was refused` } };
    return linkOf(linking, cells, stored);
  });
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
  for (const link of links) {
    const record = link.by === 'id' ? namedBy(names, link)?.record : undefined;
    if (record !== undefined) ids.set(link.cell, record);
  }
  return ids;
}
