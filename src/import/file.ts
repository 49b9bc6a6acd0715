/** A file of an import, wherever it is: on the disk of a command, or dropped on a page. */
import { Interrupted, StartError } from '../errors.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { linkOrder } from '../records/index.ts';
import { kindCalled } from './columns.ts';

export interface ImportFile {
  readonly name: string;
  readonly format: 'csv' | 'json';
  /** The kind of all rows; unset if each says its own. */
  readonly kind: RecordKind | undefined;
  /** Reads it from its beginning, decompressed. */
  bytes(): AsyncIterable<Uint8Array>;
  /** False once it is another than it was when it was found. */
  isUnchanged(): boolean;
}

export const fileEndings = /\.(?:(csv|tsv|tab|txt)|ndjson|jsonl|json)(?:\.gz)?$/i;

/** What the name of a file says, such as `assets-2026-03-01.csv`. Throws a StartError for a workbook. */
export function formOf(
  name: string,
  kindOfOthers: RecordKind | undefined,
): Pick<ImportFile, 'name' | 'format' | 'kind'> {
  if (/\.(?:xlsx|xlsm|xls|ods|numbers)$/i.test(name)) throw workbookError(name);
  // A file that is named is taken for CSV, whatever its ending is.
  const [ending, table] = fileEndings.exec(name) ?? [];
  const format = ending && !table ? 'json' : 'csv';
  const kind = kindCalled(/^[a-z _-]*[a-z]/i.exec(name)?.[0] ?? '') ?? kindOfOthers;
  return { name, format, kind };
}

export const workbookError = (name: string): StartError =>
  new StartError(
    `${name} is a workbook, which is not read. In the spreadsheet program, choose File, Save as, and the type CSV UTF-8`,
  );

/** By its first bytes, because browsers decompress some downloads and keep their names. */
export const isCompressed = ([first, second]: Uint8Array): boolean => first === 0x1f && second === 0x8b;

export const damagedError = (name: string, error: unknown): StartError =>
  new StartError(`${name} is damaged or not whole, and cannot be decompressed: ${String(error)}`);

/** Throws an Interrupted if the file has changed since it was found: nobody knows which of its rows are stored. */
export function requireUnchanged(file: ImportFile): void {
  if (!file.isUnchanged()) throw new Interrupted(`${file.name} has changed since the import began`);
}

export const inLinkOrder = <T extends { readonly kind: RecordKind }>(sections: readonly T[]): T[] =>
  linkOrder.flatMap((kind) => sections.filter((section) => section.kind === kind));
