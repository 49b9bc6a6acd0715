/**
 * Reads the files of an import as rows of records: `scan` finds out which kinds and columns there are, and `partsOf` yields the rows that are
 * sent together. No file is held in memory.
 */
import { StartError } from '../errors.ts';
import { listField } from '../model/labels.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { asset, linkOrder, recordKinds } from '../records/index.ts';
import { type Column, columnFinder, columnsOf, meaningOf } from './columns.ts';
import type { Table } from './csv.ts';
import { type ImportFile, requireUnchanged } from './file.ts';
import { type Profile, rowOptions } from './profiles.ts';
import { type ReadOptions, readRows, requireEncoding, tableOf } from './read.ts';
import { copied, type FileRow, type SourceRow, textAt } from './row.ts';
import { rowReader } from './values.ts';
import type { Warn } from './warnings.ts';

/** The rows of a kind in a file. */
interface Section {
  readonly file: ImportFile;
  readonly kind: RecordKind;
  /** True for the first section of its file, which has the rows that cannot be read, and so may be of any kind. */
  readonly isFirst: boolean;
}

/** What a first reading of the files finds. */
export interface Scanned {
  /** In the order in which they are stored: links lead to rows of the same kind, or of earlier ones. */
  readonly sections: readonly Section[];
  /** The number of rows. */
  readonly total: number;
  /** The columns of each kind, by what they mean. */
  readonly columns: ReadonlyMap<RecordKind, ReadonlyMap<string, Column>>;
  /** How links lead to records, by their kind: `id`, `name`, `externalIds.erp`. */
  readonly linkKeys: ReadonlyMap<RecordKind, ReadonlySet<string>>;
  /** Why the files cannot be imported: everything that is wrong with each. */
  readonly problems: readonly string[];
}

const maxProblems = 20;

export async function scan(files: readonly ImportFile[], reader: FileReader): Promise<Scanned> {
  const found: Section[] = [];
  const columns = new Map<RecordKind, Map<string, Column>>();
  const problems = new Set<string>();
  let total = 0;
  const ofNoKind = files.filter(({ format, kind }) => format === 'csv' && !kind);
  if (ofNoKind.length > 0) problems.add(askKind(ofNoKind));
  for (const file of files) {
    const note = (kind: RecordKind, names: readonly string[]): void => {
      const isFirst = found.every((section) => section.file !== file);
      if (!found.some((section) => section.file === file && section.kind === kind)) found.push({ file, kind, isFirst });
      const { columns: named, problem } = reader.columns(kind, names);
      if (problem && problems.size < maxProblems) problems.add(`${file.name}: ${problem}`);
      const ofKind = columns.get(kind) ?? new Map<string, Column>();
      columns.set(kind, ofKind);
      for (const column of named) ofKind.set(meaningOf(column), column);
    };
    const first = total;
    try {
      const table = await reader.table(file);
      if (table && file.kind) note(file.kind, table.names);
      let last: { readonly kind: RecordKind; readonly names: readonly string[] } | undefined;
      for await (const { kind = file.kind, names } of reader.sources(file)) {
        total += 1;
        if (table || !kind || (kind === last?.kind && names === last.names)) continue;
        last = { kind, names };
        note(kind, names);
      }
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      problems.add(error.message);
    }
    // Of which no line can be read.
    if (total > first && found.every((section) => section.file !== file)) note(asset, []);
  }
  const sections = linkOrder.flatMap((kind) => found.filter((section) => section.kind === kind));
  const linkKeys = linkKeysIn([...columns.values()].flatMap((ofKind) => [...ofKind.values()]));
  return { sections, total, columns, linkKeys, problems: [...problems] };
}

function askKind(files: readonly ImportFile[]): string {
  const names = recordKinds.map((known) => `${listField(known)}.csv`).join(', ');
  const which = files.length === 1 ? 'does it have? Name it' : 'do they have? Name each';
  return `${files.map(({ name }) => name).join(', ')}: which kind of record ${which} ${names}, or say it: --kind assets`;
}

function linkKeysIn(columns: Iterable<Column>): Map<RecordKind, Set<string>> {
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

/** The rows of kinds that form a tree, by their places: parents first. */
export type TreeOrders = ReadonlyMap<RecordKind, readonly number[]>;

/** Reads the files of trees once more. By kind, `upsertKeys` says how the stored record of a row is found. */
export async function treeOrdersOf(
  reader: FileReader,
  { sections, columns }: Scanned,
  upsertKeys: ReadonlyMap<RecordKind, string>,
): Promise<TreeOrders> {
  const orders = new Map<RecordKind, readonly number[]>();
  for (const [kind, named] of columns) {
    const keys = linkKeysIn(named.values()).get(kind);
    if (!keys) continue;
    const uniqueKeys = [...(keys.has('id') ? ['id'] : []), upsertKeys.get(kind) ?? []].flat();
    const placesByText = new Map<string, number[]>();
    const firstTexts = new Set<string>();
    const links: string[][] = [];
    for await (const row of rowsOf(reader, sections, kind)) {
      const toKind = row.links.filter(({ target, value }) => target === kind && value !== null);
      const place =
        links.push(toKind.flatMap(({ by, value }) => keysOf(by).map((key) => copied(`${key} ${value}`)))) - 1;
      const textsOf = (all: Iterable<string>) => [...all].flatMap((by) => toText(by, textAt(row, by)));
      // No link leads to a row that is refused because of an earlier one.
      const isRepeated = textsOf(uniqueKeys).some((text) => firstTexts.has(text));
      for (const text of textsOf(uniqueKeys)) firstTexts.add(copied(text));
      if (isRepeated) continue;
      for (const text of textsOf(keys)) {
        const places = placesByText.get(text) ?? [];
        if (places.push(place) === 1) placesByText.set(copied(text), places);
      }
    }
    const parentsOf = (place: number) => (links[place] ?? []).flatMap((text) => placesByText.get(text) ?? []);
    orders.set(kind, parentsFirst(links.length, parentsOf));
  }
  return orders;
}

const toText = (by: string, text: string | undefined): string[] => (text === undefined ? [] : [`${by} ${text}`]);

/** Returns the numbers of all nodes, each after its parents but for those of a circle. */
export function parentsFirst(size: number, parentsOf: (node: number) => readonly number[]): number[] {
  const order: number[] = [];
  const states: ('open' | 'done')[] = [];
  for (let start = 0; start < size; start += 1) {
    const stack = [start];
    for (let node = stack.at(-1); node !== undefined; node = stack.at(-1)) {
      if (states[node] === undefined) {
        states[node] = 'open';
        for (const parent of parentsOf(node)) if (states[parent] === undefined) stack.push(parent);
      } else {
        stack.pop();
        if (states[node] === 'open') order.push(node);
        states[node] = 'done';
      }
    }
  }
  return order;
}

async function* rowsOf(reader: FileReader, sections: readonly Section[], kind: RecordKind, warnOf?: WarnOf) {
  for (const section of sections) if (section.kind === kind) yield* reader.rows(section, warnOf?.(section.file));
}

type WarnOf = (file: ImportFile) => Warn | undefined;

/** Yields all rows in the order in which they are stored. A tree is read once for each part of its rows. */
export async function* rowsInOrder(
  reader: FileReader,
  { sections }: Scanned,
  treeOrders: TreeOrders,
  partSize = Infinity,
  warnOf?: WarnOf,
): AsyncGenerator<FileRow> {
  for (const kind of new Set(sections.map((section) => section.kind))) {
    const order = treeOrders.get(kind);
    if (!order) yield* rowsOf(reader, sections, kind, warnOf);
    for (let start = 0; order && start < order.length; start += partSize) {
      const wanted = new Map(order.slice(start, start + partSize).map((place, index) => [place, index]));
      const rows: FileRow[] = [];
      let place = 0;
      for await (const row of rowsOf(reader, sections, kind, start === 0 ? warnOf : undefined)) {
        const index = wanted.get(place);
        if (index !== undefined) rows[index] = row;
        place += 1;
      }
      // A file that was changed meanwhile may have fewer.
      yield* rows.filter(Boolean);
    }
  }
}

const maxPartLength = 4_000_000;

interface Reading {
  readonly reader: FileReader;
  readonly scanned: Scanned;
  readonly treeOrders: TreeOrders;
  /** Kinds of which no part has rows beside those of other kinds that come later. */
  readonly keyedApart: ReadonlySet<RecordKind>;
  readonly partSize: number;
}

/** Yields the rows in parts, of one or more kinds. Throws an Interrupted if a file has changed. */
export async function* partsOf(work: Reading, warnOf?: WarnOf) {
  const parts = readParts(work, warnOf);
  for (let next = parts.next(); ; ) {
    const { done, value } = await next;
    if (done) return;
    // The next part is read once this one is under way. An error is thrown when its part is due, or not at all if nobody asks for it.
    next = new Promise((resolve) => setTimeout(resolve)).then(() => parts.next());
    next.catch(() => {});
    yield value;
  }
}

async function* readParts({ reader, scanned, treeOrders, keyedApart, partSize }: Reading, warnOf?: WarnOf) {
  let part: FileRow[] = [];
  let length = 0;
  for await (const row of rowsInOrder(reader, scanned, treeOrders, partSize, warnOf)) {
    const size = row.source.text.length;
    const { kind = row.kind } = part.at(-1) ?? {};
    const isFull = part.length === partSize || length + size > maxPartLength;
    if (part.length > 0 && (isFull || (kind !== row.kind && keyedApart.has(kind)))) {
      for (const { file } of scanned.sections) requireUnchanged(file);
      yield part;
      part = [];
      length = 0;
    }
    part.push(row);
    length += size;
  }
  for (const { file } of scanned.sections) requireUnchanged(file);
  if (part.length > 0) yield part;
}

export interface FileReader {
  sources(file: ImportFile): AsyncGenerator<SourceRow>;
  columns(kind: RecordKind, names: readonly string[]): ReturnType<typeof columnsOf>;
  rows(section: Section, warn?: Warn): AsyncGenerator<FileRow>;
  /** How a table is written. */
  table(file: ImportFile): Promise<Table> | undefined;
}

/** Returns what reads files as the options say. Throws a StartError for an option that is not of its form. */
export function fileReader(
  profile: Profile,
  { encoding, columns }: { readonly encoding?: string | undefined; readonly columns?: string | undefined },
): FileReader {
  if (encoding !== undefined) requireEncoding(encoding);
  const optionsByKind = new Map(recordKinds.map((kind) => [kind, rowOptions(profile, kind)]));
  const optionsOf = (kind: RecordKind) => optionsByKind.get(kind) ?? rowOptions(profile, kind);
  const names = columns?.split(',').map((name) => name.trim());

  function readOptions({ kind }: ImportFile, warn: Warn = () => {}): ReadOptions {
    const find = kind && columnFinder(kind, optionsOf(kind));
    return { encoding, columns: names, isKnown: (name) => name.trim() !== '' && find?.(name) !== undefined, warn };
  }

  return {
    sources: (file) => readRows(file, readOptions(file)),
    columns: (kind, header) => columnsOf(kind, header, optionsOf(kind)),
    async *rows({ file, kind, isFirst }, warn) {
      const read = rowReader(kind, optionsOf(kind), warn);
      let place = 0;
      for await (const source of readRows(file, readOptions(file, warn))) {
        const own = source.kind ?? file.kind;
        if (own !== kind && (own || !isFirst)) continue;
        yield Object.assign(read(source), { file, place });
        place += 1;
      }
    },
    table: (file) => (file.format === 'csv' ? tableOf(file, readOptions(file)) : undefined),
  };
}
