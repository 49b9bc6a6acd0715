/**
 * Reads the files of an import as rows of records: `scan` finds out which kinds there are and what links say, `ownTexts` to which later rows of
 * their own kind they may lead, and `partsOf` yields the rows that are sent together. A file is read once for each of these, and never held in memory.
 */
import { StartError } from '../errors.ts';
import { listField } from '../model/labels.ts';
import { linkFields } from '../model/links.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { asset, recordKinds } from '../records/index.ts';
import { columnFinder, columnsOf } from './columns.ts';
import type { Table } from './csv.ts';
import { type ImportFile, inLinkOrder, requireUnchanged } from './file.ts';
import { copied, type LinkKeys, type OwnTexts } from './links.ts';
import { type Profile, rowOptions } from './profiles.ts';
import { type ReadOptions, readRows, requireEncoding, tableOf } from './read.ts';
import { nameOf, type RecordRow, type SourceRow } from './row.ts';
import { rowReader } from './values.ts';
import type { Warn } from './warnings.ts';

/** The rows of a kind in a file. They are stored one section after the other. */
export interface Section {
  readonly file: ImportFile;
  readonly kind: RecordKind;
  /** True for the first one of its file, which has the rows that cannot be read, and so may be of any kind. */
  readonly isFirst: boolean;
}

export interface Scanned {
  /** In the order in which they are stored: links lead to what is stored before, or is of the same kind. */
  readonly sections: readonly Section[];
  /** The number of rows. */
  readonly total: number;
  readonly linkKeys: LinkKeys;
  /** Why the files cannot be imported: all that can be said of each. */
  readonly problems: readonly string[];
}

const maxProblems = 20;

export async function scan(files: readonly ImportFile[], reader: FileReader): Promise<Scanned> {
  const found: Section[] = [];
  const linkKeys = new Map<RecordKind, Set<string>>();
  const problems = new Set<string>();
  let total = 0;
  const ofNoKind = files.filter(({ format, kind }) => format === 'csv' && !kind);
  if (ofNoKind.length > 0) problems.add(askKind(ofNoKind));
  for (const file of files) {
    const note = (kind: RecordKind, names: readonly string[]): void => {
      const isFirst = found.every((section) => section.file !== file);
      if (!found.some((section) => section.file === file && section.kind === kind)) found.push({ file, kind, isFirst });
      const { columns, problem } = reader.columns(kind, names);
      if (problem && problems.size < maxProblems) problems.add(`${file.name}: ${problem}`);
      for (const column of columns) {
        if (column.is !== 'link') continue;
        linkKeys.set(column.target, (linkKeys.get(column.target) ?? new Set()).add(column.by));
      }
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
  return { sections: inLinkOrder(found), total, linkKeys, problems: [...problems] };
}

function askKind(files: readonly ImportFile[]): string {
  const names = recordKinds.map((known) => `${listField(known)}.csv`).join(', ');
  const which = files.length === 1 ? 'does it have? Name it' : 'do they have? Name each';
  return `${files.map(({ name }) => name).join(', ')}: which kind of record ${which} ${names}, or say it: --kind assets`;
}

/** Reads those sections again whose rows may lead to later ones of them. */
export async function ownTexts({ sections, linkKeys }: Scanned, reader: FileReader): Promise<OwnTexts> {
  const texts = new Map<RecordKind, Map<string, Set<string>>>();
  for (const section of sections) {
    const { kind } = section;
    const keys = linkKeys.get(kind);
    if (!keys || !linkFields(kind).some(([, , { target }]) => target === kind.name)) continue;
    const ofKind = texts.get(kind) ?? new Map([...keys].map((by) => [by, new Set()]));
    texts.set(kind, ofKind);
    for await (const row of reader.rows(section)) {
      for (const [by, all] of ofKind) {
        const text = nameOf(row, by);
        if (text !== undefined) all.add(copied(text));
      }
    }
  }
  return texts;
}

const maxPartLength = 4_000_000;

/** Yields the rows of a section in parts. Throws an Interrupted if the file has changed. */
export async function* partsOf(reader: FileReader, section: Section, partSize: number, warn: Warn | undefined) {
  const parts = readParts(reader, section, partSize, warn);
  for (let next = parts.next(); ; ) {
    const { done, value } = await next;
    if (done) return;
    // The next part is read once this one is under way. An error is thrown when its part is due, or not at all if nobody asks for it.
    next = new Promise((resolve) => setTimeout(resolve)).then(() => parts.next());
    next.catch(() => {});
    yield value;
  }
}

async function* readParts(reader: FileReader, section: Section, partSize: number, warn: Warn | undefined) {
  let part: RecordRow[] = [];
  let length = 0;
  for await (const row of reader.rows(section, warn)) {
    const size = row.source.text.length;
    if (part.length === partSize || (part.length > 0 && length + size > maxPartLength)) {
      requireUnchanged(section.file);
      yield part;
      part = [];
      length = 0;
    }
    part.push(row);
    length += size;
  }
  requireUnchanged(section.file);
  if (part.length > 0) yield part;
}

export interface FileReader {
  sources(file: ImportFile): AsyncGenerator<SourceRow>;
  columns(kind: RecordKind, names: readonly string[]): ReturnType<typeof columnsOf>;
  rows(section: Section, warn?: Warn): AsyncGenerator<RecordRow>;
  /** How a table is written. */
  table(file: ImportFile): Promise<Table> | undefined;
}

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

  return {
    sources: (file) => readRows(file, readOptions(file)),
    columns: (kind, header) => columnsOf(kind, header, optionsOf(kind)),
    async *rows({ file, kind, isFirst }, warn) {
      const read = rowReader(kind, optionsOf(kind), warn);
      let place = 0;
      for await (const source of readRows(file, readOptions(file, warn))) {
        const own = source.kind ?? file.kind;
        if (own !== kind && (own || !isFirst)) continue;
        yield read(source, place);
        place += 1;
      }
    },
    table: (file) => (file.format === 'csv' ? tableOf(file, readOptions(file)) : undefined),
  };
}
