/** Finds the files of an import on the disk. */
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { errorCode, StartError } from '../errors.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { damagedError, fileEndings, formOf, type ImportFile, isCompressed } from './file.ts';

/** A file on the disk. */
export interface LocalFile extends ImportFile {
  readonly path: string;
}

/** What a system keeps in a folder for itself, such as `.DS_Store` and a lock of LibreOffice, and the line of an import. */
const isOfNobody = (name: string): boolean =>
  /^(?:\.|~\$|thumbs\.db$|desktop\.ini$)/i.test(name) || /\.import-run(?:-new)?$/.test(name);

/** What an earlier import has refused: to be fixed, and named then. */
const isRefused = (name: string): boolean => /\.refused(?:-\d{1,9})?\.[a-z]{2,6}$/i.test(name);

/**
 * Finds the files with these paths, and those in folders, each once; `kind` is that of files whose names say none. Throws a StartError for a
 * file that is named and cannot be imported. `refused` and `skipped` are what else is in the folders.
 */
export function findFiles(paths: readonly string[], kind: RecordKind | undefined) {
  const found = new Map<string, string>();
  const [refused, skipped]: [string[], string[]] = [[], []];
  for (const path of paths) {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats) throw new StartError(`there is no file ${path}`);
    const isFolder = stats.isDirectory();
    const inside = isFolder ? readdirSync(path).filter((name) => !isOfNobody(name)) : [];
    for (const each of isFolder ? inside.toSorted().map((name) => join(path, name)) : [path]) {
      const isRead = statSync(each, { throwIfNoEntry: false })?.isFile() && fileEndings.test(each);
      if (isFolder && isRefused(each)) refused.push(each);
      else if (isFolder && !isRead) skipped.push(each);
      else found.set(realpathSync(each), each);
    }
  }
  const files = [...found.values()].map((path) => fileOf(path, kind));
  if (files.length === 0) {
    const others = [...refused, ...skipped].slice(0, 10).join(', ');
    const expected = 'files that end with .csv, .tsv, .tab, .txt, .ndjson, .jsonl, .json, or one of these and .gz';
    throw new StartError(`there is no file to import: expected ${expected}${others && `, found ${others}`}`);
  }
  return { files, refused, skipped };
}

function fileOf(path: string, kindOfOthers: RecordKind | undefined): LocalFile {
  const form = formOf(basename(path), kindOfOthers);
  const version = versionOf(path);
  return { ...form, path, bytes: () => bytesOf(path), isUnchanged: () => versionOf(path) === version };
}

async function* bytesOf(path: string): AsyncGenerator<Buffer> {
  const start: Buffer[] = await createReadStream(path, { end: 1 }).toArray();
  const stream = createReadStream(path);
  if (!isCompressed(Buffer.concat(start))) yield* stream;
  else {
    try {
      yield* pipeline(stream, createGunzip(), () => {});
    } catch (error) {
      throw errorCode(error).startsWith('Z_') ? damagedError(basename(path), error) : error;
    }
  }
}

function versionOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && `${stats.size} ${stats.mtimeMs}`;
}

export async function hashOf({ path }: LocalFile): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}
