import type { Yardgraph } from '../../client/index.ts';
import { StartError } from '../errors.ts';
import { formatCount, quote } from '../model/issues.ts';
import { pluralize } from '../model/labels.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { label, labelledTypes } from '../records/index.ts';
import { parseUpsertKeys } from './columns.ts';
import { RowIndex } from './items.ts';
import { type Profile, requireKind } from './profiles.ts';
import { createFileReader, type ReaderOptions, readTreeOrders, scanFiles } from './reading.ts';
import { countedRows, createRefusedWriter, Refusals, type RefusedFile, Tally } from './report.ts';
import { type RowOutcome, rowKeyText } from './row.ts';
import {
  deleteInParts,
  findMissingRecords,
  type Import,
  type ImportRun,
  type Storing,
  sendRows,
  type Totals,
} from './run.ts';
import { addDoubts, type Doubt, WarningCollector } from './warnings.ts';

/** In one mutation. Parts of a larger import take less memory, and hold up others briefly. */
const maxSmall = 5_000;
const defaultPartSize = 1_000;

interface ImportSettings extends ReaderOptions, Pick<Import, 'yardgraph' | 'signal' | 'onProgress'> {
  readonly partSize?: number | undefined;
  readonly deleteMissing?: number | undefined;
}

/** Throws a StartError that lists all problems of files and options. */
export async function prepare(profile: Profile, settings: ImportSettings): Promise<Import> {
  const reader = createFileReader(profile, settings);
  const { upsertBy = [], createMissing = [] } = profile;
  const types = createMissing.filter((name) => labelledTypes.includes(name));
  const toKind = (name: string) => (types.includes(name) ? label : requireKind('create-missing', name));
  const created = createMissing.flatMap((name) => toKind(name) ?? []);
  const scanned = await scanFiles(settings.files, reader);
  const kinds = scanned.sections.map(({ kind }) => kind);
  const { keys: upsertKeys, problems } = parseUpsertKeys(kinds, upsertBy);
  if (!kinds.includes(label)) upsertKeys.set(label, 'key');
  problems.unshift(...scanned.problems);
  if (settings.deleteMissing !== undefined && !kinds.every((kind) => upsertKeys.has(kind))) {
    problems.push('--delete-missing: name the key of records with --upsert-by');
  }
  if (problems.length > 0) throw new StartError(problems.join('\n'));
  return {
    deleteMissing: undefined,
    ...settings,
    partSize: settings.partSize ?? (scanned.total <= maxSmall ? maxSmall : defaultPartSize),
    ...{ reader, scanned, upsertKeys, createMissing: new Set(created) },
    createdTypes: created.includes(label) && types.length === 0 ? labelledTypes : types,
    keyedApart: new Set(created.filter((kind) => !['id', 'name'].includes(upsertKeys.get(kind) ?? 'id'))),
    treeOrders: await readTreeOrders(reader, scanned, upsertKeys),
    warnings: new Map(settings.files.map((file) => [file, new WarningCollector()])),
    labels: {},
  };
}

export async function startRun(yardgraph: Yardgraph, id: string): Promise<ImportRun> {
  const { viewer } = await yardgraph.graphql('{ viewer { workspace { id } } }');
  return { id, startedAt: Date.now(), workspace: viewer.workspace.id, missing: {}, labels: {} };
}

/** The service keeps an idempotency key for 24 hours. */
const keyLifetimeMs = 23 * 3_600_000;

/** Throws a StartError if the stopped import is too old, or of another workspace. */
export async function requireResumable(work: Import, { startedAt, workspace }: ImportRun, restart: string) {
  const now = await startRun(work.yardgraph, '');
  if (now.workspace !== workspace) {
    throw new StartError(`the stopped import belongs to the workspace ${workspace}: use its key, or ${restart}`);
  }
  // `--upsert-by id` creates rows without an ID.
  const creates = work.scanned.sections.some(({ kind }) => (work.upsertKeys.get(kind) ?? 'id') === 'id');
  if (creates && Date.now() - startedAt >= keyLifetimeMs) {
    throw new StartError(
      `the import began more than 23 hours ago, and the service soon forgets which rows it has stored. Look for the last one, then import the remaining rows as a separate file, or use --upsert-by, and ${restart}`,
    );
  }
}

export interface Output {
  say(text: string): void;
  table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void;
}

export type Preview = Awaited<ReturnType<typeof preview>>;

export async function preview(work: Import) {
  const tally = new Tally();
  const refusals = new Refusals();
  const doubts = new Map<string, Doubt>();
  // The first rows that change stored records, and the first names of new ones.
  const updated: RowOutcome[] = [];
  const newNames: string[] = [];
  const totals = await sendRows(work, {
    index: new RowIndex({ ...work, isPreview: true }),
    warns: true,
    onPart(outcomes) {
      for (const outcome of outcomes) {
        tally.add(outcome);
        if (outcome.outcome === 'REJECTED') refusals.add(outcome);
        addDoubts(doubts, outcome, work.upsertKeys.get(outcome.row.kind), work.files);
        if (outcome.outcome === 'UPDATED' && updated.length < 20) updated.push(outcome);
        if (outcome.outcome === 'CREATED' && newNames.length < maxSmall)
          newNames.push(rowKeyText(outcome.row, 'name') ?? '');
      }
    },
  });
  // Records that would be deleted, and why they would not.
  const missing = await findMissingRecords(work, totals);
  const problem = deletionProblem(work, missing);
  const { CREATED, UPDATED } = totals.rows;
  return { totals, tally, refusals, doubts, updated, newNames, changed: CREATED + UPDATED, missing, problem };
}

/** True if all rows would be stored, and no more records deleted than allowed. */
export const isClean = ({ totals, problem }: Preview): boolean => totals.rows.REJECTED === 0 && !problem;

export function describePreview(work: Import, checked: Preview, { say, table }: Output): void {
  const { CREATED: created, UPDATED: updated, UNCHANGED: unchanged, REJECTED: refused } = checked.totals.rows;
  say(
    `${countedRows(work.scanned.total)}: ${formatCount(created)} to create, ${formatCount(updated)} to update, ${formatCount(unchanged)} unchanged, ${formatCount(refused)} refused`,
  );
  const { head, rows } = checked.tally.table();
  if (rows.length > 0) table(head, rows);
  for (const text of checked.refusals.lines()) say(text);
  describeNotes(work, checked, say);
}

/** Says the warnings of a preview, and the records to create or delete. */
export function describeNotes(work: Import, checked: Preview, say: Output['say'], asks = false): void {
  const { totals, missing, problem } = checked;
  sayUnchecked(totals, say);
  sayWarnings(work, say, asks);
  sayCreatedNames('To create for links to them', totals, say);
  for (const [kind, ids] of missing) {
    say(`To delete, because they are not in the files: ${pluralize(ids.length, kind)}`);
  }
  if (missing.size > 0 && totals.rows.REJECTED > 0) say('No record is deleted, because not all rows would be stored.');
  else if (problem) say(problem);
}

function sayUnchecked({ unchecked: { count: rows, first } }: Totals, say: Output['say']): void {
  if (!first) return;
  const where = `first in ${first.file.name}, line ${first.source.line}`;
  say(`Not checked: links of ${countedRows(rows)} to rows of earlier batches, ${where}`);
}

function sayCreatedNames(what: string, { missing }: Totals, say: Output['say']): void {
  for (const [kind, { size }] of missing) if (size > 0) say(`${what}: ${pluralize(size, kind)}`);
}

function sayWarnings({ warnings }: Import, say: Output['say'], asks = false): void {
  const groups = [...warnings].flatMap(([file, collected]) => collected.groups().map((group) => ({ file, ...group })));
  for (const areFacts of [true, false]) {
    const some = groups.filter(({ first: { isFact = false, isAsked } }) => isFact === areFacts && !(asks && isAsked));
    if (some.length > 0) say(areFacts ? 'Left out:' : 'Allowed, and probably wrong:');
    for (const { file, message, first, count: number } of some) {
      const { line, column, detail = '' } = first;
      const where = [`line ${line}`, column === '' ? '' : `column ${quote(column)}`, detail].filter(Boolean).join(', ');
      say(`  ${file.name}: ${message}: ${number === 1 ? where : `${formatCount(number)} times, first in ${where}`}`);
    }
  }
}

function deletionProblem(
  { deleteMissing = 0 }: Import,
  missing: ReadonlyMap<unknown, readonly string[]>,
): string | undefined {
  const number = [...missing.values()].flat().length;
  if (number <= deleteMissing) return undefined;
  return `Nothing is deleted: ${formatCount(number)} records are not in the files, and --delete-missing allows ${formatCount(deleteMissing)}.`;
}

interface StoreOptions {
  readonly storing: Storing;
  readonly refusedFiles: readonly RefusedFile[];
  /** Without a preview, storing prints the warnings. */
  readonly isPreviewed: boolean;
}

export async function store(work: Import, { storing, refusedFiles, isPreviewed }: StoreOptions, { say }: Output) {
  const index = new RowIndex(work);
  const tables = await Promise.all(work.files.map(work.reader.table));
  const writers = refusedFiles.map((refused, file) => createRefusedWriter(tables[file], index, refused));
  const totals = await sendRows(work, {
    ...{ index, storing, warns: !isPreviewed },
    onPart(outcomes) {
      const refused = outcomes.filter(({ outcome }) => outcome === 'REJECTED');
      for (const [at, file] of work.files.entries()) writers[at]?.add(refused.filter(({ row }) => row.file === file));
    },
  });
  const { CREATED: created, UPDATED: updated, UNCHANGED: unchanged, REJECTED: refused } = totals.rows;
  say(
    `${formatCount(created)} created, ${formatCount(updated)} updated, ${formatCount(unchanged)} unchanged, ${formatCount(refused)} refused`,
  );
  sayCreatedNames('Created for links to them', totals, say);
  const written = refusedFiles.filter((_, at) => !writers[at]?.isEmpty());
  sayRefusedFiles(written, say);
  if (!isPreviewed) sayWarnings(work, say);
  const isDeleted = work.deleteMissing === undefined || (await deleteMissing(work, totals, say));
  return {
    totals,
    isNothing: refused > 0 && refused === work.scanned.total,
    isWhole: refused === 0 && isDeleted,
  };
}

function sayRefusedFiles([first, ...others]: readonly RefusedFile[], say: Output['say']): void {
  if (first && others.length === 0) {
    say(`The refused rows are in ${first.name}, each with the reason: fix them, and import that file.`);
  } else if (first) {
    // Their rows may link to each other, which takes one import.
    say('The refused rows are in these files, each with the reason: fix them, and import the files together.');
    for (const { name } of [first, ...others]) say(`  ${name}`);
  }
}

/** True if all missing records are deleted. */
async function deleteMissing(work: Import, totals: Totals, say: Output['say']) {
  const isStored = totals.rows.REJECTED === 0;
  const missing = isStored ? await findMissingRecords(work, totals) : new Map<RecordKind, string[]>();
  const problem = isStored ? deletionProblem(work, missing) : 'No record is deleted, because not all rows are stored.';
  if (problem) {
    say(problem);
    return false;
  }
  const refused: string[] = [];
  for (const [kind, ids] of missing) {
    const referenced = await deleteInParts(work, kind, ids);
    const number = ids.length - referenced.length;
    say(`Deleted, because they are not in the files: ${pluralize(number, kind)}`);
    refused.push(...referenced.map(({ id, message }) => `${id} was not deleted: ${message}`));
  }
  for (const text of refused.slice(0, 10)) say(`  ${text}`);
  if (refused.length > 10) say(`  and ${formatCount(refused.length - 10)} more`);
  return refused.length === 0;
}
