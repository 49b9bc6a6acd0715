import { createInterface } from 'node:readline/promises';
import { Presets, SingleBar } from 'cli-progress';
import { Interrupted, StartError } from '../errors.ts';
import { formatCount } from '../model/issues.ts';

/** Throws a StartError unless the answer is yes. Its message ends with `otherwise`: `nothing was stored`. */
export async function confirm(question: string, otherwise: string): Promise<void> {
  const entered = await ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(entered?.trim() ?? '')) throw new StartError(`not confirmed: ${otherwise}`);
}

/** Undefined after Ctrl-C and Ctrl-D. Throws a StartError without a terminal. */
export async function ask(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY) throw new StartError('not confirmed: in a script, confirm with --yes');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)));
  const entered = await Promise.race([terminal.question(question), closed]);
  terminal.close();
  return entered;
}

export const exitCodes = { all: 0, nothing: 1, some: 2, interrupted: 3 } as const;

/** Ctrl-C or SIGTERM aborts the signal; a second one ends the process at once. */
export async function withInterrupts<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const stopListening = () => process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  const onSignal = () => {
    stopListening();
    stop.abort(new Interrupted('Interrupted'));
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    return await work(stop.signal);
  } finally {
    // A late signal must not make finished work look interrupted.
    setTimeout(stopListening, 1_000).unref();
  }
}

/** `text` has cli-progress's placeholders: `{percentage}% {value}/{total} rows`. */
export const createProgressBar = (text: string): SingleBar =>
  new SingleBar(
    { format: `${process.stderr.isTTY ? '{bar} ' : ''}${text}`, noTTYOutput: true, notTTYSchedule: 2_000 },
    Presets.shades_classic,
  );

export function printTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const texts = [head, ...rows.map((row) => row.map((cell) => (typeof cell === 'number' ? formatCount(cell) : cell)))];
  const widths = head.map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)));
  const isNumber = head.map((_, column) => typeof rows[0]?.[column] === 'number');
  for (const row of texts) {
    const cells = row.map((cell, column) =>
      isNumber[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    );
    console.log(cells.join('  ').trimEnd());
  }
}
