/** Files of refused rows: of the same form as the file imported, with the reasons, so that they can be mended and imported. */
import { appendFileSync, existsSync, statSync, truncateSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { csvCell } from '../model/csv.ts';
import { formatIssue, type Issue } from '../model/issues.ts';
import { columnFinder, reasonColumn } from './columns.ts';
import { type FileOptions, headerOf, type ImportFile } from './files.ts';
import type { RefusedRow } from './run.ts';

/** Returns `assets.refused.csv` for `assets.csv`: it is beside the file. */
export function refusedPath(path: string): string {
  const extension = extname(path);
  return join(dirname(path), `${basename(path, extension)}.refused${extension}`);
}

/** Lists what is wrong with a row: `name: required: the name of the asset; …` */
export const reasonsOf = (issues: readonly Issue[]): string => issues.map(formatIssue).join('; ');

export interface RefusedFile {
  /** Adds the rows, and returns the length of the file in bytes. */
  add(rows: readonly RefusedRow[]): number;
}

/** Opens the file of refused rows that an import had brought to this length in bytes; 0 for a new one. */
export async function openRefused(file: ImportFile, options: FileOptions, length: number): Promise<RefusedFile> {
  const path = refusedPath(file.path);
  const header = file.format === 'csv' ? await headerOf(file, options) : undefined;
  const names = header?.cells ?? [];
  const lineOf = (cells: readonly (string | null)[], reason: string): string => {
    // A row may have fewer cells than the header, or more: the reason stands below its name unless there are more.
    const others = Array.from({ length: Math.max(names.length, cells.length) }, (_, index) => cells[index] ?? null);
    const kept = others.filter((_, index) => names[index] !== reasonColumn);
    return [...kept, reason].map((cell) => csvCell(cell, header?.separator)).join(header?.separator);
  };
  const textOf = ({ row, issues, known = new Map() }: RefusedRow): string => {
    // The IDs of rows are known to this import only: later, references need those of the records.
    const find = known.size > 0 ? columnFinder(row.kind, options.columns) : undefined;
    const withKnown = <T>(name: string, value: T): T | string => {
      const column = find?.(name);
      return (column?.is === 'field' ? known.get(column.name) : undefined) ?? value;
    };
    if (typeof row.source !== 'string') {
      return lineOf(
        row.source.map((cell, index) => withKnown(names[index] ?? '', cell)),
        reasonsOf(issues),
      );
    }
    const { [reasonColumn]: _, ...sent } = JSON.parse(row.source);
    const entries = Object.entries(sent).map(([name, value]) => [name, withKnown(name, value)]);
    return JSON.stringify({ ...Object.fromEntries(entries), [reasonColumn]: reasonsOf(issues) });
  };
  // A byte order mark, because spreadsheet programs read other files as Windows-1252.
  const start = header ? `\uFEFF${lineOf(names, reasonColumn)}\n` : '';

  // What was written after the last part that is done is written again. Somebody may have moved the file away meanwhile.
  if (existsSync(path)) truncateSync(path, Math.min(length, statSync(path).size));
  return {
    add(rows) {
      if (rows.length === 0) return length;
      const lines = rows.map((row) => `${textOf(row)}\n`).join('');
      const isNew = !existsSync(path) || statSync(path).size === 0;
      appendFileSync(path, isNew ? start + lines : lines);
      return statSync(path).size;
    },
  };
}
