/** `yardgraph import`: imports files into a running service, with a preview, progress, and files of refused rows. */
import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { errorCode, Interrupted, StartError } from '../errors.ts';
import { type Begun, begin, goOn, prepare, preview, store } from '../import/import.ts';
import { findFiles, hashOf, refusedPaths, requireOverwritable } from '../import/local-files.ts';
import { describeChanges, madeSince, uniqueMessage } from '../import/made-changes.ts';
import { type ProfileOptions, profileOf, requireKind } from '../import/profiles.ts';
import { countedRows } from '../import/report.ts';
import { count, expected } from '../model/issues.ts';
import { connect, isExpected, messageOf } from './service.ts';
import { confirm, createProgressBar, exitCodes, printTable, withInterrupts } from './terminal.ts';

export interface ImportOptions extends ProfileOptions {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly deleteMissing?: string;
  readonly encoding?: string;
  readonly columns?: string;
  readonly refused?: string;
  readonly batch: string;
  readonly message?: string;
  readonly dryRun: boolean;
  /** False for no preview. */
  readonly preview: boolean;
  readonly yes: boolean;
}

/**
 * What an import notes before it stores anything, in a file that it removes at the end: a second start with the same files and options goes
 * on with the same keys.
 */
interface RunLine extends Begun {
  /** The hashes of the files, and of everything else that decides what is sent. */
  readonly identity: string;
  readonly partSize: number;
  readonly refused: readonly string[];
  /** The process that imports the files, or did. */
  readonly pid: number;
}

/** Imports the files, and returns the exit code. Throws a StartError before anything is stored. */
export async function importFiles(paths: readonly string[], options: ImportOptions): Promise<number> {
  // Rows are garbage soon: collected earlier, a million of them take 190 MB of memory instead of 260, and a tenth more time.
  setFlagsFromString('--heap-growing-percent=100');
  const profile = profileOf(options, (path) => readFileSync(path, 'utf8'));
  const partSize = readNumber('batch', options.batch, 1);
  const { files, refused, skipped } = findFiles(paths, requireKind('kind', profile.kind));
  const hashes: string[] = [];
  for (const file of files) hashes.push(await hashOf(file));
  const linePath = `${resolve(paths[0] ?? '')}.import-run`;
  const names = files.map(({ name, kind }) => [name, kind?.name]);
  const { url, message, encoding, columns, deleteMissing } = options;
  const decisive = JSON.stringify([
    hashes,
    names,
    profile,
    url,
    message,
    encoding,
    columns,
    deleteMissing,
    options.refused,
  ]);
  const identity = createHash('sha256').update(decisive).digest('hex');
  const known = readLine(linePath, identity);
  for (const path of known?.refused ?? []) requireOverwritable(path, 'move it, to go on with the import');
  const begun = known ?? {
    run: randomUUID().slice(0, 8),
    identity,
    partSize,
    refused: refusedPaths(files, options.refused),
  };
  const [first, ...others] = files;
  const name = `${first?.name.slice(0, 100)}${others.length > 0 ? ` and ${count(others.length)} more` : ''}`;
  const changeMessage = uniqueMessage(message?.trim() || `import of ${name}`, begun.run);
  const yardgraph = connect({ serverURL: url, apiKeyAuth: options.apiKey ?? '', changeMessage });
  const bar = createProgressBar('{doing} {percentage}% {value}/{total} rows, {eta_formatted} left');
  let done = 0;
  const show = (doing: string, total: number) => {
    done = 0;
    bar.start(total, 0, { doing });
  };
  const output = {
    say(text: string) {
      bar.stop();
      console.log(text);
    },
    table: printTable,
  };
  let line = known;

  return withInterrupts(async (signal) => {
    try {
      const work = await prepare(profile, {
        yardgraph,
        files,
        encoding,
        columns,
        partSize: begun.partSize,
        signal,
        deleteMissing: deleteMissing === undefined ? undefined : readNumber('delete-missing', deleteMissing, 0),
        onProgress(rows) {
          done += rows;
          bar.update(done);
        },
      });
      for (const path of refused) console.log(`Left out, because an earlier import has refused its rows: ${path}`);
      for (const path of skipped) console.log(`Left out, because it is no file to import: ${path}`);
      if (known && options.dryRun) {
        throw new StartError('an import of these files was stopped: finish it before a dry run');
      }
      const isPreviewed = !known && (options.preview || options.dryRun);
      const anew = `delete ${linePath} to begin anew`;
      if (known) await goOn(work, known, anew, output);
      if (isPreviewed) {
        show('checking', work.scanned.total);
        const { isClean } = await preview(work, output);
        if (options.dryRun) return isClean && skipped.length === 0 ? exitCodes.all : exitCodes.some;
        if (!options.yes) await confirm('Store them?', 'nothing was stored');
      }
      line = {
        ...(known ?? { ...begun, ...(await begin(yardgraph, begun.run)) }),
        pid: process.pid,
      };
      writeLine(linePath, line, !known);
      show('storing', work.scanned.total);
      const run = {
        id: line.run,
        fileKeys: hashes.map((hash, index) => `${index}${hash.slice(0, 8)}`),
        anew: known && anew,
      };
      const refusedFiles = line.refused.map((path) => {
        rmSync(path, { force: true });
        return { name: path, write: (text: string) => appendFileSync(path, text) };
      });
      const { changed, ...stored } = await store(work, { run, refusedFiles, isPreviewed }, output);
      const made = { after: line.after, message: changeMessage, number: changed };
      console.log(describeChanges(await madeSince(yardgraph, made)));
      rmSync(linePath, { force: true });
      if (stored.isNothing) return exitCodes.nothing;
      return stored.isWhole && skipped.length === 0 ? exitCodes.all : exitCodes.some;
    } catch (error) {
      bar.stop();
      if (!isExpected(error)) throw error;
      const isInterrupted = error instanceof Interrupted;
      if (!line) throw new StartError(isInterrupted ? `${error.message}: nothing was stored` : messageOf(error, url));
      const again = isInterrupted ? 'Restore the files if they have changed, and run' : 'Run';
      console.error(
        `${messageOf(error, url)}. Stored or refused so far: ${count(done)} of ${countedRows(bar.getTotal())}. ${again} the same command again to go on: nothing is stored twice.`,
      );
      return exitCodes.interrupted;
    }
  });
}

function readNumber(option: string, text: string, min: number): number {
  if (/^\d{1,6}$/.test(text) && Number(text) >= min) return Number(text);
  throw new StartError(`--${option}: ${expected(`a whole number from ${min} to 999,999`, text)}`);
}

function readLine(path: string, identity: string): RunLine | undefined {
  let line: RunLine;
  try {
    line = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    if (!(error instanceof SyntaxError)) throw error;
    throw new StartError(`${path} is not the line of an import: move it away`);
  }
  if (line.pid !== process.pid && isRunning(line.pid)) {
    throw new StartError(
      `another import of these files is running (process ${line.pid}); if it is not one, delete ${path}`,
    );
  }
  if (line.identity === identity) return line;
  throw new StartError(
    `${path} is of an import that was not finished, of other files or with other options. Finish it, or delete this file to begin anew`,
  );
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Writes the line whole or not at all, however the process ends, once it is that of an import. */
function writeLine(path: string, line: RunLine, isNew: boolean): void {
  const text = `${JSON.stringify(line)}\n`;
  try {
    if (isNew) writeFileSync(path, text, { flag: 'wx' });
    else {
      writeFileSync(`${path}-new`, text);
      renameSync(`${path}-new`, path);
    }
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw new StartError('another import of these files has begun just now');
    throw new StartError(`cannot write ${path}, where an import notes that it has begun: ${String(error)}`);
  }
}
