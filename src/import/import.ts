/** The two steps of an import, and what they tell people: what would become of the rows, and what has become of them. */
import type { Yardgraph } from '../../client/index.ts';
import { StartError } from '../errors.ts';
import { count, quote } from '../model/issues.ts';
import { counted } from '../model/labels.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { upsertKeysOf } from './columns.ts';
import { noNames } from './links.ts';
import { type Profile, requireKind } from './profiles.ts';
import { fileReader, ownTexts, scan } from './reading.ts';
import { countedRows, Refusals, refusedWriter, Tally } from './report.ts';
import { deleteRecords, type Import, missingRecords, type Run, type Sent, sendAll } from './run.ts';
import { collectWarnings } from './warnings.ts';

/** What is said of an import besides its profile. */
interface Setting extends Pick<Import, 'yardgraph' | 'files' | 'partSize' | 'signal' | 'onProgress'> {
  readonly deleteMissing?: number | undefined;
  readonly encoding?: string | undefined;
  readonly columns?: string | undefined;
}

/** Reads the files for the first time. Throws a StartError with all that cannot be read, and the options that do not go with it. */
export async function prepare(profile: Profile, { encoding, columns, ...setting }: Setting): Promise<Import> {
  const reader = fileReader(profile, { encoding, columns });
  const { createMissing = [], upsertBy = [] } = profile;
  const created = createMissing.flatMap((name) => requireKind('create-missing', name) ?? []);
  const scanned = await scan(setting.files, reader);
  const kinds = scanned.sections.map(({ kind }) => kind);
  const { keys: upsertKeys, problems } = upsertKeysOf(kinds, upsertBy);
  problems.unshift(...scanned.problems);
  if (setting.deleteMissing !== undefined && !kinds.every((kind) => upsertKeys.has(kind))) {
    problems.push('--delete-missing: say by --upsert-by how records are found');
  }
  if (problems.length > 0) throw new StartError(problems.join('\n'));
  return {
    deleteMissing: undefined,
    ...setting,
    ...{ reader, scanned, upsertKeys, createMissing: new Set(created) },
    ownTexts: await ownTexts(scanned, reader),
    warnings: new Map(setting.files.map((file) => [file, collectWarnings()])),
  };
}

/** In milliseconds: the service knows an idempotency key for 24 hours. */
const keyLifetime = 23 * 3_600_000;

/** What is noted of an import before it stores anything. */
export interface Begun {
  readonly run: string;
  /** The cursor of the last change before. */
  readonly after: string;
  /** In milliseconds. */
  readonly startedAt: number;
  /** The ID of the workspace. */
  readonly workspace: string;
}

/** Notes that an import begins. */
export async function begin(yardgraph: Yardgraph, run: string): Promise<Begun> {
  const { viewer, changeCursor } = await yardgraph.graphql('{ viewer { workspace { id } } changeCursor }');
  return { run, after: changeCursor, startedAt: Date.now(), workspace: viewer.workspace.id };
}

/** Says that an import that was stopped goes on. Throws a StartError if it is too late, or of another workspace; `anew` says how to begin anew. */
export async function goOn(
  { scanned, upsertKeys, yardgraph }: Import,
  { startedAt, workspace }: Begun,
  anew: string,
  { say }: Output,
): Promise<void> {
  const now = await begin(yardgraph, '');
  if (now.workspace !== workspace) {
    throw new StartError(`the import that was stopped is of the workspace ${workspace}: use its key, or ${anew}`);
  }
  // With `--upsert-by id`, rows without an ID are created.
  const creates = scanned.sections.some(({ kind }) => (upsertKeys.get(kind) ?? 'id') === 'id');
  if (creates && Date.now() - startedAt >= keyLifetime) {
    throw new StartError(
      `the import began more than 23 hours ago, and the service soon forgets which rows it has stored. Look for the last one, then import the rest of the rows as a file of its own, or use --upsert-by, and ${anew}`,
    );
  }
  say('Going on with the import that was stopped: what it has stored is not stored again.');
}

/** Where an import tells what becomes of its rows. */
export interface Output {
  say(text: string): void;
  table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void;
}

/** Shows what would become of the rows. It is clean if all would be stored, and no more deleted than is allowed. */
export async function preview(work: Import, { say, table }: Output) {
  const tally = new Tally();
  const refusals = new Refusals();
  const sent = await sendAll(work, {
    names: noNames(work.scanned.linkKeys),
    warns: true,
    onSent(file, rows) {
      for (const row of rows) {
        tally.add(row);
        if (row.outcome === 'REJECTED') refusals.add(file, row);
      }
    },
  });
  const { CREATED: created, UPDATED: updated, UNCHANGED: unchanged, REJECTED: refused } = sent.rows;
  say(
    `${countedRows(work.scanned.total)}: ${count(created)} to create, ${count(updated)} to update, ${count(unchanged)} unchanged, ${count(refused)} refused`,
  );
  const { head, rows } = tally.table();
  if (rows.length > 0) table(head, rows);
  for (const text of refusals.lines()) say(text);
  sayList(sent.unset, say);
  sayWarnings(work, say);
  for (const [kind, names] of sent.missing) say(`To create for links to them: ${counted(names.size, kind)}`);
  const missing = await missingRecords(work, sent);
  for (const [kind, ids] of missing) {
    say(`To delete, because they are not in the files: ${counted(ids.length, kind)}`);
  }
  const tooMany = exceeding(work, missing);
  const isWhole = refused + sent.unset.length === 0;
  if (missing.size > 0 && !isWhole) say('As not all rows would be stored, none is deleted.');
  else if (tooMany) say(tooMany);
  return { changed: created + updated, isClean: isWhole && !tooMany };
}

function sayWarnings({ warnings }: Import, say: Output['say']): void {
  const groups = [...warnings].flatMap(([file, collected]) => collected.groups().map((group) => ({ file, ...group })));
  if (groups.length > 0) say('Allowed, and probably wrong:');
  for (const { file, message, first, count: number } of groups) {
    const { line, column, detail = '' } = first;
    const where = [`line ${line}`, column === '' ? '' : `column ${quote(column)}`, detail].filter(Boolean).join(', ');
    say(`  ${file.name}: ${message}: ${number === 1 ? where : `${count(number)} times, first in ${where}`}`);
  }
}

function exceeding(
  { deleteMissing = 0 }: Import,
  missing: ReadonlyMap<RecordKind, readonly string[]>,
): string | undefined {
  const number = [...missing.values()].flat().length;
  if (number <= deleteMissing) return undefined;
  return `Nothing is deleted: ${count(number)} records are not in the files, and --delete-missing allows ${count(deleteMissing)}.`;
}

/** Where the refused rows of a file go. */
export interface RefusedFile {
  /** As it is told. */
  readonly name: string;
  write(text: string): void;
}

/**
 * Stores the rows, and says what has become of them. The files of refused rows are those of the files in their order; only what is refused is
 * written. Without a preview, it also says what is probably wrong.
 */
export async function store(
  work: Import,
  { run, refusedFiles, isPreviewed }: { run: Run; refusedFiles: readonly RefusedFile[]; isPreviewed: boolean },
  { say }: Output,
) {
  const { files, reader, scanned } = work;
  const names = noNames(scanned.linkKeys);
  const tables = await Promise.all(files.map(reader.table));
  const writers = refusedFiles.map(({ write }, index) => refusedWriter(tables[index], names, write));
  const sent = await sendAll(work, {
    run,
    names,
    warns: !isPreviewed,
    onSent(file, rows) {
      writers[files.indexOf(file)]?.add(rows.filter(({ outcome }) => outcome === 'REJECTED'));
    },
  });
  const { CREATED: created, UPDATED: updated, UNCHANGED: unchanged, REJECTED: refused } = sent.rows;
  say(`${count(created)} created, ${count(updated)} updated, ${count(unchanged)} unchanged, ${count(refused)} refused`);
  for (const [kind, { size }] of sent.missing) say(`Created for links to them: ${counted(size, kind)}`);
  sayList(sent.unset, say);
  const [name, ...others] = refusedFiles.filter((_, index) => !writers[index]?.isEmpty()).map((file) => file.name);
  if (name && others.length === 0) {
    say(`The refused rows are in ${name}, each with the reason: fix them, and import that file.`);
  } else if (name) {
    // Links between their rows are found only within one import.
    say('The refused rows are in these files, each with the reason: fix them, and import the files together.');
    for (const each of [name, ...others]) say(`  ${each}`);
  }
  if (!isPreviewed) sayWarnings(work, say);
  const isStored = refused + sent.unset.length === 0;
  const deletion = work.deleteMissing === undefined ? undefined : await deleteOthers(work, sent, isStored, say);
  return {
    changed: created + updated + sent.others + (deletion?.deleted ?? 0),
    isNothing: refused > 0 && refused === scanned.total,
    isWhole: isStored && (deletion?.isWhole ?? true),
  };
}

function sayList(lines: readonly string[], say: Output['say']): void {
  for (const text of lines.slice(0, 10)) say(`  ${text}`);
  if (lines.length > 10) say(`  and ${count(lines.length - 10)} more`);
}

/** Deletes all that is not in the files, or nothing. */
async function deleteOthers(work: Import, sent: Sent, isStored: boolean, say: Output['say']) {
  const missing = isStored ? await missingRecords(work, sent) : new Map<RecordKind, string[]>();
  const problem = isStored ? exceeding(work, missing) : 'As not all rows are stored, none is deleted.';
  if (problem) {
    say(problem);
    return { isWhole: false, deleted: 0 };
  }
  let deleted = 0;
  const refused: string[] = [];
  for (const [kind, ids] of missing) {
    const others = await deleteRecords(work, kind, ids);
    const number = ids.length - others.length;
    say(`Deleted, because they are not in the files: ${counted(number, kind)}`);
    deleted += number;
    refused.push(...others.map(({ id, message }) => `${id} was not deleted: ${message}`));
  }
  sayList(refused, say);
  return { isWhole: refused.length === 0, deleted };
}
