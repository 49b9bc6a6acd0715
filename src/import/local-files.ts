import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, parse } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { errorCode, StartError } from '../errors.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { reasonColumn } from './columns.ts';
import { damagedError, describeFile, fileEndings, type ImportFile, isCompressed } from './file.ts';

export interface LocalFile extends ImportFile {
  readonly path: string;
}

/** `.DS_Store`, locks of LibreOffice, and the state of an import. */
const isSystemFile = (name: string): boolean =>
  /^(?:\.|~\$|thumbs\.db$|desktop\.ini$)/i.test(name) || /\.import-run(?:-new)?$/.test(name);

/** Refused rows of an earlier import: whoever has fixed them names the file. */
const isRefused = (name: string): boolean => /\.refused(?:-\d{1,9})?\.[a-z]{2,6}$/i.test(name);

/**
 * Finds files by path and in folders, once each. `kind` is for files whose names tell none, `refused` and `skipped` are
 * all other files in the folders. Throws a StartError for a named file that cannot be imported.
 */
export function findFiles(paths: readonly string[], kind: RecordKind | undefined) {
  const found = new Map<string, string>();
  const [refused, skipped]: [string[], string[]] = [[], []];
  for (const path of paths) {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats) throw new StartError(`there is no file ${path}`);
    const isFolder = stats.isDirectory();
    const inside = isFolder ? readdirSync(path).filter((name) => !isSystemFile(name)) : [];
    for (const file of isFolder ? inside.toSorted().map((name) => join(path, name)) : [path]) {
      const isRead = statSync(file, { throwIfNoEntry: false })?.isFile() && fileEndings.test(file);
      if (isFolder && isRefused(file)) refused.push(file);
      else if (isFolder && !isRead) skipped.push(file);
      else found.set(realpathSync(file), file);
    }
  }
  const files = [...found.values()].map((path) => localFile(path, kind));
  if (files.length === 0) {
    const others = [...refused, ...skipped].slice(0, 10).join(', ');
    const expected = 'files that end with .csv, .tsv, .tab, .txt, .ndjson, .jsonl, .json, or one of these and .gz';
    throw new StartError(`there is no file to import: expected ${expected}${others && `, found ${others}`}`);
  }
  return { files, refused, skipped };
}

function localFile(path: string, kindOfOthers: RecordKind | undefined): LocalFile {
  const form = describeFile(basename(path), kindOfOthers);
  const version = fileVersion(path);
  return { ...form, path, bytes: () => readBytes(path), isUnchanged: () => fileVersion(path) === version };
}

async function* readBytes(path: string): AsyncGenerator<Buffer> {
  const stream = createReadStream(path);
  if (!isCompressed(readStart(path, 2))) yield* stream;
  else {
    try {
      yield* pipeline(stream, createGunzip(), () => {});
    } catch (error) {
      throw errorCode(error).startsWith('Z_') ? damagedError(basename(path), error) : error;
    }
  }
}

function readStart(path: string, length: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

function fileVersion(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && `${stats.size} ${stats.mtimeMs}`;
}

export async function hashFile({ path }: LocalFile): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** For each file: an unused name beside it, or the path or folder of `--refused`. */
export function refusedPaths(files: readonly LocalFile[], option: string | undefined): string[] {
  const isFolder = option !== undefined && statSync(option, { throwIfNoEntry: false })?.isDirectory();
  if (option !== undefined && !isFolder) {
    if (files.length > 1) {
      throw new StartError('--refused: for several files, name an existing folder: their columns differ');
    }
    if (files.some(({ path }) => existsSync(option) && statSync(option).ino === statSync(path).ino)) {
      throw new StartError('--refused: this is the file to import');
    }
    requireOverwritable(option);
    return [option];
  }
  const taken = new Set(files.map(({ path }) => realpathSync(path)));
  return files.map(({ path }) => {
    // Compressed files are read, but not written.
    const { name, ext } = parse(path.replace(/\.gz$/i, ''));
    for (let n = 1; ; n += 1) {
      const found = join(option ?? dirname(path), `${name}.refused${n === 1 ? '' : `-${n}`}${ext}`);
      const place = join(realpathSync(dirname(found)), basename(found));
      const stats = lstatSync(found, { throwIfNoEntry: false });
      // Somebody may be fixing an earlier file, unless the option names the folder. A link may lead to an imported
      // file, or nowhere.
      if (taken.has(place) || (stats && (!isFolder || stats.isSymbolicLink()))) continue;
      requireOverwritable(found);
      taken.add(place);
      return found;
    }
  });
}

/** Throws a StartError if a path has anything but refused rows. */
export function requireOverwritable(path: string, advice = 'name another file'): void {
  if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory()) {
    throw new StartError(`--refused: there is no folder ${dirname(path)}`);
  }
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const isOther = stats && !(stats.isFile() && hasReasons(readStart(path, 100_000).toString()));
  if (isOther || path.endsWith('.import-run')) {
    throw new StartError(`--refused: ${path} has something other than refused rows: ${advice}`);
  }
}

/** The last column or member of the first row is the reason, or the file is empty. */
function hasReasons(start: string): boolean {
  const first = start.split('\n', 1).join().trimEnd();
  if (first.startsWith('{')) return first.includes(`"${reasonColumn}":"`) && first.endsWith('"}');
  return start === '' || /[,;|\t]refused because$/.test(first);
}
