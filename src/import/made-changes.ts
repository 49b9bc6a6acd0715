/** The changes that a command or an import has made, and how they are reversed. */
import type { RevertedChanges, Yardgraph } from '../../client/index.ts';
import { isRejected } from './requests.ts';

/** Of the changes from the first to the last one, those with this message: no others have it. */
export interface MadeChanges {
  readonly first: number;
  readonly last: number;
  readonly message?: string | undefined;
}

/** Returns a message that no other changes have, also not those of another run with the same text. Names of files may have line breaks. */
export const uniqueMessage = (text: string, run: string): string => `${text.replace(/\p{Cc}/gu, ' ').trim()} (${run})`;

/**
 * Returns what was changed after a cursor: without the message if nobody else wrote meanwhile. Undefined if nothing was. A run that was
 * resumed may have made more changes than the `number` that its last start knows of.
 */
export async function madeSince(
  yardgraph: Yardgraph,
  { after, message, number }: { readonly after: string; readonly message: string; readonly number: number },
): Promise<MadeChanges | undefined> {
  const [first, last] = [Number(after) + 1, Number(await yardgraph.changeCursor())];
  const all = { first, last };
  if (last - first + 1 === number) return number === 0 ? undefined : all;
  if (number > 0) return { ...all, message };
  let own = 0;
  for await (const { nodes } of yardgraph.changes({ after, follow: false })) {
    own += nodes.filter((change) => change.message === message).length;
  }
  if (own === 0) return undefined;
  return own === last - first + 1 ? all : { ...all, message };
}

export function describeChanges(made: MadeChanges | undefined): string {
  if (!made) return 'It made no changes.';
  const { first, last, message } = made;
  const range = first === last ? first : `${first} to ${last}`;
  return `Its changes: ${range}${message === undefined ? '' : `, as far as they have the message "${message}"`}.`;
}

/** The most changes that are reversed at a time: what the service accepts, unless its settings say less. */
const maxPart = 10_000;

/**
 * Reverses the changes in parts, each all or nothing, the latest first, because later changes may depend on earlier ones. A part is halved if
 * it is too large for the service, which may be because of what its records hold.
 */
export async function* revertedParts(
  yardgraph: Yardgraph,
  { first, last, message }: MadeChanges,
  { dryRun, signal }: { readonly dryRun?: boolean; readonly signal: AbortSignal },
): AsyncGenerator<RevertedChanges & MadeChanges> {
  let size = maxPart;
  for (let end = last; end >= first; ) {
    signal.throwIfAborted();
    const start = Math.max(first, end - size + 1);
    const length = end - start + 1;
    const range = { after: String(start - 1), upTo: String(end), message };
    const part = await yardgraph.revertChanges(range, { dryRun }).catch((error) => {
      if (!isRejected(error) || length === 1) throw error;
      return undefined;
    });
    if (!part) {
      size = Math.ceil(length / 2);
      continue;
    }
    yield { ...part, first: start, last: end };
    end = start - 1;
    // Only some parts may be dense.
    size = Math.min(maxPart, 2 * length);
  }
}
