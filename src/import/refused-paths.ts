/** Where an import writes its refused rows: never over anything else. */
import { closeSync, existsSync, lstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { StartError } from '../errors.ts';
import { reasonColumn } from './columns.ts';
import type { LocalFile } from './find.ts';

/**
 * Where the refused rows of each file go: beside it, under a name that nothing has, or where the option says. Throws a StartError for a place
 * that has something else than refused rows.
 */
export function refusedPaths(files: readonly LocalFile[], option: string | undefined): string[] {
  const isFolder = option !== undefined && statSync(option, { throwIfNoEntry: false })?.isDirectory();
  if (option !== undefined && !isFolder) {
    if (files.length > 1) {
      throw new StartError('--refused: for several files, name a folder that is there: each file has other columns');
    }
    if (files.some(({ path }) => existsSync(option) && statSync(option).ino === statSync(path).ino)) {
      throw new StartError('--refused: this is the file to import');
    }
    requireOverwritable(option);
    return [option];
  }
  const taken = new Set(files.map(({ path }) => realpathSync(path)));
  return files.map(({ path }) => {
    // An assets.csv.gz is read, but not written.
    const name = basename(path).replace(/\.gz$/i, '');
    const stem = basename(name, extname(name));
    for (let n = 1; ; n += 1) {
      const found = join(option ?? dirname(path), `${stem}.refused${n === 1 ? '' : `-${n}`}${extname(name)}`);
      const stats = lstatSync(found, { throwIfNoEntry: false });
      const place = join(realpathSync(dirname(found)), basename(found));
      // Without the option, somebody may be fixing an earlier one. A link may lead to a file to import, or nowhere.
      if (taken.has(place) || (stats && (!isFolder || stats.isSymbolicLink()))) continue;
      requireOverwritable(found);
      taken.add(place);
      return found;
    }
  });
}

/** Throws a StartError if there is something else than refused rows at a place where they are to be written. */
export function requireOverwritable(path: string, advice = 'name another file'): void {
  if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory()) {
    throw new StartError(`--refused: there is no folder ${dirname(path)}`);
  }
  if (!lstatSync(path, { throwIfNoEntry: false }) && !path.endsWith('.import-run')) return;
  if (statSync(path, { throwIfNoEntry: false })?.isFile() && hasReasons(startOf(path))) return;
  throw new StartError(`--refused: ${path} has something else than refused rows: ${advice}`);
}

/** The bytes in which the first row ends. */
function startOf(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(100_000);
    return new TextDecoder().decode(bytes.subarray(0, readSync(file, bytes)));
  } finally {
    closeSync(file);
  }
}

/** True if a column or member of the first row is that of the reasons; also for an empty file. */
function hasReasons(start: string): boolean {
  if (start === '' || (/^[{[]/.test(start) && /[{,]\s?"refused because"\s?:/.test(start))) return true;
  const [declaration = '', separator] = /^"?sep=([^"])"?[\r\n]{1,2}/i.exec(start) ?? [];
  const [header = ''] = start.slice(declaration.length).split(/[\r\n]/, 1);
  return header.split(separator ?? /[,;|\t]/).some((cell) => cell.replaceAll('"', '') === reasonColumn);
}
