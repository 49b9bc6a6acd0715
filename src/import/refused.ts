/** Files of refused rows: of the same form as the file imported, with the reasons, so that they can be fixed and imported. */
import { appendFileSync, existsSync, lstatSync, statSync, truncateSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { csvCell } from '../model/csv.ts';
import { formatIssue, type Issue } from '../model/issues.ts';
import { type FileOptions, headerOf, type ImportFile } from './files.ts';
import { columnFinder, type RefusedRow, reasonColumn } from './rows.ts';
import type { RefusedFile } from './state.ts';

/** Returns `assets.refused.csv` for `assets.csv`, or with a number if that is there: somebody may be fixing it. */
export function newRefusedName({ path }: ImportFile): string {
  const extension = extname(path);
  for (let n = 1; ; n += 1) {
    const name = `${basename(path, extension)}.refused${n === 1 ? '' : `-${n}`}${extension}`;
    if (!lstatSync(join(dirname(path), name), { throwIfNoEntry: false })) return name;
  }
}

export const refusedPath = ({ path }: ImportFile, name: string): string => join(dirname(path), name);

export const reasonsOf = (issues: readonly Issue[]): string => issues.map(formatIssue).join('; ');

/** Opens the file of refused rows of this name, as far as it was written; it is created with its first row. */
export async function openRefused(file: ImportFile, options: FileOptions, { name, bytes }: RefusedFile) {
  const path = refusedPath(file, name);
  const header = file.format === 'csv' ? await headerOf(file, options) : undefined;
  const names = header?.cells ?? [];
  const lineOf = (cells: readonly (string | null)[], reason: string): string => {
    // A row may have fewer cells than the header, or more: the reason stands below its name unless there are more.
    const others = Array.from({ length: Math.max(names.length, cells.length) }, (_, index) => cells[index] ?? null);
    const kept = others.filter((_, index) => names[index] !== reasonColumn);
    return [...kept, reason].map((cell) => csvCell(cell, header?.separator)).join(header?.separator);
  };
  /** The IDs of rows are known to this import only: later, references need those of the records, which are `known`. */
  const textOf = ({ row, issues, known = new Map<string, string>() }: RefusedRow): string => {
    if (typeof row.source !== 'string') {
      const find = known.size > 0 ? columnFinder(row.kind, options.columns) : undefined;
      const cells = row.source.map((cell, index) => {
        const column = find?.(names[index] ?? '');
        return (column?.is === 'field' ? known.get(column.name) : undefined) ?? cell;
      });
      return lineOf(cells, reasonsOf(issues));
    }
    // The line is not parsed, because it may be nested too deeply to be written again. Of two values with a name, the last one counts.
    const sent = row.source.trim().slice(1, -1).trim();
    const added = JSON.stringify({ ...Object.fromEntries(known), [reasonColumn]: reasonsOf(issues) });
    return sent === '' ? added : `{${sent},${added.slice(1)}`;
  };
  // A byte order mark, because spreadsheet programs read other files as Windows-1252.
  const start = header ? `\uFEFF${header.declaration}${lineOf(names, reasonColumn)}\n` : '';

  // What was written after the last part that is done is written again. Somebody may have moved the file away meanwhile.
  if (existsSync(path)) truncateSync(path, Math.min(bytes, statSync(path).size));
  let length = bytes;
  return {
    /** Returns the length of the file in bytes. */
    add(rows: readonly RefusedRow[]): number {
      if (rows.length === 0) return length;
      const lines = rows.map((row) => `${textOf(row)}\n`).join('');
      const isNew = !existsSync(path) || statSync(path).size === 0;
      appendFileSync(path, isNew ? start + lines : lines);
      length = statSync(path).size;
      return length;
    },
  };
}
