/** `yardgraph import`: imports files into a running service, with a preview, progress, and files of refused rows. */
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { SingleBar } from 'cli-progress';
import { Interrupted, StartError } from '../errors.ts';
import { type FileOptions, findFiles, type ImportFile } from '../import/files.ts';
import { describeChanges, uniqueMessage } from '../import/made-changes.ts';
import { requireEncoding } from '../import/read-csv.ts';
import { reasonsOf, refusedPath } from '../import/refused.ts';
import { datePatternOf, kindCalled, requireTimeZone } from '../import/rows.ts';
import { type Import, identityOf, scan, sectionsOf, upsertKeysOf } from '../import/run.ts';
import { openState, type Progress, type State } from '../import/state.ts';
import { type Preview, preview, progressOf, write } from '../import/write.ts';
import { count, expected, quote } from '../model/issues.ts';
import { connect, isExpected, messageOf } from './service.ts';
import { confirm, createProgressBar, exitCodes, withInterrupts } from './terminal.ts';

export interface ImportOptions {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly kind?: string;
  readonly upsertBy: readonly string[];
  readonly map: readonly string[];
  readonly skip: readonly string[];
  readonly dates?: string;
  readonly timeZone?: string;
  readonly decimalComma: boolean;
  readonly encoding?: string;
  readonly batch: string;
  readonly message?: string;
  readonly dryRun: boolean;
  /** False for no preview. */
  readonly preview: boolean;
  readonly yes: boolean;
}

/** Imports the files, and returns the exit code. Throws a StartError before anything is stored. */
export async function importFiles(paths: readonly string[], options: ImportOptions): Promise<number> {
  // Rows are garbage soon: collected earlier, a million of them take 140 MB of memory instead of 190, and a tenth more time.
  setFlagsFromString('--optimize-for-size');
  const fileOptions = readFileOptions(options);
  const partSize = readBatch(options.batch);
  const files = findFiles(paths, fileOptions);
  const { url, upsertBy, map, skip, dates, timeZone, decimalComma, encoding, message } = options;
  const how = { url, upsertBy, map, skip, dates, timeZone, decimalComma, encoding, message };
  const identity = await identityOf(files, how);
  const statePath = `${resolve(paths[0] ?? '')}.import-state`;
  const state = await openState(statePath);
  const bar = createBar();
  try {
    const known = state.progress();
    if (known && known.identity !== identity) {
      throw new StartError(
        `${statePath} is the state of an import that was not finished, of other files or with other options. Finish it, or delete its state to begin anew`,
      );
    }
    return await withInterrupts(async (signal) => {
      const base = { state, files, options: fileOptions, partSize, signal, onProgress: bar.increment };
      const progress = known ?? (await scan(base, identity));
      const kinds = sectionsOf(base, progress).map(({ kind }) => kind);
      const changeMessage = changeMessageOf(options, files, progress.run);
      const yardgraph = connect({ serverURL: url, apiKeyAuth: options.apiKey ?? '', changeMessage });
      const work = { ...base, upsertKeys: upsertKeysOf(kinds, upsertBy), yardgraph };
      const code = await checkAndStore(work, progress, options, bar);
      await state.remove();
      return code;
    });
  } catch (error) {
    bar.stop();
    return await leave(state, error, url);
  }
}

async function checkAndStore(work: Import, progress: Progress, options: ImportOptions, bar: Bar): Promise<number> {
  if (progress.after !== undefined) {
    console.log(
      `Going on with the import that stopped after ${count(doneRows(progress))} of ${countedRows(progress.total)}.`,
    );
  } else if (options.preview || options.dryRun) {
    bar.start('checking', progress.total, 0);
    const found = await preview(work, progress);
    bar.stop();
    printPreview(progress, found);
    if (options.dryRun) return found.counts.refused > 0 ? exitCodes.some : exitCodes.all;
    if (!options.yes) await confirm('Store them?', 'nothing was stored');
  }
  bar.start('storing', progress.total, doneRows(progress));
  await write(work);
  bar.stop();
  return printResult(work, options);
}

async function leave(state: State, error: unknown, url: string): Promise<number> {
  const progress = state.progress();
  if (progress?.after === undefined) {
    await state.remove();
    if (!isExpected(error)) throw error;
    throw new StartError(
      error instanceof Interrupted ? `${error.message}: nothing was stored.` : messageOf(error, url),
    );
  }
  await state.close();
  if (!isExpected(error)) throw error;
  console.error(
    `${messageOf(error, url)}. Stored so far: ${count(doneRows(progress))} of ${countedRows(progress.total)}. ${error instanceof Interrupted ? 'Restore the files if they have changed, and run' : 'Run'} the same command again to go on.`,
  );
  return exitCodes.interrupted;
}

const countedRows = (n: number): string => `${count(n)} ${n === 1 ? 'row' : 'rows'}`;

const doneRows = ({ counts: { created, updated, unchanged, refused } }: Progress): number =>
  created + updated + unchanged + refused;

function readFileOptions({ kind, map, skip, dates, timeZone, decimalComma, encoding }: ImportOptions): FileOptions {
  const known = kind === undefined ? undefined : kindCalled(kind);
  if (kind !== undefined && !known) throw new StartError(`--kind: ${expected('a kind such as assets', kind)}`);
  if (timeZone !== undefined) requireTimeZone(timeZone);
  if (encoding !== undefined) requireEncoding(encoding);
  const columns = map.map((mapping) => {
    const at = mapping.lastIndexOf('=');
    if (at < 1) throw new StartError(`--map: ${expected('a column and a field, such as "Serial no=uid"', mapping)}`);
    return [mapping.slice(0, at), mapping.slice(at + 1)] as const;
  });
  return {
    columns: { map: new Map(columns), skip: new Set(skip) },
    form: {
      datePattern: dates === undefined ? undefined : datePatternOf(dates),
      timeZone,
      hasDecimalComma: decimalComma,
    },
    encoding,
    kind: known,
  };
}

function readBatch(batch: string): number {
  const size = Number(batch);
  if (!/^\d{1,6}$/.test(batch) || size < 1)
    throw new StartError(`--batch: ${expected('a whole number from 1', batch)}`);
  return size;
}

type Bar = ReturnType<typeof createBar>;

function createBar() {
  let bar: SingleBar | undefined;
  let begun = 0;
  return {
    start(doing: string, total: number, done: number) {
      bar = createProgressBar('{doing} {percentage}% {value}/{total} rows, {rate}/s, {eta_formatted} left');
      begun = Date.now();
      bar.start(total, done, { doing, rate: 0 });
    },
    increment(rows: number) {
      const rate = ((bar?.getProgress() ?? 0) * (bar?.getTotal() ?? 0)) / ((Date.now() - begun) / 1_000 || 1);
      bar?.increment(rows, { rate: Math.round(rate) });
    },
    stop() {
      bar?.stop();
      bar = undefined;
    },
  };
}

function printPreview(
  { total }: Progress,
  { counts: { created, updated, unchanged, refused }, refused: first, foreign, firstForeign }: Preview,
): void {
  console.log(
    `${countedRows(total)}: ${count(created)} to create, ${count(updated)} to update, ${count(unchanged)} unchanged, ${count(refused)} refused`,
  );
  for (const { file, row, issues } of first) console.log(`  ${file.name}, line ${row.line}: ${reasonsOf(issues)}`);
  if (refused > first.length) console.log(`  and ${count(refused - first.length)} more`);
  if (firstForeign) {
    const { link, id, file, line } = firstForeign;
    const example = `${link} ${quote(id)} in ${file.name}, line ${line}`;
    console.log(
      `Links to IDs of other systems, which lead to no record here: ${count(foreign)}, the first is ${example}`,
    );
  }
}

async function printResult(work: Import, options: ImportOptions): Promise<number> {
  const { state, yardgraph, files } = work;
  const { counts, refused: refusedFiles, after = '', run } = progressOf(work);
  const { created, updated, unchanged, refused } = counts;
  console.log(
    `${count(created)} created, ${count(updated)} updated, ${count(unchanged)} unchanged, ${count(refused)} refused`,
  );
  const withRefused = refusedFiles.flatMap(({ name, bytes }, index) =>
    bytes > 0 ? files.slice(index, index + 1).map((file) => refusedPath(file, name)) : [],
  );
  if (withRefused.length === 1)
    console.log(`The refused rows are in ${withRefused[0]}, each with the reason: fix them, and import that file.`);
  else if (withRefused.length > 1) {
    // Links between their rows are found only within one import.
    console.log('The refused rows are in these files, each with the reason: fix them, and import the files together.');
    for (const path of withRefused) console.log(`  ${path}`);
  }
  const unset = await state.unsetLinks(10);
  for (const { record, field, id, message } of unset.first)
    console.log(`  ${record}: ${field} ${quote(id)} was not set: ${message}`);
  const others = unset.count - unset.first.length;
  if (others > 0) console.log(`  and ${count(others)} more`);
  const made = { after, message: changeMessageOf(options, files, run), number: created + updated };
  console.log(await describeChanges(yardgraph, made));
  if (created + updated + unchanged === 0 && refused > 0) return exitCodes.nothing;
  return refused + unset.count > 0 ? exitCodes.some : exitCodes.all;
}

const changeMessageOf = ({ message }: ImportOptions, files: readonly ImportFile[], run: string): string =>
  uniqueMessage(message?.trim() || `import of ${files[0]?.name.slice(0, 100)}`, run);
