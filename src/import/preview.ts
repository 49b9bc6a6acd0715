/** Checks all rows in dry runs, before any is stored. */
import type { RecordKind } from '../model/record-kind.ts';
import type { ImportFile } from './files.ts';
import { type Checked, type ForeignLink, linkUnstored } from './links.ts';
import type { Counts, Progress } from './progress.ts';
import type { RefusedRow } from './row.ts';
import { type Import, namesOf, noCounts, partsIn, sectionsOf } from './run.ts';
import { added, type Result, send } from './send.ts';

/** What would become of the rows. */
export interface Preview {
  readonly counts: Counts;
  /** The number of links to IDs that neither a row nor a record of the service has, and the first of them. */
  readonly foreign: number;
  readonly firstForeign?: (ForeignLink & { readonly file: ImportFile; readonly line: number }) | undefined;
  /** The first rows that would be refused, with the files that have them. */
  readonly refused: readonly (RefusedRow & { readonly file: ImportFile })[];
}

/** The most refused rows that a preview shows. */
const maxShown = 10;

/**
 * Sends all rows to be checked, in the parts in which they will be stored. No part finds the rows of others: links to them are taken to be
 * right unless these rows would be refused, and of rows with the same unique value only those of one part are found.
 */
export async function preview(work: Import, progress: Progress): Promise<Preview> {
  let counts = noCounts;
  let foreign = 0;
  let firstForeign: Preview['firstForeign'];
  const refused: (RefusedRow & { file: ImportFile })[] = [];
  for (const section of sectionsOf(work, progress)) {
    for await (const part of partsIn(work, section)) {
      work.signal.throwIfAborted();
      const unreadable = part.filter(({ issues }) => issues.length > 0);
      const readable = part.filter(({ issues }) => issues.length === 0);
      const linked = await linkUnstored(work.state, section.kind, readable);
      const results = await check(work, section.kind, linked);
      for (const { outcome, row } of results) {
        if (outcome === 'REJECTED') continue;
        const [first] = row.foreign;
        if (first) firstForeign ??= { ...first, file: section.file, line: row.row.line };
        foreign += row.foreign.length;
      }
      const rejected = [...unreadable.map((row) => ({ row, issues: row.issues })), ...results.flatMap(rejectedRow)];
      await work.state.expectRefusal(namesOf(rejected.map(({ row }) => row)));
      counts = added(counts, results, rejected.length);
      const first = rejected.toSorted((a, b) => a.row.line - b.row.line).slice(0, maxShown - refused.length);
      for (const row of first) refused.push({ ...row, file: section.file });
      work.onProgress(part.length);
    }
  }
  return { counts, foreign, firstForeign, refused };
}

const rejectedRow = (result: Result<Checked>): RefusedRow[] =>
  result.outcome === 'REJECTED' ? [{ row: result.row.row, issues: result.issues }] : [];

/** Checks rows. Those with no other issue than links to rows of the import are checked again without these links. */
async function check(work: Import, kind: RecordKind, rows: readonly Checked[]): Promise<Result<Checked>[]> {
  const results = (await send(work, kind, rows, { dryRun: true })).map(withoutComing);
  const again = results.flatMap((result, index) =>
    result.outcome === 'REJECTED' && result.issues.length === 0 ? [{ index, row: result.row }] : [],
  );
  if (again.length === 0) return results;
  const unlinked = again.map(({ row }) => ({
    ...row,
    record: Object.fromEntries(Object.entries(row.record).filter(([name]) => !row.coming.has(name))),
  }));
  for (const [at, result] of (await send(work, kind, unlinked, { dryRun: true })).entries()) {
    results[again[at]?.index as number] = result;
  }
  return results;
}

/** Adds what is known of the row to what the service says of it, but for links that lead to rows of the import. */
function withoutComing(result: Result<Checked>): Result<Checked> {
  const { row } = result;
  if (result.outcome !== 'REJECTED' && row.issues.length === 0) return result;
  const ofService = result.outcome === 'REJECTED' ? result.issues : [];
  const own = row.issues.map(({ path, message }) => ({ path: path.map(String), message }));
  const issues = ofService.filter(({ path }) => !row.coming.has(String(path[0])));
  return { row, outcome: 'REJECTED', issues: [...own, ...issues] };
}
