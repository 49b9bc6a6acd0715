import { Interrupted, StartError } from '../errors.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { parseKindName } from './columns.ts';

export interface ImportFile {
  readonly name: string;
  readonly format: 'csv' | 'json';
  /** Unset if each row names its kind. */
  readonly kind: RecordKind | undefined;
  /** From the beginning, decompressed. */
  bytes(): AsyncIterable<Uint8Array>;
  /** False once the file has changed since it was found. */
  isUnchanged(): boolean;
}

export const fileEndings = /\.(?:(csv|tsv|tab|txt)|ndjson|jsonl|json)(?:\.gz)?$/i;

/** Reads format and kind from a name such as `assets-2026-03-01.csv`. Throws a StartError for a workbook. */
export function describeFile(name: string, kindOfOthers: RecordKind | undefined) {
  if (/\.(?:xlsx|xlsm|xls|ods|numbers)$/i.test(name)) throw workbookError(name);
  // With an unknown ending, it is CSV: somebody named it on purpose.
  const [ending, table] = fileEndings.exec(name) ?? [];
  const format: ImportFile['format'] = ending && !table ? 'json' : 'csv';
  const kind = parseKindName(/^[a-z _-]*[a-z]/i.exec(name)?.[0] ?? '') ?? kindOfOthers;
  return { name, format, kind };
}

export const workbookError = (name: string): StartError =>
  new StartError(
    `${name} is a workbook, which is not read. In the spreadsheet program, choose File, Save as, and the type CSV UTF-8`,
  );

/** Whoever is not logged in downloads the page of the login under the name of the table. */
export const webPageError = (name: string): StartError =>
  new StartError(`${name} is a web page, not a table: log in to the program that it comes from, and export it again`);

/** Throws a StartError for a PDF, a picture or the like, by control characters that no text has so many of. */
export function requireText(name: string, start: Uint8Array): void {
  const controls = start
    .subarray(0, 1_000)
    .filter((byte) => byte > 0 && byte < 32 && ![9, 10, 12, 13, 26].includes(byte));
  if (controls.length > 50 || String.fromCharCode(...start.subarray(0, 5)) === '%PDF-')
    throw new StartError(`${name} is no text file: in the program that it comes from, export the table as CSV`);
}

/** By the first bytes: browsers decompress some downloads and keep the name `.gz`. */
export const isCompressed = ([first, second]: Uint8Array): boolean => first === 0x1f && second === 0x8b;

export const damagedError = (name: string, error: unknown): StartError =>
  new StartError(`${name} is damaged or incomplete, and cannot be decompressed: ${String(error)}`);

/** Throws an Interrupted if the file has changed since it was found: its rows may have moved. */
export function requireUnchanged(file: ImportFile): void {
  if (!file.isUnchanged()) throw new Interrupted(`${file.name} has changed since the import began`);
}
