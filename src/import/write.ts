/** The two steps of an import: `preview` checks all rows in dry runs; `write` stores them, part by part, from where it was stopped. */
import { ServiceError } from '../../client/index.ts';
import { StartError } from '../errors.ts';
import { listField } from '../model/labels.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { kindNamed } from '../records/index.ts';
import type { ImportFile, Section } from './files.ts';
import { type Checked, type ForeignLink, isTarget, linkRows, linkUnstored } from './links.ts';
import { openRefused } from './refused.ts';
import type { RefusedRow, Row } from './rows.ts';
import {
  added,
  type Import,
  isRejected,
  namesOf,
  noCounts,
  partsIn,
  type Result,
  sectionsOf,
  sendPart,
} from './run.ts';
import type { Counts, Progress, UnsetLink } from './state.ts';

export interface Preview {
  readonly counts: Counts;
  /** The number of links to IDs that neither a row nor a record of the service has, and the first of them. */
  readonly foreign: number;
  readonly firstForeign?: (ForeignLink & { readonly file: ImportFile; readonly line: number }) | undefined;
  readonly refused: readonly (RefusedRow & { readonly file: ImportFile })[];
}

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

/** Returns what would become of the rows. A part that the service rejects as a whole is halved. */
async function dryRun(work: Import, kind: RecordKind, rows: readonly Checked[]): Promise<Result<Checked>[]> {
  const results = await sendPart(work, kind, rows, { dryRun: true });
  if (results) return results;
  const half = Math.ceil(rows.length / 2);
  return [...(await dryRun(work, kind, rows.slice(0, half))), ...(await dryRun(work, kind, rows.slice(half)))];
}

/** Checks rows. Those with no other issue than links to rows of the import are checked again without these links. */
async function check(work: Import, kind: RecordKind, rows: readonly Checked[]): Promise<Result<Checked>[]> {
  const results = (await dryRun(work, kind, rows)).map(withoutComing);
  const isUndecided = (result: Result<Checked>) => result.outcome === 'REJECTED' && result.issues.length === 0;
  const unlinked = results.filter(isUndecided).map(({ row }) => ({
    ...row,
    record: Object.fromEntries(Object.entries(row.record).filter(([name]) => !row.coming.has(name))),
  }));
  if (unlinked.length === 0) return results;
  const second = (await dryRun(work, kind, unlinked)).values();
  return results.map((result) => (isUndecided(result) ? (second.next().value ?? result) : result));
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

/** In milliseconds. Less than the 24 hours for which the service knows an idempotency key. */
const keyLifetime = 23 * 3_600_000;

/** Stores what is not stored yet, then sets the links that led to later rows. */
export async function write(work: Import): Promise<void> {
  const { state, yardgraph } = work;
  if (progressOf(work).after === undefined) {
    await state.advance({ ...progressOf(work), after: await yardgraph.changeCursor(), since: Date.now() });
  }
  const sections = sectionsOf(work, progressOf(work));
  for (const [index, section] of sections.entries()) {
    const { section: current, rows } = progressOf(work);
    if (index < current) continue;
    requireKnownKey(work, section);
    await writeSection(work, section, rows);
    await state.advance({ ...progressOf(work), section: index + 1, rows: 0 });
  }
  await setLateLinks(work);
}

export function progressOf({ state }: Import): Progress {
  const progress = state.progress();
  if (!progress) throw new Error('the files have not been read');
  return progress;
}

/** A part that was sent may have been stored without a response. Beyond the life of its key, it would be created again. */
function requireKnownKey(work: Import, { kind }: Section): void {
  const { since, rows, counts } = progressOf(work);
  if (work.upsertKeys.has(kind) || Date.now() - since < keyLifetime) return;
  throw new StartError(
    `the import stopped more than 24 hours ago, after ${rows} rows of ${listField(kind)} (${counts.created} records created), and the service no longer knows whether it has stored the next ones. Look for them, then import the rest of the rows as a file of its own, or use --upsert-by`,
  );
}

async function writeSection(work: Import, section: Section, done: number): Promise<void> {
  const { state, files, options, signal, onProgress, upsertKeys } = work;
  const { file, kind } = section;
  const fileAt = files.indexOf(file);
  const opened = progressOf(work).refused[fileAt] ?? { name: '', bytes: 0 };
  const refused = await openRefused(file, options, opened);
  let rows = done;
  for await (const part of partsIn(work, section, done)) await writePart(part);

  /** A part that the service rejects as a whole is halved before its rows are linked: they may link to each other. */
  async function writePart(part: readonly Row[]): Promise<void> {
    signal.throwIfAborted();
    const { run, section: at, counts } = progressOf(work);
    const linked = await linkRows(state, kind, part, !upsertKeys.has(kind));
    const readable = linked.filter(({ issues }) => issues.length === 0);
    const results = await sendPart(work, kind, readable, {
      // The same for a part and its first half: after a crash, a half that was stored is not stored again with its part.
      idempotencyKey: `import-${run}-${at}-${rows}`,
    });
    if (!results) {
      const half = Math.ceil(part.length / 2);
      await writePart(part.slice(0, half));
      return writePart(part.slice(half));
    }
    const rejected = [
      ...linked.filter(({ issues }) => issues.length > 0),
      ...results.flatMap((result): RefusedRow[] =>
        result.outcome === 'REJECTED' ? [{ ...result.row, issues: result.issues }] : [],
      ),
    ].toSorted((a, b) => a.row.line - b.row.line);
    rows += part.length;
    const bytes = refused.add(rejected);
    const progress = {
      ...progressOf(work),
      rows,
      since: Date.now(),
      counts: added(counts, results, rejected.length),
      refused: progressOf(work).refused.map((earlier, index) => (index === fileAt ? { ...earlier, bytes } : earlier)),
    };
    const stored = results.flatMap((result) =>
      result.outcome === 'REJECTED' ? [] : [{ ...result.row, record: result.id }],
    );
    const named = isTarget(kind) ? [...stored, ...rejected.map(({ row }) => ({ row, record: '' }))] : [];
    await state.advance(
      progress,
      named.flatMap(({ row: { id }, record }) => (id === undefined ? [] : [{ kind: kind.name, id, record }])),
      stored.flatMap(({ late, record }) => late.map((link) => ({ ...link, kind: kind.name, record }))),
    );
    onProgress(part.length);
  }
}

async function setLateLinks(work: Import): Promise<void> {
  const { state, yardgraph, partSize, signal } = work;
  for (;;) {
    const links = await state.lateLinks(partSize);
    const [first] = links;
    if (!first) return;
    signal.throwIfAborted();
    // A batch of updates has each record once.
    const byRecord = new Map(links.filter(({ kind }) => kind === first.kind).map((link) => [link.record, link]));
    const ofKind = [...byRecord.values()];
    const set = ofKind.filter(({ to }) => to !== '');
    const unset = ofKind.filter(({ to }) => to === '');
    const { update } = yardgraph[listField(kindNamed(first.kind)) as 'assets'];
    await state.settle(ofKind, [
      ...unset.map((link) => ({ ...link, message: 'the row with this ID was refused' })),
      ...(await updateValid(set)),
    ]);

    async function updateValid(left: typeof links): Promise<UnsetLink[]> {
      if (left.length === 0) return [];
      try {
        await update(
          left.map(({ record, field, to }) => ({ id: record, [field]: to })),
          { returning: 'outcome' },
        );
        return [];
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        const messages = new Map(error.items.map(({ index, message }) => [index, message]));
        const refused = left.flatMap((link, index) => {
          const message = messages.get(index);
          return message === undefined ? [] : [{ ...link, message }];
        });
        if (refused.length > 0) {
          return [...refused, ...(await updateValid(left.filter((_, index) => !messages.has(index))))];
        }
        if (!isRejected(error)) throw error;
        const [first] = left;
        if (first && left.length === 1) return [{ ...first, message: error.message }];
        const half = Math.ceil(left.length / 2);
        return [...(await updateValid(left.slice(0, half))), ...(await updateValid(left.slice(half)))];
      }
    }
  }
}
