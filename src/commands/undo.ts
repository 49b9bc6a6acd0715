import { randomUUID } from 'node:crypto';
import type { Yardgraph } from '../../client/index.ts';
import { StartError } from '../errors.ts';
import { describeChanges, type MadeChanges, rangeOf, revertInParts, uniqueMessage } from '../import/made-changes.ts';
import { expected, formatCount } from '../model/issues.ts';
import { connect, isExpected, messageOf } from './service.ts';
import { confirm, createProgressBar, exitCodes, withInterrupts } from './terminal.ts';

interface UndoOptions {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly from: string;
  readonly to: string;
  readonly only?: string;
  readonly message?: string;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

interface Undo {
  readonly yardgraph: Yardgraph;
  readonly of: MadeChanges;
  readonly importRun: string;
  readonly signal: AbortSignal;
}

export async function undoChanges(options: UndoOptions): Promise<number> {
  const { url, apiKey = '', dryRun, yes } = options;
  const [from, to] = [readChangeNumber('from', options.from), readChangeNumber('to', options.to)];
  if (from > to) throw new StartError(`--to: ${expected(`the number of a change from ${from}`, to)}`);
  const text = options.message?.trim() || `undo of changes ${from} to ${to}`;
  const importRun = randomUUID().slice(0, 8);
  const message = uniqueMessage(text, importRun);
  const yardgraph = connect({ serverURL: url, apiKeyAuth: apiKey, changeMessage: message });
  return withInterrupts(async (signal) => {
    const undo = { yardgraph, of: { first: from, last: to, message: options.only }, importRun, signal };
    const { after, isWhole } = await previewUndo(undo).catch((error) => {
      throw isExpected(error) ? new StartError(`${messageOf(error, url)}. Nothing was reversed.`) : error;
    });
    if (dryRun) return isWhole ? exitCodes.all : exitCodes.some;
    if (!yes) await confirm('Reverse them?', 'nothing was reversed');
    const { counts, made, reasons, earliest, error } = await revert(undo, false);
    print(counts, ['reversed', 'kept', 'failed'], reasons);
    if (error) {
      // In a second reversal, records with an earlier change in the range would count as kept.
      const next = earliest === undefined ? 'the same command again' : `it again with --to ${earliest - 1}`;
      console.error(`${messageOf(error, url)}. To continue, run ${next}.`);
    }
    // After an error, its last part may be stored.
    const findLast = made > 0 || error ? yardgraph.changeCursor() : Promise.resolve(after);
    const found = findLast.then((upTo) => rangeOf(after, upTo, message, made));
    const described = await found.then(describeChanges).catch((thrown) => {
      if (!isExpected(thrown)) throw thrown;
      return `${messageOf(thrown, url)}. Its changes, after ${after}, have the message "${message}".`;
    });
    console.log(described);
    if (error) return exitCodes.interrupted;
    if (counts.reversed === 0) return exitCodes.nothing;
    return reasons.length > 0 ? exitCodes.some : exitCodes.all;
  });
}

function readChangeNumber(option: string, text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new StartError(`--${option}: ${expected('a whole number from 1', text)}`);
}

async function previewUndo(undo: Undo): Promise<{ readonly after: string; readonly isWhole: boolean }> {
  const after = await undo.yardgraph.changeCursor();
  const { last } = undo.of;
  if (last > Number(after)) throw new StartError(`--to: there is no change ${last}, the last one is ${after}`);
  const { counts, reasons, undecided, error } = await revert(undo, true);
  if (error) throw error;
  print(counts, ['to reverse', 'to keep', 'that cannot be reversed'], reasons.slice(0, 10));
  if (undecided > 0)
    console.log(
      `${formatCount(undecided)} more can be checked only when later ones are reversed: others may depend on them`,
    );
  return { after, isWhole: reasons.length + undecided === 0 };
}

const maxListed = 1_000;

/** `reasons` tell why changes are not reversed, latest first. */
async function revert({ yardgraph, of, ...options }: Undo, dryRun: boolean) {
  const counts = { reversed: 0, kept: 0, failed: 0 };
  const reasons: string[] = [];
  let [undecided, made] = [0, 0];
  let earliest: number | undefined;
  let error: Error | undefined;
  const bar = createProgressBar(`${dryRun ? 'checking' : 'reversing'} {percentage}% {value}/{total} changes`);
  bar.start(of.last - of.first + 1, 0);
  try {
    for await (const { first, last, ...part } of revertInParts(yardgraph, of, { dryRun, ...options })) {
      bar.increment(last - first + 1);
      earliest = first;
      counts.reversed += part.reversed;
      made += part.made;
      // A preview cannot check a change on which later ones depend: they are not reversed.
      if (dryRun && last !== of.last) undecided += part.kept + part.failed;
      else {
        counts.kept += part.kept;
        counts.failed += part.failed;
        for (const { cursor, recordId, message } of part.notReversed.toReversed()) {
          if (reasons.length < maxListed) reasons.push(`  change ${cursor}, ${recordId}: ${message}`);
        }
      }
    }
  } catch (thrown) {
    if (!isExpected(thrown)) throw thrown;
    error = thrown;
  } finally {
    bar.stop();
  }
  return { counts, made, reasons, undecided, earliest, error };
}

function print(
  { reversed, kept, failed }: Awaited<ReturnType<typeof revert>>['counts'],
  [first, second, third]: readonly [string, string, string],
  reasons: readonly string[],
): void {
  console.log(`${formatCount(reversed)} ${first}, ${formatCount(kept)} ${second}, ${formatCount(failed)} ${third}`);
  for (const reason of reasons) console.log(reason);
  if (kept + failed > reasons.length) console.log(`  and ${formatCount(kept + failed - reasons.length)} more`);
}
