/** Finds the changes that an import has made, for those who want to undo it. */
import type { Yardgraph } from '../../client/index.ts';

/** The numbers of the first and of the last change of a series. */
export type Range = readonly [from: number, to: number];

/** The most ranges that are listed: beyond it, many others wrote at the same time. */
const maxRanges = 100;

/**
 * Returns the ranges of the changes after the cursor that have the message, of which there should be so many. Only if others wrote meanwhile
 * are the changes read. Undefined if the ranges are too many.
 */
export async function findRanges(
  yardgraph: Yardgraph,
  { after, message, number }: { after: string; message: string; number: number },
): Promise<readonly Range[] | undefined> {
  const first = Number(after);
  const last = Number(await yardgraph.changeCursor());
  if (number === 0) return [];
  if (last - first === number) return [[first + 1, last]];
  const ranges: [number, number][] = [];
  for await (const { nodes } of yardgraph.changes({ after, follow: false })) {
    for (const change of nodes) {
      if (Number(change.cursor) > last) return ranges;
      if (change.message !== message) continue;
      const range = ranges.at(-1);
      if (range && range[1] === Number(change.cursor) - 1) range[1] += 1;
      else if (ranges.push([Number(change.cursor), Number(change.cursor)]) > maxRanges) return undefined;
    }
  }
  return ranges;
}
