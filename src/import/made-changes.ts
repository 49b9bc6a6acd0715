import type { RevertedChanges, Yardgraph } from '../../client/index.ts';
import { isRejectedRequest } from './requests.ts';

/** The changes of a range with a message; without one, all of them. */
export interface MadeChanges {
  readonly first: number;
  readonly last: number;
  readonly message?: string | undefined;
}

/** A message of one run, even if several have the same text. File names may contain line breaks. */
export const uniqueMessage = (text: string, run: string): string => `${text.replace(/\p{Cc}/gu, ' ').trim()} (${run})`;

/**
 * The changes with the message after a cursor, or the whole range if nobody else wrote meanwhile; undefined if there
 * are none. `number` counts the changes of this start: a resumed run may have made more.
 */
export async function findMadeChanges(
  yardgraph: Yardgraph,
  { after, message, number }: { readonly after: string; readonly message: string; readonly number: number },
): Promise<MadeChanges | undefined> {
  const [first, last] = [Number(after) + 1, Number(await yardgraph.changeCursor())];
  const all = { first, last };
  if (last - first + 1 === number) return number === 0 ? undefined : all;
  if (number > 0) return { ...all, message };
  let madeByRun = 0;
  for await (const { nodes } of yardgraph.changes({ after, follow: false })) {
    madeByRun += nodes.filter((change) => change.message === message).length;
  }
  if (madeByRun === 0) return undefined;
  return madeByRun === last - first + 1 ? all : { ...all, message };
}

export function describeChanges(made: MadeChanges | undefined): string {
  if (!made) return 'It made no changes.';
  const { first, last, message } = made;
  const range = first === last ? first : `${first} to ${last}`;
  return `Its changes: ${range}${message === undefined ? '' : `, those with the message "${message}"`}.`;
}

/** The service's settings may allow fewer. */
const maxPart = 10_000;

/**
 * Latest changes first: they may depend on earlier ones. Each part is all or nothing. Halves a part too large for the
 * service, which depends on the texts of its records.
 */
export async function* revertInParts(
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
      if (!isRejectedRequest(error) || length === 1) throw error;
      return undefined;
    });
    if (!part) {
      size = Math.ceil(length / 2);
      continue;
    }
    yield { ...part, first: start, last: end };
    end = start - 1;
    // Perhaps only this part had long texts.
    size = Math.min(maxPart, 2 * length);
  }
}
