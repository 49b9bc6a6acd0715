/** Finds the changes that a command or an import has made, and reverses them. */
import type { RevertedChanges, Yardgraph } from '../../client/index.ts';
import { isRejected, readPage } from './requests.ts';

/** The most ranges that are listed: beyond it, many others wrote at the same time. */
const maxRanges = 100;

export interface MadeChanges {
  readonly after: string;
  readonly message: string;
  readonly number?: number;
}

/** Returns a message that no other changes have, also not those of another run with the same text. Names of files may have line breaks. */
export const uniqueMessage = (text: string, run: string): string => `${text.replace(/\p{Cc}/gu, ' ').trim()} (${run})`;

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
export async function findRanges(
  yardgraph: Yardgraph,
  { after, message, number }: MadeChanges,
): Promise<readonly (readonly [from: number, to: number])[] | undefined> {
  const first = Number(after);
  const last = Number(await yardgraph.changeCursor());
  if (last === first) return [];
  if (last - first === number) return [[first + 1, last]];
  const ranges: [number, number][] = [];
  for await (const { cursor } of changesOf(yardgraph, { after, message })) {
    if (Number(cursor) > last) break;
    const range = ranges.at(-1);
    if (range && range[1] === Number(cursor) - 1) range[1] += 1;
    else if (ranges.push([Number(cursor), Number(cursor)]) > maxRanges) return undefined;
  }
  return ranges;
}

interface ChangePage {
  readonly nodes: readonly {
    readonly cursor: string;
    readonly action: string;
    readonly message: string | null;
    /** Null once it is deleted. */
    readonly record: { readonly id: string } | null;
  }[];
  readonly endCursor: string;
  readonly hasMore: boolean;
}

const changesQuery = `query ($after: String!, $first: Int) {
  changes(after: $after, first: $first) { nodes { cursor action message record { id } } endCursor hasMore }
}`;

/** Yields all changes with this message. */
export async function* changesOf(yardgraph: Yardgraph, { after, message }: MadeChanges) {
  for (let page: ChangePage = { nodes: [], endCursor: after, hasMore: true }; page.hasMore; ) {
    const variables = { after: page.endCursor };
    ({ changes: page } = await readPage<{ changes: ChangePage }>(yardgraph, changesQuery, variables));
    yield* page.nodes.filter((change) => change.message === message);
  }
}

/** The most changes that are reversed at a time: what the service accepts, unless its settings say less. */
const maxPart = 10_000;

/**
 * Reverses the changes in parts, each all or nothing, the latest first, because later changes may depend on earlier ones. A part is halved if
 * it is too large for the service, which may be because of what its records hold.
 */
export async function* revertedParts(
  yardgraph: Yardgraph,
  from: number,
  to: number,
  { dryRun, signal }: { readonly dryRun?: boolean; readonly signal: AbortSignal },
): AsyncGenerator<RevertedChanges & { readonly first: number; readonly last: number }> {
  let size = maxPart;
  for (let last = to; last >= from; ) {
    signal.throwIfAborted();
    const first = Math.max(from, last - size + 1);
    const length = last - first + 1;
    const range = { after: String(first - 1), upTo: String(last) };
    const part = await yardgraph.revertChanges(range, { dryRun }).catch((error) => {
      if (!isRejected(error) || length === 1) throw error;
      return undefined;
    });
    if (!part) {
      size = Math.ceil(length / 2);
      continue;
    }
    yield { ...part, first, last };
    last = first - 1;
    // Only some parts may be dense.
    size = Math.min(maxPart, 2 * length);
  }
}
