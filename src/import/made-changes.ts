/** Finds the changes that a command has made, for those who want to undo it. */
import type { Yardgraph } from '../../client/index.ts';

/** The most ranges that are listed: beyond it, many others wrote at the same time. */
const maxRanges = 100;

interface MadeChanges {
  readonly after: string;
  readonly message: string;
  readonly number?: number;
}

/** Returns a message that no other changes have, also not those of another run with the same text. */
export const uniqueMessage = (text: string, run: string): string => `${text.trim()} (${run})`;

export async function describeChanges(yardgraph: Yardgraph, made: MadeChanges): Promise<string> {
  const ranges = await findRanges(yardgraph, made);
  if (!ranges)
    return `Its changes are those after ${made.after} with the message "${made.message}"; others wrote in between.`;
  if (ranges.length === 0) return 'It made no changes.';
  return `Its changes: ${ranges.map(([from, to]) => (from === to ? from : `${from} to ${to}`)).join(', ')}.`;
}

/**
 * Returns the ranges of the changes. Only if their number is not known, or others wrote meanwhile, are the changes read. Undefined if the
 * ranges are too many.
 */
async function findRanges(
  yardgraph: Yardgraph,
  { after, message, number }: MadeChanges,
): Promise<readonly (readonly [from: number, to: number])[] | undefined> {
  const first = Number(after);
  const last = Number(await yardgraph.changeCursor());
  if (last === first) return [];
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
