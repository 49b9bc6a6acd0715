/**
 * Turns rows into items of `importRecords`. The service resolves all links within a part: the ID that a row has in its file becomes the `ref`
 * of its item, and everything else is sent as the cells say it. Links to rows of earlier parts lead to the records that these have become. A
 * preview stores no earlier part, so it leaves such links out where the service would look for what is not there yet.
 */
import { quote } from '../model/issues.ts';
import { linkFields } from '../model/links.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { isBlank } from '../model/schemas.ts';
import { kindOfId } from '../records/index.ts';
import type { ImportFile } from './file.ts';
import { FirstRows } from './first-rows.ts';
import type { Scanned } from './reading.ts';
import {
  copied,
  externalKey,
  type FileRow,
  type LinkCell,
  pathOf,
  type RowIssue,
  type RowOutcome,
  textAt,
  valueAt,
} from './row.ts';

/** An item to send, unless it has issues. */
export interface RowItem {
  readonly row: FileRow;
  readonly record: Values;
  readonly issues: readonly RowIssue[];
  /** The fields of links that were left out. */
  readonly unchecked: ReadonlySet<string>;
  /** Cells whose IDs are kept as those of another system. */
  readonly foreign: readonly LinkCell[];
}

/** Where a link by the ID of a row leads: to an item of the same part, to a record, or nowhere. */
type Target = { readonly ref: string; readonly row: FileRow } | { readonly id: string } | 'refused' | 'unchecked';

interface IndexOptions {
  readonly files: readonly ImportFile[];
  readonly scanned: Scanned;
  /** By kind, how the stored record of a row is found; rows of other kinds are created. */
  readonly upsertKeys: ReadonlyMap<RecordKind, string>;
  readonly isPreview?: boolean;
}

/** The rows of an import so far, as later rows need them: their keys, their names, and the records to which links lead. */
export class RowIndex {
  readonly #options: IndexOptions;
  /** By kind and key; a row is its line and the place of its file, as one number. */
  readonly #firstRows = new Map<RecordKind, Map<string, FirstRows>>();
  /** By kind and name: the ID of the row, undefined if several rows have the name. */
  readonly #names = new Map<RecordKind, Map<string, string | undefined>>();
  /** By kind and the ID of a row: its record, null if the row was refused, undefined if a preview would create it. */
  readonly #records = new Map<RecordKind, Map<string, string | null | undefined>>();
  /** The rows of the part that is being sent, by their IDs. */
  readonly #refs = new Map<RecordKind, Map<string, { readonly ref: string; readonly row: FileRow }>>();
  /** Texts that records would get or lose in an earlier part of a preview. */
  readonly #pending = new Set<string>();
  /** IDs of rows, and whether stored records have them as names. */
  readonly #storedNames = new Map<string, boolean>();

  constructor(options: IndexOptions) {
    this.#options = options;
    for (const [kind, keys] of options.scanned.linkKeys) {
      this.#names.set(kind, new Map());
      this.#refs.set(kind, new Map());
      this.#records.set(kind, new Map());
      if (keys.has('id')) this.#firstRows.set(kind, new Map([['id', new FirstRows()]]));
    }
    for (const [kind, by] of options.upsertKeys) {
      this.#firstRows.set(kind, new Map([...(this.#firstRows.get(kind) ?? []), [by, new FirstRows()]]));
    }
  }

  /**
   * Notes a row, once, and refuses it if an earlier row has the same ID or upsert key, which it would overwrite. A refused row counts, too, so
   * that a preview and each start decide alike.
   */
  note(row: FileRow): FileRow {
    const names = this.#names.get(row.kind);
    const name = textAt(row, 'name');
    if (names && name !== undefined) names.set(copied(name), names.has(name) ? undefined : row.id);
    const { files } = this.#options;
    const issues: RowIssue[] = [];
    for (const [by, rows] of this.#firstRows.get(row.kind) ?? []) {
      const text = textAt(row, by);
      if (text === undefined || isBlank(text)) continue;
      const first = rows.add(text, row.source.line * files.length + files.indexOf(row.file));
      if (first !== undefined) {
        const where = lineOf(Math.floor(first / files.length), files[first % files.length], row.file);
        issues.push({ path: pathOf(by), message: `${where} also has the ${by} ${quote(text)}` });
      }
    }
    return issues.length === 0 ? row : { ...row, issues: [...row.issues, ...issues] };
  }

  /** Lets links lead to the rows of a part that is about to be sent. */
  begin(rows: readonly FileRow[]): void {
    for (const refs of this.#refs.values()) refs.clear();
    for (const [index, row] of rows.entries()) {
      if (row.issues.length > 0) this.settle({ row, outcome: 'REJECTED' });
      else if (row.id !== undefined) this.#refs.get(row.kind)?.set(row.id, { ref: String(index), row });
    }
  }

  refOf({ kind, id }: FileRow): string | undefined {
    return id === undefined ? undefined : this.#refs.get(kind)?.get(id)?.ref;
  }

  settle(settled: Pick<RowOutcome, 'row' | 'outcome' | 'id' | 'before' | 'after'>): void {
    const { row, outcome, id, before, after } = settled;
    const { kind, id: rowId } = row;
    const { isPreview = false, scanned } = this.#options;
    const refs = this.#refs.get(kind);
    if (rowId !== undefined && refs?.get(rowId)?.row === row) refs.delete(rowId);
    this.#noteRecord(kind, rowId, outcome === 'REJECTED' ? null : isPreview && outcome === 'CREATED' ? undefined : id);
    for (const by of (isPreview && scanned.linkKeys.get(kind)) || []) {
      const [old, now] = [valueAt(before, by) ?? null, valueAt(after, by) ?? null];
      if (by === 'id' || old === now) continue;
      for (const text of [old, now]) if (typeof text === 'string') this.#pending.add(keyOfText(kind, by, text));
    }
  }

  #noteRecord(kind: RecordKind, rowId: string | undefined, record: string | null | undefined): void {
    const records = this.#records.get(kind);
    // Of rows with the same ID, the first one counts: the others were refused.
    if (rowId !== undefined && records && !(record === null && records.has(rowId))) records.set(copied(rowId), record);
  }

  rowWithId(kind: RecordKind, id: string): Target | undefined {
    const item = this.#refs.get(kind)?.get(id);
    if (item) return item;
    const records = this.#records.get(kind);
    const record = records?.get(id);
    if (typeof record === 'string') return { id: record };
    if (record === null) return 'refused';
    return records?.has(id) ? 'unchecked' : undefined;
  }

  /** The IDs of rows by which links lead to them, once each: stored records may have them as names. */
  idsLikeNames(rows: readonly FileRow[]): ReadonlyMap<RecordKind, ReadonlySet<string>> {
    const ids = new Map<RecordKind, Set<string>>();
    for (const { by, target, value } of rows.flatMap(({ links }) => links)) {
      const key = keyOfText(target, 'name', value ?? '');
      if (by !== 'any' || value === null || this.#storedNames.has(key) || !this.rowWithId(target, value)) continue;
      ids.set(target, (ids.get(target) ?? new Set()).add(value));
      this.#storedNames.set(key, false);
    }
    return ids;
  }

  noteStoredName(kind: RecordKind, name: string): void {
    this.#storedNames.set(keyOfText(kind, 'name', name), true);
  }

  /** True if a row of the import has the name, even a refused one. */
  isNameOfRow = (kind: RecordKind, name: string): boolean => this.#names.get(kind)?.has(name) ?? false;

  /** True if the row with this ID has it as its name, too, and no other row has. */
  isIdAndName = (kind: RecordKind, text: string): boolean => this.#names.get(kind)?.get(text) === text;

  isNameOfOther = (kind: RecordKind, name: string): boolean =>
    this.isNameOfRow(kind, name) || this.#storedNames.get(keyOfText(kind, 'name', name)) === true;

  isPending = (kind: RecordKind, by: string, text: string): boolean => this.#pending.has(keyOfText(kind, by, text));

  upsertKey = (kind: RecordKind): string | undefined => this.#options.upsertKeys.get(kind);
}

/** No key has a space. */
const keyOfText = ({ name }: RecordKind, by: string, text: string): string => copied(`${name}.${by} ${text}`);

/** Returns `line 2`, or `line 2 of assets.csv` if that is another file. */
export const lineOf = (line: number, file: ImportFile | undefined, from: ImportFile): string =>
  `line ${line}${file === from ? '' : ` of ${file?.name}`}`;

/** Returns the items of the rows of a part, which the index has begun. */
export function itemsOf(index: RowIndex, rows: readonly FileRow[]): RowItem[] {
  const refs = new Set<string>();
  const items = rows.map((row) => {
    const record = recordOf(row, index);
    const issues = [...row.issues];
    const unchecked = new Set<string>();
    const foreign: LinkCell[] = [];
    for (const cells of row.issues.length > 0 ? [] : linksOf(row, index)) {
      const link = linkOf(index, cells);
      if (link === 'unchecked') unchecked.add(cells[0].field);
      else if ('issue' in link) issues.push(link.issue);
      else record[link.name] = link.value;
      if (typeof link === 'object' && 'ref' in link) refs.add(link.ref);
      foreign.push(...cells.filter((cell) => isForeign(cell) && record[cell.field] === cell.value));
    }
    // Later rows of the part link to no refused one.
    if (issues.length > row.issues.length) index.settle({ row, outcome: 'REJECTED' });
    return { row, record, issues, unchecked, foreign };
  });
  // Items without refs are stored faster.
  for (const { row, record } of items) {
    const ref = index.refOf(row);
    if (ref !== undefined && refs.has(ref)) record.ref = ref;
  }
  return items;
}

function recordOf({ kind, id, fields, externalIds }: FileRow, index: RowIndex): Record<string, unknown> {
  const by = index.upsertKey(kind);
  const ids = Object.entries(externalIds);
  const set = by === undefined ? ids.filter(([, value]) => value !== null) : ids;
  return {
    ...(by === 'id' && id !== undefined && { id }),
    ...fields,
    ...(set.length > 0 && { [by === undefined ? 'externalIds' : 'mergeExternalIds']: Object.fromEntries(set) }),
  };
}

/** All cells of a link. */
type LinkCells = readonly [LinkCell, ...LinkCell[]];

/**
 * The cells of each link of a row. Rows with the IDs of stored records come from an export, which says a link in all ways, so an empty cell
 * says that the target has no such text. In other rows, it says nothing beside one with a value.
 */
function linksOf({ kind, links }: FileRow, index: RowIndex): LinkCells[] {
  const isExported = index.upsertKey(kind) === 'id';
  return linkFields(kind).flatMap(([, field]) => {
    const all = links.filter((link) => link.field === field);
    const given = all.filter(({ value }) => value !== null);
    const [first, ...others] = isExported || given.length === 0 ? all : given;
    return first ? [[first, ...others] as const] : [];
  });
}

const isForeign = ({ by, value, target }: LinkCell): boolean =>
  by === 'id' && value !== null && kindOfId(value) !== target;

/** A field of the item, or why there is none; or a preview cannot check the link. */
type ItemLink =
  | { readonly name: string; readonly value: unknown; readonly ref?: string }
  | { readonly issue: RowIssue }
  | 'unchecked';

function linkOf(index: RowIndex, cells: LinkCells): ItemLink {
  const [{ name, field, target }] = cells;
  if (cells.every(({ value }) => value === null)) return { name: field, value: null };
  const byId = cells.find(({ by }) => by === 'id' || by === 'any');
  const others = cells.filter((cell) => cell !== byId);
  const isPending = ({ by, value }: LinkCell) => value !== null && index.isPending(target, by, value);
  if (others.some(isPending)) return 'unchecked';
  if (!byId) return { name, value: criteriaOf(others) };
  const { by, value } = byId;
  if (value === null) return contradiction(cells);
  const isRecordId = kindOfId(value) === target;
  // The ID of a stored record, although a row has it: that row is found by it.
  const row = isRecordId && index.upsertKey(target) === 'id' ? undefined : index.rowWithId(target, value);
  if (by === 'any' && !isRecordId) {
    if (!row || index.isIdAndName(target, value)) return linkByName(index, byId, others);
    if (index.isNameOfOther(target, value)) return twoMeanings(byId);
  }
  if (row === 'unchecked') return 'unchecked';
  if (row === 'refused') return refusedRow(field, value);
  if (row && 'ref' in row) {
    const isTrue = others.every((cell) => (textAt(row.row, cell.by) ?? null) === cell.value);
    return isTrue ? { name, value: { ref: row.ref }, ref: row.ref } : contradiction(cells);
  }
  const id = row?.id ?? value;
  // What is stored elsewhere has no other texts here.
  const isAlone = others.length === 0 || (!row && !isRecordId && others.every((cell) => cell.value === null));
  return isAlone ? { name: field, value: id } : { name, value: { id, ...criteriaOf(others) } };
}

function linkByName(index: RowIndex, cell: LinkCell, others: readonly LinkCell[]): ItemLink {
  const { name, target, value } = cell;
  if (value !== null && index.isPending(target, 'name', value)) return 'unchecked';
  const isContradicted = others.some((other) => other.by === 'name' && other.value !== value);
  return isContradicted ? contradiction([cell, ...others]) : { name, value: { ...criteriaOf(others), name: value } };
}

function criteriaOf(cells: readonly LinkCell[]): Values {
  const criteria: Record<string, unknown> = {};
  for (const { by, value } of cells) {
    const system = externalKey(by);
    if (system === undefined) criteria[by] = value;
    else criteria.externalIds = { ...(criteria.externalIds as object), [system]: value };
  }
  return criteria;
}

export const refusedRow = (field: string, id: string): { readonly issue: RowIssue } => ({
  issue: { path: [field], message: `the row with the ID ${quote(id)} was refused` },
});

export const sayAlike = 'change them alike, or leave a column out with --skip';

function contradiction([first, ...others]: LinkCells): ItemLink {
  const texts = [first, ...others].map(({ by, value }) => `${by} ${value === null ? 'nothing' : quote(value)}`);
  const message = `expected one ${first.target.label}, received ${texts.join(' and ')}: ${sayAlike}`;
  return { issue: { path: [first.name], message } };
}

function twoMeanings({ name, target, value }: LinkCell): ItemLink {
  const both = `a row has ${quote(value ?? '')} as its ID, and another ${target.label} as its name`;
  const message = `${both}: say which by --link-by ${name}=id or --link-by ${name}=name`;
  return { issue: { path: [name], message } };
}

/** The records that rows have become, by the cells of `row` that have the IDs of these rows. */
export function recordIdsIn(index: RowIndex, { links }: FileRow): Map<number, string> {
  const ids = new Map<number, string>();
  for (const { by, target, value, cell } of links) {
    const row = (by === 'id' || by === 'any') && value !== null ? index.rowWithId(target, value) : undefined;
    if (typeof row === 'object' && 'id' in row) ids.set(cell, row.id);
  }
  return ids;
}
