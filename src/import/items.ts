/**
 * Within a part the service resolves links: the ID of a row becomes the `ref` of its item. A link to a row of an
 * earlier part leads to its stored record. A preview stores nothing: it leaves out links whose target an earlier part
 * would create or change, and counts them.
 */
import { quote } from '../model/issues.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { isBlank } from '../model/schemas.ts';
import { sortKey } from '../model/sort-key.ts';
import { kindOfId, label } from '../records/index.ts';
import type { ImportFile } from './file.ts';
import { isPath, namesOfPath } from './paths.ts';
import type { Scanned } from './reading.ts';
import {
  columnPath,
  detached,
  externalSystem,
  type FileRow,
  keyValue,
  type LinkCell,
  type RowIssue,
  type RowOutcome,
  rowKeyText,
} from './row.ts';

/** Sent unless it has issues. */
export interface RowItem {
  readonly row: FileRow;
  readonly record: Values;
  readonly issues: readonly RowIssue[];
  readonly unchecked: ReadonlySet<string>;
  readonly foreign: readonly LinkCell[];
}

/** An item of the same part, or a record. */
type Target = { readonly ref: string; readonly row: FileRow } | { readonly id: string } | 'refused' | 'unchecked';

export interface ImportedFiles {
  readonly files: readonly ImportFile[];
  readonly scanned: Scanned;
  /** By kind, the key that finds stored records. Rows of other kinds are created. */
  readonly upsertKeys: ReadonlyMap<RecordKind, string>;
}

type IndexOptions = ImportedFiles & { readonly isPreview?: boolean };

/** The keys and names of the rows so far, and the records they were stored as. */
export class RowIndex {
  readonly #options: IndexOptions;
  /** By kind and key. A row is one number: its line, and the index of its file. */
  readonly #firstRows = new Map<RecordKind, Map<string, Map<string, number>>>();
  /** By kind and name: the ID of the row, undefined if several rows have the name. */
  readonly #names = new Map<RecordKind, Map<string, string | undefined>>();
  /** By `alikeKey`: the first name of a row, or of a record created for a link. */
  readonly #alikeNames = new Map<string, string>();
  /** By kind and ID of the row: its record, null if the row was refused, undefined if a preview would create it. */
  readonly #records = new Map<RecordKind, Map<string, string | null | undefined>>();
  readonly #refs = new Map<RecordKind, Map<string, { readonly ref: string; readonly row: FileRow }>>();
  /** Texts that an earlier part has taken from a record, or that a preview would give to one. */
  readonly #changedTexts = new Set<string>();
  /** IDs of rows: true if a stored record has the ID as its name. */
  readonly #storedNames = new Map<string, boolean>();
  /** The IDs of records by kind and path, for the links of a part. */
  paths: ReadonlyMap<RecordKind, ReadonlyMap<string, readonly string[]>> = new Map();

  constructor(options: IndexOptions) {
    this.#options = options;
    for (const [kind, keys] of options.scanned.linkKeys) {
      this.#names.set(kind, new Map());
      this.#refs.set(kind, new Map());
      this.#records.set(kind, new Map());
      if (keys.has('id')) this.#firstRows.set(kind, new Map([['id', new Map()]]));
    }
    for (const [kind, by] of options.upsertKeys) {
      this.#firstRows.set(kind, new Map([...(this.#firstRows.get(kind) ?? []), [by, new Map()]]));
    }
  }

  /**
   * Returns the row, with an issue if an earlier row has the same ID or upsert key, which it would overwrite. Refused
   * rows count, too: a preview and every resumed run must decide alike.
   */
  add(row: FileRow): FileRow {
    const names = this.#names.get(row.kind);
    const name = rowKeyText(row, 'name');
    if (names && name !== undefined) {
      names.set(detached(name), names.has(name) ? undefined : row.id);
      this.addAlikeName(row.kind, name);
    }
    const { files } = this.#options;
    const issues: RowIssue[] = [];
    for (const [by, rows] of this.#firstRows.get(row.kind) ?? []) {
      const text = rowKeyText(row, by);
      if (text === undefined || isBlank(text)) continue;
      const first = rows.get(text);
      if (first === undefined) rows.set(detached(text), row.source.line * files.length + files.indexOf(row.file));
      else {
        const where = describeLine(Math.floor(first / files.length), files[first % files.length]);
        issues.push({ path: columnPath(by), message: `${where} also has the ${by} ${quote(text)}` });
      }
    }
    return issues.length === 0 ? row : { ...row, issues: [...row.issues, ...issues] };
  }

  addAlikeName(kind: RecordKind, name: string): void {
    const key = alikeKey(kind, name);
    if (!this.#alikeNames.has(key)) this.#alikeNames.set(detached(key), detached(name));
  }

  startPart(rows: readonly FileRow[]): void {
    for (const refs of this.#refs.values()) refs.clear();
    for (const [index, row] of rows.entries()) {
      if (row.issues.length > 0) this.addOutcome({ row, outcome: 'REJECTED' });
      else if (row.id !== undefined) this.#refs.get(row.kind)?.set(row.id, { ref: String(index), row });
    }
  }

  addOutcome(settled: Pick<RowOutcome, 'row' | 'outcome' | 'id' | 'before' | 'after'>): void {
    const { row, outcome, id, before, after } = settled;
    const { kind, id: rowId } = row;
    const { isPreview = false, scanned } = this.#options;
    const refs = this.#refs.get(kind);
    if (rowId !== undefined && refs?.get(rowId)?.row === row) refs.delete(rowId);
    this.#addRecord(kind, rowId, outcome === 'REJECTED' ? null : isPreview && outcome === 'CREATED' ? undefined : id);
    for (const by of scanned.linkKeys.get(kind) ?? []) {
      const [old, now] = [keyValue(before, by) ?? null, keyValue(after, by) ?? null];
      if (by === 'id' || old === now) continue;
      for (const text of isPreview ? [old, now] : [old])
        if (typeof text === 'string') this.#changedTexts.add(textKey(kind, by, text));
    }
  }

  #addRecord(kind: RecordKind, rowId: string | undefined, record: string | null | undefined): void {
    const records = this.#records.get(kind);
    // The first row with an ID is the target of links: later ones are refused.
    if (rowId !== undefined && records && !(record === null && records.has(rowId)))
      records.set(detached(rowId), record);
  }

  targetOf(kind: RecordKind, rowId: string): Target | undefined {
    const item = this.#refs.get(kind)?.get(rowId);
    if (item) return item;
    const records = this.#records.get(kind);
    const record = records?.get(rowId);
    if (typeof record === 'string') return { id: record };
    if (record === null) return 'refused';
    return records?.has(rowId) ? 'unchecked' : undefined;
  }

  /** IDs in links that may also be names of stored records, each once in an import. */
  idsInDoubt(rows: readonly FileRow[]): ReadonlyMap<RecordKind, ReadonlySet<string>> {
    const ids = new Map<RecordKind, Set<string>>();
    for (const { by, target, value } of rows.flatMap(({ links }) => links)) {
      const key = textKey(target, 'name', value ?? '');
      if (by !== 'any' || value === null || this.#storedNames.has(key) || !this.targetOf(target, value)) continue;
      ids.set(target, (ids.get(target) ?? new Set()).add(value));
      this.#storedNames.set(key, false);
    }
    return ids;
  }

  addStoredName(kind: RecordKind, name: string): void {
    this.#storedNames.set(textKey(kind, 'name', name), true);
  }

  /** Except paths to rows that a preview does not store. */
  pathsIn(rows: readonly FileRow[]): ReadonlyMap<RecordKind, ReadonlySet<string>> {
    const paths = new Map<RecordKind, Set<string>>();
    for (const { kind, links } of rows) {
      for (const cell of links) {
        const { target, value } = cell;
        if (value === null || !isPath(cell) || this.isRowName(target, value) || this.isUnchecked(kind, target))
          continue;
        paths.set(target, (paths.get(target) ?? new Set()).add(value));
      }
    }
    return paths;
  }

  /** In a preview: an earlier part of the import may move or rename the targets of paths. */
  isUnchecked(from: RecordKind, target: RecordKind): boolean {
    const { isPreview = false, scanned } = this.#options;
    return isPreview && from !== target && scanned.sections.some(({ kind }) => kind === target);
  }

  /** Also true for a refused row. */
  isRowName = (kind: RecordKind, name: string): boolean => this.#names.get(kind)?.has(name) ?? false;

  alikeName = (key: string): string | undefined => this.#alikeNames.get(key);

  /** False if another row has the name, too. */
  isIdAndName = (kind: RecordKind, text: string): boolean => this.#names.get(kind)?.get(text) === text;

  isName = (kind: RecordKind, name: string): boolean =>
    this.isRowName(kind, name) || this.#storedNames.get(textKey(kind, 'name', name)) === true;

  isChangedEarlier = (kind: RecordKind, by: string, text: string | null): boolean =>
    text !== null && this.#changedTexts.has(textKey(kind, by, text));

  /** In a preview, which does not change the stored texts. */
  isTextUnchecked = (kind: RecordKind, by: string, text: string): boolean =>
    this.#options.isPreview === true && this.isChangedEarlier(kind, by, text);

  upsertKey = (kind: RecordKind): string | undefined => this.#options.upsertKeys.get(kind);
}

/** The same for names of a kind with the same sort key. */
export const alikeKey = ({ name: kind }: RecordKind, name: string): string => `${kind} ${sortKey(name)}`;

/** Unambiguous, because no key has a space. */
const textKey = ({ name }: RecordKind, by: string, text: string): string => detached(`${name}.${by} ${text}`);

/** With its file: a reason is read in the file of refused rows, too. */
export const describeLine = (line: number, file: ImportFile | undefined): string => `line ${line} of ${file?.name}`;

export function buildItems(index: RowIndex, rows: readonly FileRow[]): RowItem[] {
  const refs = new Set<string>();
  const items = rows.map((row) => {
    const record = buildRecord(row, index);
    const issues = [...row.issues];
    const unchecked = new Set<string>();
    const foreign: LinkCell[] = [];
    for (const cells of groupLinkCells(row, index)) {
      const link = linkByPath(index, row.kind, cells) ?? buildLink(index, cells);
      if (link === 'unchecked') unchecked.add(cells[0].field);
      else if ('issue' in link) issues.push(link.issue);
      else record[link.name] = link.value;
      if (typeof link === 'object' && 'ref' in link) refs.add(link.ref);
      if (row.issues.length === 0)
        foreign.push(...cells.filter((cell) => isForeign(cell) && record[cell.field] === cell.value));
    }
    // Later rows of the part must not link to it.
    if (issues.length > row.issues.length) index.addOutcome({ row, outcome: 'REJECTED' });
    return { row, record, issues, unchecked, foreign };
  });
  // The service stores items without a ref faster.
  for (const [at, { record }] of items.entries()) if (refs.has(String(at))) record.ref = String(at);
  return items;
}

function buildRecord({ kind, id, fields, externalIds }: FileRow, index: RowIndex): Record<string, unknown> {
  const by = index.upsertKey(kind);
  const ids = Object.entries(externalIds);
  const set = by === undefined ? ids.filter(([, value]) => value !== null) : ids;
  return {
    ...(by === 'id' && id !== undefined && { id }),
    ...fields,
    ...(set.length > 0 && { [by === undefined ? 'externalIds' : 'mergeExternalIds']: Object.fromEntries(set) }),
  };
}

type LinkCells = readonly [LinkCell, ...LinkCell[]];

/**
 * A row with the ID of a stored record comes from an export, which writes a link in several columns: an empty cell
 * means that the target has no such text. Elsewhere, an empty cell beside a filled one means nothing.
 */
function groupLinkCells({ kind, id, links }: FileRow, index: RowIndex): LinkCells[] {
  const isExported = id !== undefined && index.upsertKey(kind) === 'id';
  const fields = new Set(links.flatMap(({ field, target }) => (target === label ? [] : [field])));
  return [...fields].flatMap((field) => {
    const all = links.filter((link) => link.field === field);
    const given = all.filter(({ value }) => value !== null);
    const [first, ...others] = isExported || given.length === 0 ? all : given;
    return first ? [[first, ...others] as const] : [];
  });
}

const isForeign = ({ by, value, target }: LinkCell): boolean =>
  by === 'id' && value !== null && kindOfId(value) !== target;

type ItemLink =
  | { readonly name: string; readonly value: unknown; readonly ref?: string }
  | { readonly issue: RowIssue }
  | 'unchecked';

function buildLink(index: RowIndex, cells: LinkCells): ItemLink {
  const [{ name, field, target }] = cells;
  if (cells.every(({ value }) => value === null)) return { name: field, value: null };
  const idCell = cells.find(({ by }) => by === 'id' || by === 'any');
  const textCells = cells.filter((cell) => cell !== idCell);
  if (textCells.some(({ by, value }) => value !== null && index.isTextUnchecked(target, by, value))) return 'unchecked';
  if (!idCell) return { name, value: linkCriteria(textCells) };
  const { by, value } = idCell;
  if (value === null) return contradiction(cells);
  const isRecordId = kindOfId(value) === target;
  // With `--upsert-by id`, the ID of a stored record finds it, even if the import has its row.
  const row = isRecordId && index.upsertKey(target) === 'id' ? undefined : index.targetOf(target, value);
  if (by === 'any' && !isRecordId) {
    if (!row || index.isIdAndName(target, value)) return linkByName(index, idCell, textCells);
    if (index.isName(target, value)) return ambiguousCell(idCell);
  }
  if (row === 'unchecked') return 'unchecked';
  if (row === 'refused') return refusedTarget(field, value);
  if (row && 'ref' in row) {
    const isMet = textCells.every((cell) => (rowKeyText(row.row, cell.by) ?? null) === cell.value);
    return isMet ? { name, value: { ref: row.ref }, ref: row.ref } : contradiction(cells);
  }
  const id = row?.id ?? value;
  // A record of another system has no texts here.
  const isForeignId = !row && !isRecordId && textCells.every((cell) => cell.value === null);
  if (textCells.length === 0 || isForeignId) return { name: field, value: id };
  return { name, value: { id, ...linkCriteria(textCells) } };
}

/** Undefined if the cells have no path, or an ID of a row or a name that looks like one. */
function linkByPath(index: RowIndex, kind: RecordKind, cells: LinkCells): ItemLink | undefined {
  const cell = cells.find(isPath);
  if (!cell || cells.some(({ by }) => by === 'id')) return undefined;
  const { name, field, target, by, value: path } = cell;
  if (path === null || index.isName(target, path) || (by === 'any' && index.targetOf(target, path))) return undefined;
  const names = namesOfPath(path);
  const isRenamed = names.some((part) => index.isTextUnchecked(target, 'name', part));
  if (isRenamed || index.isUnchecked(kind, target)) return 'unchecked';
  const refused = (message: string) => ({ issue: { path: [name], message } });
  const last = names.at(-1) ?? '';
  if (kind === target && index.isRowName(target, last)) {
    return refused(`a row of the import has the name ${quote(last)}: link to it by its ID, or import it before`);
  }
  const [id, ...others] = index.paths.get(target)?.get(path) ?? [];
  if (others.length > 0) {
    const ids = [id, ...others.slice(0, 1), ...(others.length > 1 ? ['…'] : [])].join(', ');
    return refused(`${others.length + 1} ${target.pluralLabel} have the path ${quote(path)}: ${ids}`);
  }
  if (id === undefined) return refused(`no ${target.label} has the name or path ${quote(path)}`);
  const textCells = cells.filter((other) => other !== cell);
  return textCells.length > 0 ? { name, value: { id, ...linkCriteria(textCells) } } : { name: field, value: id };
}

function linkByName(index: RowIndex, cell: LinkCell, textCells: readonly LinkCell[]): ItemLink {
  const { name, target, value } = cell;
  if (value !== null && index.isTextUnchecked(target, 'name', value)) return 'unchecked';
  if (textCells.some((other) => other.by === 'name' && other.value !== value))
    return contradiction([cell, ...textCells]);
  return { name, value: { ...linkCriteria(textCells), name: value } };
}

function linkCriteria(cells: readonly LinkCell[]): Values {
  const criteria: Record<string, unknown> = {};
  for (const { by, value } of cells) {
    const system = externalSystem(by);
    if (system === undefined) criteria[by] = value;
    else criteria.externalIds = { ...(criteria.externalIds as object), [system]: value };
  }
  return criteria;
}

export const refusedTarget = (field: string, id: string): { readonly issue: RowIssue } => ({
  issue: { path: [field], message: `the row with the ID ${quote(id)} was refused` },
});

export const alikeHelp = 'make them agree, or leave a column out with --skip';

export function contradiction([first, ...others]: LinkCells): { readonly issue: RowIssue } {
  const texts = [first, ...others].map(({ by, value }) => `${by} ${value === null ? 'nothing' : quote(value)}`);
  const message = `expected one ${first.target.label}, received ${texts.join(' and ')}`;
  return { issue: { path: [first.name], message, help: alikeHelp } };
}

function ambiguousCell({ name, target, value }: LinkCell): ItemLink {
  const both = `a row has ${quote(value ?? '')} as its ID, and another ${target.label} as its name`;
  const help = `say which by --link-by ${name}=id or --link-by ${name}=name`;
  return { issue: { path: [name], message: both, help } };
}

/** By index of the cell, the stored records that a row links to by the ID of another row. */
export function recordIdsByCell(index: RowIndex, { links }: FileRow): Map<number, string> {
  const ids = new Map<number, string>();
  for (const { by, target, value, cell } of links) {
    const row = (by === 'id' || by === 'any') && value !== null ? index.targetOf(target, value) : undefined;
    if (typeof row === 'object' && 'id' in row) ids.set(cell, row.id);
  }
  return ids;
}
