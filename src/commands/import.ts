/** `yardgraph import`: imports files into a running service, with a preview, progress, and files of refused rows. */
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { SingleBar } from 'cli-progress';
import { Yardgraph, YardgraphError } from '../../client/index.ts';
import { StartError } from '../errors.ts';
import { datePatternOf, requireTimeZone } from '../import/cells.ts';
import { kindCalled } from '../import/columns.ts';
import { type FileOptions, findFiles, type ImportFile } from '../import/files.ts';
import { findRanges } from '../import/made-changes.ts';
import { type Preview, preview } from '../import/preview.ts';
import { requireEncoding } from '../import/read-csv.ts';
import { reasonsOf, refusedPath } from '../import/refused.ts';
import { type Import, identityOf, scan, sectionsOf } from '../import/run.ts';
import { openState, type Progress } from '../import/state.ts';
import { upsertKeysOf } from '../import/upsert-keys.ts';
import { type UnsetLink, write } from '../import/write.ts';
import { count } from '../model/issues.ts';
import { countedRecords } from '../model/labels.ts';
import { ask } from './ask.ts';
import { createProgressBar } from './progress-bar.ts';

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

/** Exit codes, which docs/import-and-export.md explains. */
const exitCodes = { allStored: 0, nothingStored: 1, someRefused: 2, interrupted: 3 } as const;

/** Imports the files, and returns the exit code. Throws a StartError before anything is stored. */
export async function importFiles(paths: readonly string[], options: ImportOptions): Promise<number> {
  // Rows are garbage soon: collected earlier, a million of them take 140 MB of memory instead of 190, and a tenth more time.
  setFlagsFromString('--optimize-for-size');
  const fileOptions = readFileOptions(options);
  const partSize = readBatch(options.batch);
  const files = findFiles(paths, fileOptions);
  const { url, upsertBy, map, skip, dates, timeZone, decimalComma, encoding } = options;
  const identity = await identityOf(files, { url, upsertBy, map, skip, dates, timeZone, decimalComma, encoding });
  const statePath = `${resolve(paths[0] ?? '')}.import-state`;
  const state = await openState(statePath);
  const stop = new AbortController();
  const onSignal = () => stop.abort(new Interrupted());
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  const bar = createBar();
  try {
    const known = state.progress();
    if (known && known.identity !== identity) {
      throw new StartError(
        `${statePath} is the state of an import that was not finished, of other files or with other options. Finish it, or delete its state to begin anew`,
      );
    }
    const base = { state, files, options: fileOptions, partSize, signal: stop.signal, onProgress: bar.increment };
    const progress = known ?? (await scan(base, identity));
    const work: Import = {
      ...base,
      upsertKeys: upsertKeysOf(
        sectionsOf(base, progress).map(({ kind }) => kind),
        upsertBy,
      ),
      yardgraph: new Yardgraph({
        serverURL: url,
        apiKeyAuth: options.apiKey ?? '',
        changeMessage: changeMessageOf(options, files, progress.run),
      }),
    };
    if (progress.after !== undefined) {
      console.log(
        `Going on with the import that stopped after ${count(doneRows(progress))} of ${countedRows(progress.total)}.`,
      );
    } else if (options.preview || options.dryRun) {
      bar.start('checking', progress.total, 0);
      const found = await preview(work, progress);
      bar.stop();
      printPreview(progress, found);
      if (options.dryRun) {
        await state.remove();
        return found.counts.refused > 0 ? exitCodes.someRefused : exitCodes.allStored;
      }
      if (!options.yes) await confirm();
    }
    bar.start('storing', progress.total, doneRows(state.progress() ?? progress));
    const unset = await write(work);
    bar.stop();
    const code = await printResult(work, options, unset);
    await state.remove();
    return code;
  } catch (error) {
    bar.stop();
    const { after } = state.progress() ?? {};
    if (after === undefined) {
      await state.remove();
      if (error instanceof Interrupted) return interruptedBefore();
      throw isExpected(error) ? new StartError(error.message) : error;
    }
    const stopped = state.progress();
    await state.close();
    if (!isExpected(error)) throw error;
    console.error(
      `${error.message}. Stored so far: ${stopped ? count(doneRows(stopped)) : 0} of ${countedRows(stopped?.total ?? 0)}. Run the same command again to go on.`,
    );
    return exitCodes.interrupted;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

/** True for errors of the service, of the connection to it, and of the file system, such as a full disk. */
const isExpected = (error: unknown): error is Error =>
  error instanceof Interrupted ||
  error instanceof YardgraphError ||
  (error instanceof Error && 'code' in error && /^(?:E[A-Z]+|SQLITE_\w+)$/.test(String(error.code)));

class Interrupted extends Error {
  override readonly message = 'Interrupted';
}

function interruptedBefore(): number {
  console.error('Interrupted: nothing was stored.');
  return exitCodes.nothingStored;
}

const countedRows = (n: number): string => `${count(n)} ${n === 1 ? 'row' : 'rows'}`;

const doneRows = ({ counts: { created, updated, unchanged, refused } }: Progress): number =>
  created + updated + unchanged + refused;

function readFileOptions({ kind, map, skip, dates, timeZone, decimalComma, encoding }: ImportOptions): FileOptions {
  const known = kind === undefined ? undefined : kindCalled(kind);
  if (kind !== undefined && !known)
    throw new StartError(`--kind: expected a kind such as assets, received "${kind.slice(0, 100)}"`);
  if (timeZone !== undefined) requireTimeZone(timeZone);
  if (encoding !== undefined) requireEncoding(encoding);
  const columns = map.map((mapping) => {
    const at = mapping.lastIndexOf('=');
    if (at < 1)
      throw new StartError(
        `--map: expected a column and a field, such as "Serial no=uid", received "${mapping.slice(0, 100)}"`,
      );
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
    throw new StartError(`--batch: expected a whole number from 1, received "${batch.slice(0, 100)}"`);
  return size;
}

/** Shows the progress of one step after the other. */
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
  { counts: { created, updated, unchanged, refused }, refused: first }: Preview,
): void {
  console.log(
    `${countedRows(total)}: ${count(created)} to create, ${count(updated)} to update, ${count(unchanged)} unchanged, ${count(refused)} refused`,
  );
  for (const { file, row, issues } of first) console.log(`  ${file.name}, line ${row.line}: ${reasonsOf(issues)}`);
  if (refused > first.length) console.log(`  and ${count(refused - first.length)} more`);
}

/** Throws a StartError unless the answer is yes. */
async function confirm(): Promise<void> {
  const entered = await ask('Store them? [y/N] ');
  if (!/^y(es)?$/i.test(entered?.trim() ?? '')) throw new StartError('not confirmed: nothing was stored');
}

/** Prints what was done, and returns the exit code. */
async function printResult(
  { state, yardgraph, files }: Import,
  options: ImportOptions,
  unset: readonly UnsetLink[],
): Promise<number> {
  const { counts, refusedBytes, after = '', run } = state.progress() as Progress;
  const { created, updated, unchanged, refused } = counts;
  console.log(
    `${count(created)} created, ${count(updated)} updated, ${count(unchanged)} unchanged, ${count(refused)} refused`,
  );
  for (const { path } of files.filter((file) => (refusedBytes[file.path] ?? 0) > 0)) {
    console.log(`The refused rows are in ${refusedPath(path)}, each with the reason: mend them, and import that file.`);
  }
  for (const { record, field, id, message } of unset.slice(0, 10))
    console.log(`  ${record}: ${field} ${id} was not set: ${message}`);
  if (unset.length > 10) console.log(`  and ${countedRecords(unset.length - 10)} more with a link that was not set`);
  const message = changeMessageOf(options, files, run);
  const ranges = await findRanges(yardgraph, { after, message, number: created + updated });
  if (ranges === undefined)
    console.log(`Its changes are among those of others after ${after}, with the message "${message}".`);
  else if (ranges.length > 0)
    console.log(`Its changes: ${ranges.map(([from, to]) => (from === to ? from : `${from} to ${to}`)).join(', ')}.`);
  if (created + updated + unchanged === 0 && refused > 0) return exitCodes.nothingStored;
  return refused + unset.length > 0 ? exitCodes.someRefused : exitCodes.allStored;
}

/** The message of all changes of the import, which no other import has. */
const changeMessageOf = ({ message }: ImportOptions, files: readonly ImportFile[], run: string): string =>
  `${message ?? `import of ${files[0]?.name.slice(0, 100)}`} (${run})`;
