/** Finds the files of an import: which there are, of which form and kind, and whether they stay as they were. */
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Interrupted, StartError } from '../errors.ts';
import { listField } from '../model/labels.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { linkOrder, recordKinds } from '../records/index.ts';
import { kindCalled } from './columns.ts';

export interface ImportFile {
  readonly path: string;
  readonly name: string;
  readonly format: 'csv' | 'json';
  /** The kind of all rows; unset if each says its own. */
  readonly kind: RecordKind | undefined;
  readonly version: string | undefined;
}

const endings = /\.(?:(csv|tsv|tab|txt)|ndjson|jsonl|json)(?:\.gz)?$/i;

/** What a system keeps in a folder for itself, such as `.DS_Store` and a lock of LibreOffice, and what earlier imports have written. */
const isOfNobody = (name: string): boolean =>
  /^(?:\.|~\$|thumbs\.db$|desktop\.ini$)/i.test(name) ||
  /\.import-run(?:-\d{1,9})?$|\.refused(?:-\d{1,9})?\.[a-z]{2,6}$/i.test(name);

/**
 * Finds the files with these paths, and those in folders, each once; `kind` is that of files whose names say none. Throws a StartError for a
 * file that is named and cannot be imported, and for one whose kind nobody says. `skipped` is what else is in the folders.
 */
export function findFiles(paths: readonly string[], kind: RecordKind | undefined) {
  const found = new Map<string, string>();
  const skipped: string[] = [];
  for (const path of paths) {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats) throw new StartError(`there is no file ${path}`);
    const isFolder = stats.isDirectory();
    const inside = isFolder ? readdirSync(path).filter((name) => !isOfNobody(name)) : [];
    for (const each of isFolder ? inside.toSorted().map((name) => join(path, name)) : [path]) {
      const isRead = statSync(each, { throwIfNoEntry: false })?.isFile() && endings.test(each);
      if (isFolder && !isRead) skipped.push(each);
      else found.set(realpathSync(each), each);
    }
  }
  const files = [...found.values()].map((path) => fileOf(path, kind));
  if (files.length === 0) {
    const others = skipped.length > 0 ? `, found ${skipped.slice(0, 10).join(', ')}` : '';
    const expected = 'files that end with .csv, .tsv, .tab, .txt, .ndjson, .jsonl, .json, or one of these and .gz';
    throw new StartError(`there is no file to import: expected ${expected}${others}`);
  }
  const unknown = files.filter((file) => file.format === 'csv' && !file.kind).map(({ name }) => name);
  if (unknown.length > 0) {
    const names = recordKinds.map((known) => `${listField(known)}.csv`).join(', ');
    const which = unknown.length === 1 ? 'does it have? Name it' : 'do they have? Name each';
    throw new StartError(`${unknown.join(', ')}: which kind of record ${which} ${names}, or say it: --kind assets`);
  }
  return { files, skipped };
}

function fileOf(path: string, kindOfOthers: RecordKind | undefined): ImportFile {
  const name = basename(path);
  if (/\.(?:xlsx|xlsm|xls|ods|numbers)$/i.test(name)) throw workbookError(name);
  // A file that is named is taken for CSV, whatever its ending is.
  const [ending, table] = endings.exec(name) ?? [];
  const format = ending && !table ? 'json' : 'csv';
  // Such as assets-2026-03-01.csv, or assets.refused.csv.
  const kind = kindCalled(/^[a-z _-]*[a-z]/i.exec(name)?.[0] ?? '') ?? kindOfOthers;
  return { path, name, format, kind, version: versionOf(path) };
}

export const workbookError = (name: string): StartError =>
  new StartError(
    `${name} is a workbook, which is not read. In the spreadsheet program, choose File, Save as, and the type CSV UTF-8`,
  );

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

export const inLinkOrder = <T extends { readonly kind: RecordKind }>(sections: readonly T[]): T[] =>
  linkOrder.flatMap((kind) => sections.filter((section) => section.kind === kind));
