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

export const runDocument = 'query ($id: ID!) { importRun(id: $id) { id after upTo message created updated deleted } }';

/** The changes of an import, undefined if there are none. */
export async function findMadeChanges(yardgraph: Yardgraph, id: string): Promise<MadeChanges | undefined> {
  const { importRun: run } = await yardgraph.graphql(runDocument, { id });
  return run ? rangeOf(run.after, run.upTo, run.message, run.created + run.updated + run.deleted) : undefined;
}

/** Without the message if nobody else wrote meanwhile. */
export function rangeOf(after: string, upTo: string, message: string, number: number): MadeChanges | undefined {
  if (after === upTo) return undefined;
  const range = { first: Number(after) + 1, last: Number(upTo) };
  return Number(upTo) - Number(after) === number ? range : { ...range, message };
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
 * Latest changes first: they may depend on earlier ones. Belongs to no import unless one is named. Each part is all or
 * nothing. Halves a part too large for the service, which depends on the texts of its records.
 */
export async function* revertInParts(
  yardgraph: Yardgraph,
  { first, last, message }: MadeChanges,
  { dryRun, signal, importRun = '' }: { readonly dryRun?: boolean; readonly signal?: AbortSignal; importRun?: string },
): AsyncGenerator<RevertedChanges & MadeChanges> {
  let size = maxPart;
  for (let end = last; end >= first; ) {
    signal?.throwIfAborted();
    const start = Math.max(first, end - size + 1);
    const length = end - start + 1;
    const range = { after: String(start - 1), upTo: String(end), message };
    const part = await yardgraph.revertChanges(range, { dryRun, importRun }).catch((error) => {
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
