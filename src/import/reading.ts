/** No file is held in memory: each step reads it from its beginning. */
import { StartError } from '../errors.ts';
import { listField } from '../model/labels.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { asset, linkOrder, recordKinds } from '../records/index.ts';
import { type Column, columnKey, createColumnFinder, matchColumns, normalizeName } from './columns.ts';
import { type ImportFile, requireUnchanged } from './file.ts';
import { isPath } from './paths.ts';
import { type Profile, rowOptions } from './profiles.ts';
import { type ReadOptions, readRows, readTable, requireEncoding } from './read.ts';
import { cellText, detached, type FileRow, placeOf, rowKeyText } from './row.ts';
import { createRowReader, parseTime } from './values.ts';
import type { Warn } from './warnings.ts';

interface Section {
  readonly file: ImportFile;
  readonly kind: RecordKind;
  /** The first section of a file also has its unreadable rows, whose kind is unknown. */
  readonly isFirst: boolean;
}

export type Scanned = Awaited<ReturnType<typeof scanFiles>>;

const maxProblems = 20;

export async function scanFiles(files: readonly ImportFile[], reader: FileReader) {
  const found: Section[] = [];
  const columns = new Map<RecordKind, Map<string, Column>>();
  const problems = new Set<string>();
  let total = 0;
  const ofNoKind = files.filter(({ format, kind }) => format === 'csv' && !kind);
  if (ofNoKind.length > 0) problems.add(askKind(ofNoKind));
  for (const file of files) {
    const addSection = (kind: RecordKind, names: readonly string[]): void => {
      const isFirst = found.every((section) => section.file !== file);
      if (!found.some((section) => section.file === file && section.kind === kind)) found.push({ file, kind, isFirst });
      const { columns: named, problem } = reader.columns(kind, names);
      if (problem && problems.size < maxProblems) problems.add(`${file.name}: ${problem}`);
      const ofKind = columns.get(kind) ?? new Map<string, Column>();
      columns.set(kind, ofKind);
      for (const column of named) ofKind.set(columnKey(column), column);
    };
    const first = total;
    try {
      const table = await reader.table(file);
      if (table && file.kind) addSection(file.kind, table.names);
      let last: { readonly kind: RecordKind; readonly names: readonly string[] } | undefined;
      for await (const { kind = file.kind, names } of reader.sources(file)) {
        total += 1;
        if (table || !kind || (kind === last?.kind && names === last.names)) continue;
        last = { kind, names };
        addSection(kind, names);
      }
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      problems.add(error.message);
    }
    // No line of the file can be read.
    if (total > first && found.every((section) => section.file !== file)) addSection(asset, []);
  }
  // In the order of storing: a link leads to a row of the same kind, or of an earlier one.
  const sections = linkOrder.flatMap((kind) => found.filter((section) => section.kind === kind));
  const linkKeys = collectLinkKeys([...columns.values()].flatMap((ofKind) => [...ofKind.values()]));
  return { sections, total, columns, linkKeys, problems: [...problems] };
}

function askKind(files: readonly ImportFile[]): string {
  const names = recordKinds.map((known) => `${listField(known)}.csv`).join(', ');
  const which = files.length === 1 ? 'does it have? Name it' : 'do they have? Name each';
  return `${files.map(({ name }) => name).join(', ')}: which kind of record ${which} ${names}, or set it: --kind assets`;
}

/** By kind, the keys by which links find records: `id`, `name`, `externalIds.erp`. */
function collectLinkKeys(columns: Iterable<Column>): Map<RecordKind, Set<string>> {
  const keys = new Map<RecordKind, Set<string>>();
  for (const column of columns) {
    if (column.is !== 'link') continue;
    const ofKind = keys.get(column.target) ?? new Set();
    keys.set(column.target, ofKind);
    for (const by of keysOf(column.by)) ofKind.add(by);
  }
  return keys;
}

const keysOf = (by: string): readonly string[] => (by === 'any' ? ['id', 'name'] : [by]);

/** For kinds that form a tree: the places of the rows to store once the row at a place is read. */
type TreeOrders = ReadonlyMap<RecordKind, (place: number) => readonly number[]>;

/** Reads the files of trees once more. */
export async function readTreeOrders(
  reader: FileReader,
  { sections, columns }: Scanned,
  upsertKeys: ReadonlyMap<RecordKind, string>,
): Promise<TreeOrders> {
  const orders = new Map<RecordKind, (place: number) => readonly number[]>();
  for (const [kind, named] of columns) {
    const keys = collectLinkKeys(named.values()).get(kind);
    if (!keys) continue;
    const uniqueKeys = [...(keys.has('id') ? ['id'] : []), upsertKeys.get(kind) ?? []].flat();
    const placesByText = new Map<string, number[]>();
    const firstTexts = new Set<string>();
    const links: string[][] = [];
    for await (const row of readSectionRows(reader, sections, kind)) {
      const toKind = row.links.filter(({ target, value }) => target === kind && value !== null);
      const place =
        links.push(toKind.flatMap(({ by, value }) => keysOf(by).map((key) => detached(`${key} ${value}`)))) - 1;
      const textsOf = (all: Iterable<string>) => [...all].flatMap((by) => toText(by, rowKeyText(row, by)));
      // Rows that repeat a key are refused: no link leads to them.
      const isRepeated = textsOf(uniqueKeys).some((text) => firstTexts.has(text));
      for (const text of textsOf(uniqueKeys)) firstTexts.add(detached(text));
      if (isRepeated) continue;
      for (const text of textsOf(keys)) {
        const places = placesByText.get(text) ?? [];
        if (places.push(place) === 1) placesByText.set(detached(text), places);
      }
    }
    const parentsOf = (place: number) => (links[place] ?? []).flatMap((text) => placesByText.get(text) ?? []);
    orders.set(kind, parentsFirst(links.length, parentsOf));
  }
  return orders;
}

const toText = (by: string, text: string | undefined): string[] => (text === undefined ? [] : [`${by} ${text}`]);

/**
 * The function returns the nodes to visit once a node is read, parents first: the node, and earlier nodes that waited
 * for it. In a circle, one node comes before its parent.
 */
export function parentsFirst(size: number, parentsOf: (node: number) => readonly number[]) {
  const turns: number[] = [];
  const waiting = new Map<number, number[]>();
  const finish = (node: number): void => {
    const turn = parentsOf(node).reduce((latest, parent) => Math.max(latest, turns[parent] ?? 0), node);
    turns[node] = turn;
    if (turn === node) return;
    const others = waiting.get(turn);
    if (others) others.push(node);
    else waiting.set(turn, [node]);
  };
  const states: ('open' | 'done')[] = [];
  for (let start = 0; start < size; start += 1) {
    const stack = [start];
    for (let node = stack.at(-1); node !== undefined; node = stack.at(-1)) {
      if (states[node] === undefined) {
        states[node] = 'open';
        for (const parent of parentsOf(node)) if (states[parent] === undefined) stack.push(parent);
      } else {
        stack.pop();
        if (states[node] === 'open') finish(node);
        states[node] = 'done';
      }
    }
  }
  return (node: number): readonly number[] => (turns[node] === node ? [node, ...(waiting.get(node) ?? [])] : []);
}

async function* readSectionRows(reader: FileReader, sections: readonly Section[], kind: RecordKind, warnOf?: WarnOf) {
  for (const section of sections) if (section.kind === kind) yield* reader.rows(section, warnOf?.(section.file));
}

export type WarnOf = (file: ImportFile) => Warn | undefined;

/** Holds rows of a tree that come before their parents in memory. */
export async function* rowsInOrder(
  reader: FileReader,
  { sections }: Scanned,
  treeOrders: TreeOrders,
  warnOf?: WarnOf,
): AsyncGenerator<FileRow> {
  for (const kind of new Set(sections.map((section) => section.kind))) {
    const dueAfter = treeOrders.get(kind);
    const held = new Map<number, FileRow>();
    let place = 0;
    for await (const row of readSectionRows(reader, sections, kind, warnOf)) {
      if (dueAfter) held.set(place, row);
      else yield row;
      for (const due of dueAfter?.(place) ?? []) {
        const dueRow = held.get(due);
        held.delete(due);
        if (dueRow) yield dueRow;
      }
      place += 1;
    }
  }
}

const maxPartLength = 4_000_000;

export interface Reading {
  readonly reader: FileReader;
  readonly scanned: Scanned;
  readonly treeOrders: TreeOrders;
  /** Kinds whose rows share no part with rows of later kinds, such as names to create that have no upsert key. */
  readonly keyedApart: ReadonlySet<RecordKind>;
  readonly partSize: number;
}

/**
 * Parts have rows of one or more kinds. The targets of paths are in earlier parts. Throws an Interrupted if a file has
 * changed.
 */
export async function* readParts(work: Reading, warnOf?: WarnOf) {
  const parts = splitIntoParts(work, warnOf);
  for (let next = parts.next(); ; ) {
    const { done, value } = await next;
    if (done) return;
    // Reads the next part while the service stores this one. Its error is thrown when that part is due.
    next = new Promise((resolve) => setTimeout(resolve)).then(() => parts.next());
    next.catch(() => {});
    yield value;
  }
}

async function* splitIntoParts({ reader, scanned, treeOrders, keyedApart, partSize }: Reading, warnOf?: WarnOf) {
  let part: FileRow[] = [];
  let length = 0;
  const kinds = new Set<RecordKind>();
  for await (const row of rowsInOrder(reader, scanned, treeOrders, warnOf)) {
    const size = row.source.text.length;
    const { kind = row.kind } = part.at(-1) ?? {};
    const isFull = part.length === partSize || length + size > maxPartLength;
    const hasPath = row.links.some((cell) => cell.target !== row.kind && kinds.has(cell.target) && isPath(cell));
    if (part.length > 0 && (isFull || hasPath || (kind !== row.kind && keyedApart.has(kind)))) {
      for (const { file } of scanned.sections) requireUnchanged(file);
      yield part;
      part = [];
      length = 0;
      kinds.clear();
    }
    part.push(row);
    kinds.add(row.kind);
    length += size;
  }
  for (const { file } of scanned.sections) requireUnchanged(file);
  if (part.length > 0) yield part;
}

export interface ReaderOptions {
  readonly files: readonly ImportFile[];
  readonly encoding?: string | undefined;
  readonly columns?: string | undefined;
  /** By `placeOf`, the answer for a row in doubt. */
  readonly answers?: Readonly<Record<string, string>> | undefined;
}

type FileReader = ReturnType<typeof createFileReader>;

export function createFileReader(profile: Profile, { files, encoding, columns, answers }: ReaderOptions) {
  if (encoding !== undefined) requireEncoding(encoding);
  const optionsByKind = new Map(recordKinds.map((kind) => [kind, rowOptions(profile, kind)]));
  const optionsOf = (kind: RecordKind) => optionsByKind.get(kind) ?? rowOptions(profile, kind);
  const names = columns?.split(',').map((name) => name.trim());

  function readOptions({ kind }: ImportFile, warn: Warn = () => {}): ReadOptions {
    const find = kind && createColumnFinder(kind, optionsOf(kind));
    return { encoding, columns: names, isKnown: (name) => name.trim() !== '' && find?.(name) !== undefined, warn };
  }

  return {
    sources: (file: ImportFile) => readRows(file, readOptions(file)),
    columns: (kind: RecordKind, header: readonly string[]) => matchColumns(kind, header, optionsOf(kind)),
    async *rows({ file, kind, isFirst }: Section, warn?: Warn): AsyncGenerator<FileRow> {
      const read = createRowReader(kind, optionsOf(kind), warn);
      let place = 0;
      for await (const source of readRows(file, readOptions(file, warn))) {
        const rowKind = source.kind ?? file.kind;
        if (rowKind !== kind && (rowKind || !isFirst)) continue;
        const at = { file, kind, place };
        place += 1;
        const answer = answers?.[placeOf(files, at)];
        if (answer === 'Leave out') continue;
        yield Object.assign(read(source), at, answer && { id: undefined });
      }
    },
    table: (file: ImportFile) => (file.format === 'csv' ? readTable(file, readOptions(file)) : undefined),
    /** True if the record was changed after an exported row was written. A spreadsheet may show and save no seconds. */
    isOlder({ kind, source: { names, cells } }: FileRow, record: Values | null | undefined): boolean {
      const text = cellText(cells[names.findIndex((name) => normalizeName(name) === 'updatedat')]);
      const read = parseTime(text?.trim() ?? '', optionsOf(kind).form);
      return 'value' in read && String(record?.updatedAt ?? '').slice(0, 16) > String(read.value).slice(0, 16);
    },
  };
}
