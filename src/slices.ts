/** Splits long work into slices, so that other requests and finished statements are handled in between. */
import { setImmediate } from 'node:timers/promises';
import { createTurns } from './sharing/turns.ts';

/** Items per slice. As many records take well under a millisecond. */
const sliceLength = 100;

/**
 * Returns a function that runs each task in its own turn of the event loop: one of each workspace in turn, so that no
 * workspace waits for all tasks of another.
 */
export function oneEachTurn(): <T>(workspaceId: string, task: () => T) => Promise<T> {
  const waiting = createTurns<() => void>();
  let isRunning = false;
  const runAll = async () => {
    isRunning = true;
    while (!waiting.isEmpty()) {
      await setImmediate();
      const [run] = waiting.take();
      run?.();
    }
    isRunning = false;
  };
  return (workspaceId, task) =>
    new Promise((resolve) => {
      waiting.add(workspaceId, () => resolve(Promise.resolve().then(task)));
      if (!isRunning) void runAll();
    });
}

/** Returns what `items.map(map)` would. */
export async function mapInSlices<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += sliceLength) {
    if (start > 0) await setImmediate();
    for (const item of items.slice(start, start + sliceLength)) results.push(map(item));
  }
  return results;
}

/** Characters per slice, which take a few milliseconds to parse. */
const sliceTextLength = 1_000_000;

/** Encodes the text as UTF-8 in pieces: all of it at once would take as long as making it. Splits no surrogates. */
export async function* encodedInSlices(text: string): AsyncGenerator<Buffer> {
  for (let start = 0; start < text.length; ) {
    const isSplit = isHighSurrogate(text.charCodeAt(start + sliceTextLength - 1));
    const end = start + sliceTextLength + (isSplit ? 1 : 0);
    yield Buffer.from(text.slice(start, end));
    start = end;
    await setImmediate();
  }
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/** True if a text has more than one slice. */
export const isLong = (text: string): boolean => text.length > sliceTextLength;

/** Returns what `items.map(map)` would, for items with texts of any length. */
export async function mapTextsInSlices<T, R>(
  items: readonly T[],
  textLengthOf: (item: T) => number,
  map: (item: T) => R,
): Promise<R[]> {
  const results: R[] = [];
  let length = 0;
  for (const item of items) {
    if (length >= sliceTextLength) {
      await setImmediate();
      length = 0;
    }
    length += textLengthOf(item);
    results.push(map(item));
  }
  return results;
}
