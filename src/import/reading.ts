/**
 * Reads the files of an import as rows of records: `scan` finds out which kinds there are and to which rows links lead, `rows` yields those
 * of a kind, and `partsOf` those that are sent together. A file is read once for each of these, and never held in memory.
 */
import { StartError } from '../errors.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { asset, recordKinds } from '../records/index.ts';
import { type Column, columnFinder, columnsOf, kindCalled } from './columns.ts';
import type { Table } from './csv.ts';
import { type ImportFile, inLinkOrder, requireUnchanged } from './file.ts';
import { type Linked, type RowState, targetOf } from './links.ts';
import { type Profile, rowOptions } from './profiles.ts';
import { type ReadOptions, readRows, requireEncoding, tableOf } from './read.ts';
import { nameOf, type RecordRow, type SourceRow } from './row.ts';
import { rowReader } from './values.ts';
import type { Warn } from './warnings.ts';

/** The rows of a kind in a file. They are stored one section after the other. */
export interface Section {
  readonly file: ImportFile;
  readonly kind: RecordKind;
  /** Of its rows, in their order, if links may lead to them. */
  states?: RowState[];
}

/** A row, and its place among the rows of its section. */
export interface Item {
  readonly row: RecordRow;
  readonly place: number;
  /** Set if links may lead to it. */
  readonly state: RowState | undefined;
}

export interface Scanned {
  /** In the order in which they are stored: links lead to what is stored before, or is of the same kind. */
  readonly sections: readonly Section[];
  /** The number of rows. */
  readonly total: number;
  readonly linked: Linked;
}

/** Reads all files, and those again to whose rows links lead. Throws a StartError for all that cannot be read to their end. */
export async function scan(files: readonly ImportFile[], reader: FileReader): Promise<Scanned> {
  const found: Section[] = [];
  const ways = new Map<RecordKind, Set<string>>();
  let total = 0;
  const problems: string[] = [];
  for (const file of files) {
    await scanFile(file).catch((error) => {
      if (!(error instanceof StartError)) throw error;
      problems.push(error.message);
    });
  }
  if (problems.length > 0) throw new StartError(problems.join('\n'));
  const sections = inLinkOrder(found);
  const linked = new Map([...ways].map(([kind, names]) => [kind, new Map([...names].map((by) => [by, new Map()]))]));
  for (const section of sections) await addRows(reader, section, linked.get(section.kind));
  return { sections, total, linked };

  async function scanFile(file: ImportFile): Promise<void> {
    const kinds = new Set<RecordKind>();
    let last: readonly Column[] | undefined;
    for await (const { kind, columns } of reader.columns(file)) {
      total += 1;
      // Rows of a table have the same columns.
      if (columns === last) continue;
      last = columns;
      if (!kinds.has(kind)) found.push({ file, kind });
      kinds.add(kind);
      for (const column of columns) {
        if (column.is !== 'link') continue;
        const target = targetOf({ kind, field: column.field });
        ways.set(target, (ways.get(target) ?? new Set()).add(column.by));
      }
    }
  }
}

async function addRows(reader: FileReader, section: Section, ways?: ReadonlyMap<string, Map<string, RowState[]>>) {
  if (!ways) return;
  section.states = [];
  for await (const row of reader.rows(section)) {
    const state: RowState = { is: 'coming' };
    section.states.push(state);
    for (const [by, rows] of ways) {
      const name = nameOf(row, by);
      if (name === undefined) continue;
      const others = rows.get(name);
      if (others) others.push(state);
      else rows.set(copied(name), [state]);
    }
  }
}

/** A part of a text keeps the whole piece of the file in memory. */
export const copied = (text: string): string => JSON.parse(JSON.stringify(text));

const maxPartLength = 4_000_000;

/** Yields the rows of a section in parts, with the next one read while one is sent. Throws an Interrupted if the file has changed. */
export async function* partsOf(reader: FileReader, section: Section, partSize: number, warn: Warn | undefined) {
  const all = readParts(reader, section, partSize, warn);
  let next = all.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      // Once the part is under way: what is read here would keep it from being sent.
      next = new Promise((resolve) => setTimeout(resolve)).then(() => all.next());
      // An error is thrown when its part is due, or not at all if nobody asks for it.
      next.catch(() => {});
      yield value;
    }
  } finally {
    await all.return(undefined);
  }
}

async function* readParts(reader: FileReader, section: Section, partSize: number, warn: Warn | undefined) {
  let part: Item[] = [];
  let length = 0;
  let place = 0;
  for await (const row of reader.rows(section, warn)) {
    const size = row.source.text.length;
    if (part.length === partSize || (part.length > 0 && length + size > maxPartLength)) {
      requireUnchanged(section.file);
      yield part;
      part = [];
      length = 0;
    }
    part.push({ row, place, state: section.states?.[place] });
    length += size;
    place += 1;
  }
  requireUnchanged(section.file);
  if (part.length > 0) yield part;
}

export interface FileReader {
  /** Yields the kind and the columns of each row. */
  columns(file: ImportFile): AsyncGenerator<{ readonly kind: RecordKind; readonly columns: readonly Column[] }>;
  rows(section: Section, warn?: Warn): AsyncGenerator<RecordRow>;
  /** How a table is written. */
  table(file: ImportFile): Promise<Table> | undefined;
}

/** Lines of JSON may have different ones. */
const maxKnownColumns = 1_000;

/** Returns what reads files as the options say. Throws a StartError for an option that is not of its form. */
export function fileReader(
  profile: Profile,
  { encoding, columns }: { readonly encoding: string | undefined; readonly columns: string | undefined },
): FileReader {
  if (encoding !== undefined) requireEncoding(encoding);
  const optionsByKind = new Map(recordKinds.map((kind) => [kind, rowOptions(profile, kind)]));
  const optionsOf = (kind: RecordKind) => optionsByKind.get(kind) ?? rowOptions(profile, kind);
  const names = columns?.split(',').map((name) => name.trim());

  function readOptions({ kind }: ImportFile, warn: Warn = () => {}): ReadOptions {
    const find = kind && columnFinder(kind, optionsOf(kind));
    return { encoding, columns: names, isKnown: (name) => name.trim() !== '' && find?.(name) !== undefined, warn };
  }

  const firstKinds = new Map<ImportFile, RecordKind>();

  /** Rows that say no kind, because they cannot be read, are taken to be of the kind of the row before, or of the first row with one. */
  function kindFinder(file: ImportFile) {
    let kind = file.kind ?? firstKinds.get(file);
    return (source: SourceRow): RecordKind | undefined => {
      if (source.kind !== undefined) kind = kindCalled(source.kind);
      else if (source.problem === undefined) kind = file.kind ?? kind;
      return kind;
    };
  }

  return {
    async *columns(file) {
      const kindOf = kindFinder(file);
      const known = new Map<string, readonly Column[]>();
      let unknown = 0;
      let last: { kind: RecordKind; names: readonly string[]; columns: readonly Column[] } | undefined;
      for await (const source of readRows(file, readOptions(file))) {
        const kind = kindOf(source);
        if (!kind) {
          unknown += 1;
          continue;
        }
        if (kind !== last?.kind || source.names !== last.names) {
          const key = JSON.stringify([kind.name, source.names]);
          const found = known.get(key) ?? columnsIn(file, kind, source.names);
          if (known.size < maxKnownColumns) known.set(key, found);
          last = { kind, names: source.names, columns: found };
        }
        if (!firstKinds.has(file)) firstKinds.set(file, kind);
        yield last;
      }
      const first = firstKinds.get(file) ?? asset;
      firstKinds.set(file, first);
      for (; unknown > 0; unknown -= 1) yield { kind: first, columns: [] };
    },
    async *rows({ file, kind }, warn) {
      const kindOf = kindFinder(file);
      const read = rowReader(kind, optionsOf(kind), warn);
      for await (const source of readRows(file, readOptions(file, warn))) {
        if (kindOf(source) === kind) yield read(source);
      }
    },
    table: (file) => (file.format === 'csv' ? tableOf(file, readOptions(file)) : undefined),
  };

  function columnsIn(file: ImportFile, kind: RecordKind, header: readonly string[]): readonly Column[] {
    try {
      return columnsOf(kind, header, optionsOf(kind)).columns;
    } catch (error) {
      throw error instanceof StartError ? new StartError(`${file.name}: ${error.message}`) : error;
    }
  }
}
