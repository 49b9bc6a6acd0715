import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Yardgraph } from '../../client/index.ts';
import { errorCode, Interrupted, StartError } from '../errors.ts';
import {
  describePreview,
  isClean,
  type Output,
  prepare,
  preview,
  requireResumable,
  startRun,
  store,
} from '../import/import.ts';
import { findFiles, hashFile, type LocalFile, refusedPaths, requireOverwritable } from '../import/local-files.ts';
import { describeChanges, findMadeChanges, uniqueMessage } from '../import/made-changes.ts';
import { type ProfileOptions, profileOf, requireKind } from '../import/profiles.ts';
import { countedRows } from '../import/report.ts';
import type { Import, ImportRun } from '../import/run.ts';
import { expected, formatCount } from '../model/issues.ts';
import { connect, isExpected, messageOf } from './service.ts';
import { confirm, createProgressBar, exitCodes, printTable, withInterrupts } from './terminal.ts';

export interface ImportOptions extends ProfileOptions {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly deleteMissing?: string;
  readonly encoding?: string;
  readonly columns?: string;
  readonly refused?: string;
  readonly batch?: string;
  readonly message?: string;
  readonly dryRun: boolean;
  readonly preview: boolean;
  readonly yes: boolean;
}

/**
 * In a file from before the first row is stored until the end: a second start with the same files and options resumes
 * it.
 */
interface RunFile extends ImportRun {
  readonly identity: string;
  readonly partSize: number;
  readonly refused: readonly string[];
  readonly pid: number;
}

type Command = Awaited<ReturnType<typeof readCommand>>;

/** Returns the exit code. A StartError means that nothing was stored. */
export async function importFiles(paths: readonly string[], options: ImportOptions): Promise<number> {
  // Rows are short-lived: earlier collections save a fifth of the memory, for a tenth more CPU.
  setFlagsFromString('--heap-growing-percent=50');
  const command = await readCommand(paths, options);
  const changeMessage = uniqueMessage(
    options.message?.trim() || `import of ${describeFiles(command.files)}`,
    command.runId,
  );
  const { url: serverURL, apiKey: apiKeyAuth = '' } = options;
  const yardgraph = connect({ serverURL, apiKeyAuth, changeMessage, importRun: command.runId });
  const progress = new Progress();
  return withInterrupts(async (signal) => {
    let run = command.resumed;
    try {
      const work = await readFiles(command, yardgraph, progress, signal);
      if (!run && (options.preview || options.dryRun)) {
        progress.start('checking', work.scanned.total);
        const checked = await preview(work);
        describePreview(work, checked, progress);
        if (options.dryRun) return isClean(checked) && command.isWhole ? exitCodes.all : exitCodes.some;
        if (!options.yes) await confirm('Store them?', 'nothing was stored');
      }
      run = await writeRun(command, work);
      const stored = await storeRows(command, work, run, progress);
      console.log(describeChanges(await findMadeChanges(yardgraph, run.id)));
      rmSync(command.runPath, { force: true });
      if (stored.isNothing) return exitCodes.nothing;
      return stored.isWhole && command.isWhole ? exitCodes.all : exitCodes.some;
    } catch (error) {
      progress.stop();
      if (!isExpected(error)) throw error;
      const [reason, isInterrupted] = [messageOf(error, options.url), error instanceof Interrupted];
      if (!run) throw new StartError(isInterrupted ? `${reason}: nothing was stored` : reason);
      const again = isInterrupted ? 'Restore the files if they have changed, and run' : 'Run';
      console.error(
        `${reason}. ${progress.describe()}. ${again} the same command again to continue: nothing is stored twice.`,
      );
      return exitCodes.interrupted;
    }
  });
}

const describeFiles = ([first, ...others]: readonly LocalFile[]): string =>
  `${first?.name.slice(0, 100)}${others.length > 0 ? ` and ${formatCount(others.length)} more` : ''}`;

async function readCommand(paths: readonly string[], options: ImportOptions) {
  const { url, message, encoding, columns, deleteMissing, batch } = options;
  const profile = profileOf(options, (path) => readFileSync(path, 'utf8'));
  const partSize = batch === undefined ? undefined : readCount('batch', batch, 1);
  if (deleteMissing !== undefined) readCount('delete-missing', deleteMissing, 0);
  const { files, refused, skipped } = findFiles(paths, requireKind('kind', profile.kind));
  const hashes: string[] = [];
  for (const file of files) hashes.push(await hashFile(file));
  const names = files.map(({ name, kind }) => [name, kind?.name]);
  const decisive = [hashes, names, profile, url, message, encoding, columns, deleteMissing, options.refused];
  const identity = createHash('sha256').update(JSON.stringify(decisive)).digest('hex');
  const runPath = `${resolve(paths[0] ?? '')}.import-run`;
  const resumed = readRun(runPath, identity);
  for (const path of resumed?.refused ?? []) requireOverwritable(path, 'move it to continue the import');
  if (resumed && options.dryRun) {
    throw new StartError('an import of these files was stopped: finish it before a dry run');
  }
  for (const path of refused) console.log(`Left out, because it has refused rows of an earlier import: ${path}`);
  for (const path of skipped) console.log(`Left out, because it cannot be imported: ${path}`);
  return {
    ...{ options, profile, files, hashes, isWhole: skipped.length === 0, runPath, identity, resumed },
    runId: resumed?.id ?? randomUUID().slice(0, 8),
    partSize: resumed?.partSize ?? partSize,
    refused: resumed?.refused ?? refusedPaths(files, options.refused),
  };
}

function readCount(option: string, text: string, min: number): number {
  if (/^\d{1,6}$/.test(text) && Number(text) >= min) return Number(text);
  throw new StartError(`--${option}: ${expected(`a whole number from ${min} to 999,999`, text)}`);
}

async function readFiles(command: Command, yardgraph: Yardgraph, progress: Progress, signal: AbortSignal) {
  const { options, profile, files, partSize, resumed } = command;
  const { encoding, columns, deleteMissing } = options;
  const work = await prepare(profile, {
    ...{ yardgraph, files, encoding, columns, partSize, signal },
    deleteMissing: deleteMissing === undefined ? undefined : Number(deleteMissing),
    onProgress: (rows) => progress.add(rows),
  });
  if (resumed) {
    await requireResumable(work, resumed, restart(command));
    progress.say('Continuing the stopped import: rows that it has stored are not stored again.');
  }
  return work;
}

const restart = ({ runPath }: Command): string => `delete ${runPath} to start over`;

async function storeRows(command: Command, work: Import, run: RunFile, progress: Progress) {
  progress.start('storing', work.scanned.total);
  const storing = {
    run,
    save: () => replaceRun(command.runPath, run),
    fileKeys: command.hashes.map((hash, index) => `${index}${hash.slice(0, 8)}`),
    restart: command.resumed && restart(command),
  };
  const refusedFiles = run.refused.map((path) => {
    rmSync(path, { force: true });
    return { name: path, write: (text: string) => appendFileSync(path, text) };
  });
  const isPreviewed = !command.resumed && command.options.preview;
  return store(work, { storing, refusedFiles, isPreviewed }, progress);
}

function readRun(path: string, identity: string): RunFile | undefined {
  let run: RunFile;
  try {
    run = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    if (!(error instanceof SyntaxError)) throw error;
    throw new StartError(`${path} is not the state of an import: move it away`);
  }
  if (run.pid !== process.pid && isRunning(run.pid)) {
    throw new StartError(
      `another import of these files is running (process ${run.pid}); if that process is not an import, delete ${path}`,
    );
  }
  if (run.identity === identity) return run;
  throw new StartError(
    `${path} is from an unfinished import of other files or with other options. Finish it, or delete this file to start over`,
  );
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

async function writeRun(command: Command, { yardgraph, partSize }: Import): Promise<RunFile> {
  const { runPath, resumed, identity, refused, runId } = command;
  const { pid } = process;
  if (resumed) {
    const run = { ...resumed, pid };
    replaceRun(runPath, run);
    return run;
  }
  const run = { ...(await startRun(yardgraph, runId)), identity, partSize, refused, pid };
  writeState(runPath, () => writeFileSync(runPath, `${JSON.stringify(run)}\n`, { flag: 'wx' }));
  return run;
}

/** At once: it is never half-written. */
function replaceRun(path: string, run: RunFile): void {
  writeState(path, () => {
    writeFileSync(`${path}-new`, `${JSON.stringify(run)}\n`);
    renameSync(`${path}-new`, path);
  });
}

function writeState(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw new StartError('another import of these files has just begun');
    throw new StartError(`cannot write ${path}, which has the state of the import: ${String(error)}`);
  }
}

/** A progress bar that stops before something is printed. */
class Progress implements Output {
  readonly #bar = createProgressBar('{doing} {percentage}% {value}/{total} rows, {eta_formatted} left');
  #done = 0;

  start(doing: string, total: number): void {
    this.#done = 0;
    this.#bar.start(total, 0, { doing });
  }

  add(rows: number): void {
    this.#done += rows;
    this.#bar.update(this.#done);
  }

  stop(): void {
    this.#bar.stop();
  }

  readonly say = (text: string): void => {
    this.stop();
    console.log(text);
  };

  readonly table = printTable;

  describe(): string {
    return `Stored or refused so far: ${formatCount(this.#done)} of ${countedRows(this.#bar.getTotal())}`;
  }
}
