/** Long work in slices, so that others get their turn in between, and a database that has answered its next statement. */
import { setImmediate } from 'node:timers/promises';

/** Well under a millisecond's worth of records. */
const sliceLength = 100;

/** For work that comes item by item: each waits for its turn, and every slice of them for others. */
export function takeTurns(): () => Promise<void> {
  let taken = 0;
  let slice: Promise<void> = Promise.resolve();
  return () => {
    taken += 1;
    if (taken % sliceLength === 0) slice = slice.then(() => setImmediate());
    return slice;
  };
}

/** As `items.map(map)`. */
export async function mapInSlices<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += sliceLength) {
    if (start > 0) await setImmediate();
    for (const item of items.slice(start, start + sliceLength)) results.push(map(item));
  }
  return results;
}
