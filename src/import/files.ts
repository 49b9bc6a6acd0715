/** The files of an import: found, read row by row, and put in the order that links need. */
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { Interrupted, StartError } from '../errors.ts';
import { expected, isObject, quote } from '../model/issues.ts';
import { listField } from '../model/labels.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { linkOrder, recordKinds } from '../records/index.ts';
import { type CsvRow, readCsv, readText, workbookError } from './read-csv.ts';
import {
  type CellForm,
  type Column,
  type ColumnOptions,
  columnFinder,
  kindCalled,
  type Row,
  readRow,
  unknownColumns,
} from './rows.ts';

export interface ImportFile {
  readonly path: string;
  readonly name: string;
  readonly format: 'csv' | 'ndjson';
  /** The kind of all rows; unset if each line says its own. */
  readonly kind?: RecordKind | undefined;
  readonly version: string | undefined;
}

export interface FileOptions {
  readonly columns: ColumnOptions;
  readonly form: CellForm;
  readonly encoding?: string | undefined;
  readonly kind?: RecordKind | undefined;
}

/** Finds the files with these paths, and those in folders, each once. Throws a StartError for a file that is not of a known form or kind. */
export function findFiles(paths: readonly string[], { kind }: FileOptions): ImportFile[] {
  const found = new Map(paths.flatMap((path) => filesIn(path)).map((path) => [realpathSync(path), path]));
  const files = [...found.values()].map((path) => fileOf(path, kind));
  if (files.length === 0)
    throw new StartError('there is no file to import: expected files that end with .csv or .ndjson');
  return files;
}

const isRefused = (path: string): boolean => /\.refused(-\d{1,9})?\.(csv|ndjson)$/i.test(path);

function filesIn(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw new StartError(`there is no file ${path}`);
  if (!stats.isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => /\.(csv|ndjson)$/i.test(name) && !isRefused(name));
  const paths = names.toSorted().map((name) => join(path, name));
  return paths.filter((inside) => statSync(inside, { throwIfNoEntry: false })?.isFile());
}

function fileOf(path: string, kindOfOthers: RecordKind | undefined): ImportFile {
  const name = basename(path);
  const extension = extname(name).toLowerCase();
  const file = { path, name, version: versionOf(path) };
  // Such as assets-2026-03-01.csv, or assets.refused.csv.
  const kind = kindCalled(/^[a-z _-]*[a-z]/i.exec(basename(name, extname(name)))?.[0] ?? '') ?? kindOfOthers;
  if (extension === '.ndjson' || extension === '.jsonl') return { ...file, format: 'ndjson', kind };
  if (['.xlsx', '.xls', '.ods'].includes(extension)) throw workbookError(name);
  if (kind) return { ...file, format: 'csv', kind };
  const names = recordKinds.map((known) => `${listField(known)}.csv`).join(', ');
  throw new StartError(`${name}: which kind of record does it have? Name it ${names}, or say it: --kind assets`);
}

function versionOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && `${stats.size} ${stats.mtimeMs}`;
}

/** Throws an Interrupted if the file has changed since it was found: nobody knows which of its rows are stored. */
export function requireUnchanged({ path, name, version }: ImportFile): void {
  if (versionOf(path) !== version) throw new Interrupted(`${name} has changed since the import began`);
}

export async function hashOf({ path }: ImportFile): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

export interface Section {
  readonly file: ImportFile;
  readonly kind: RecordKind;
}

export const inLinkOrder = (sections: readonly Section[]): Section[] =>
  linkOrder.flatMap((kind) => sections.filter((section) => section.kind === kind));

/** Reads a file. Throws a StartError for a column that is unknown, and for a line of NDJSON that names no kind. */
export async function* readRows(file: ImportFile, options: FileOptions): AsyncGenerator<Row> {
  yield* file.format === 'csv' ? readCsvRows(file, options) : readNdjsonRows(file, options);
}

export async function headerOf({ path }: ImportFile, { encoding }: FileOptions): Promise<CsvRow | undefined> {
  for await (const row of readCsv(path, encoding)) return row;
  return undefined;
}

async function* readCsvRows({ path, name, kind }: ImportFile, options: FileOptions) {
  if (!kind) return;
  let columns: readonly Column[] | undefined;
  let quotesAll = false;
  for await (const { line, cells, isQuoted } of readCsv(path, options.encoding)) {
    if (!columns) {
      columns = within(name, () => columnsOf(kind, cells, options.columns));
      // In a file of a program that quotes every cell, a quoted empty cell has no value.
      quotesAll = isQuoted;
      continue;
    }
    if (cells.every((cell) => (cell ?? '') === '')) continue;
    const source = quotesAll ? cells.map((cell) => cell || null) : cells;
    const ragged =
      cells.length === columns.length
        ? []
        : [{ path: [], message: `expected ${columns.length} cells, as the header has, received ${cells.length}` }];
    const { issues, ...row } = readRow(kind, paired(columns, source), options.form);
    yield { kind, line, source, ...row, issues: [...ragged, ...issues] };
  }
  if (!columns) throw new StartError(`${name} is empty: expected a line with the names of the columns`);
}

function columnsOf(kind: RecordKind, header: readonly (string | null)[], options: ColumnOptions): Column[] {
  const cells = header.map((cell) => cell ?? '');
  const columns = knownColumns(kind, cells, columnFinder(kind, options), options);
  const names = new Map<string, string>();
  for (const [index, column] of columns.entries()) {
    const [same, name] = [JSON.stringify(column), cells[index] ?? ''];
    const other = names.get(same);
    if (column.is !== 'skipped' && column.is !== 'unnamed' && other !== undefined) {
      const fix = other === name ? 'rename one in the first line' : `leave one out with --skip ${quote(name)}`;
      throw new StartError(`the columns ${quote(other)} and ${quote(name)} are the same: ${fix}`);
    }
    names.set(same, name);
  }
  return columns;
}

const paired = (columns: readonly Column[], values: readonly unknown[]): (readonly [Column, unknown])[] =>
  columns.slice(0, values.length).map((column, index) => [column, values[index]]);

function knownColumns(
  kind: RecordKind,
  names: readonly string[],
  find: ReturnType<typeof columnFinder>,
  options: ColumnOptions,
): Column[] {
  const columns = names.map((name) => find(name));
  const unknown = names.filter((_, index) => !columns[index]);
  if (unknown.length > 0) throw unknownColumns(kind, unknown, options);
  return columns.flatMap((column) => column ?? []);
}

function within<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof StartError) throw new StartError(`${name}: ${error.message}`);
    throw error;
  }
}

async function* readNdjsonRows(file: ImportFile, options: FileOptions) {
  const finders = new Map<RecordKind, ReturnType<typeof columnFinder>>();
  let line = 0;
  for await (const text of linesOf(file, options.encoding)) {
    line += 1;
    if (text.trim() === '') continue;
    const where = `${file.name}, line ${line}`;
    const sent = parseJson(text);
    if (!isObject(sent)) throw new StartError(`${where}: ${expected('a JSON object', sent ?? text)}`);
    const { kind: name = file.kind?.name, ...values } = sent;
    const kind = typeof name === 'string' ? kindCalled(name) : undefined;
    if (!kind) throw new StartError(`${where}: ${expected('a kind such as "ASSET"', name)}`);
    const find = finders.get(kind) ?? columnFinder(kind, options.columns);
    finders.set(kind, find);
    const columns = within(where, () => knownColumns(kind, Object.keys(values), find, options.columns));
    yield { kind, line, source: text, ...readRow(kind, paired(columns, Object.values(values)), options.form) };
  }
}

const maxLineLength = 2_000_000;

async function* linesOf({ path, name }: ImportFile, encoding: string | undefined): AsyncGenerator<string> {
  let rest = '';
  for await (const text of readText(path, encoding)) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxLineLength) throw new StartError(`${name}: a line is longer than ${maxLineLength} characters`);
    yield* lines;
  }
  if (rest !== '') yield rest;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
