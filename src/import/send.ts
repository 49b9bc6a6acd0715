/** Sends rows to the service, as one part. */
import { GraphqlError, type ImportOptions, type ImportResult, type ImportRow } from '../../client/index.ts';
import type { RecordKind } from '../model/record-kind.ts';
import type { Counts } from './progress.ts';
import type { Row } from './row.ts';
import type { Import } from './run.ts';

/** A row, and the record that is sent for it. */
interface Item {
  readonly row: Row;
  readonly record: Readonly<Record<string, unknown>>;
}

type SendOptions = Pick<ImportOptions, 'dryRun' | 'idempotencyKey'>;

export type Result<I extends Item> = ImportResult<I & ImportRow>;

/** Returns what became of each item, in their order. A part that the service rejects as a whole is halved. */
export async function send<I extends Item>(
  work: Pick<Import, 'yardgraph' | 'upsertKeys' | 'partSize'>,
  kind: RecordKind,
  items: readonly I[],
  options: SendOptions,
): Promise<Result<I>[]> {
  const results = await sendPart(work, kind, items, options);
  if (results) return results;
  const half = Math.ceil(items.length / 2);
  return [
    ...(await send(work, kind, items.slice(0, half), options)),
    ...(await send(work, kind, items.slice(half), options)),
  ];
}

/**
 * Returns what became of each item, in their order. Undefined if the service rejects the part as a whole, because of one row or of its
 * size; if it is one item, that is refused.
 */
export async function sendPart<I extends Item>(
  work: Pick<Import, 'yardgraph' | 'upsertKeys' | 'partSize'>,
  kind: RecordKind,
  items: readonly I[],
  options: SendOptions,
): Promise<Result<I>[] | undefined> {
  try {
    return await sendWhole(work, kind, items, options);
  } catch (error) {
    // JSON throws a RangeError for what is nested too deeply.
    const [first, ...others] = items;
    if (isKeyReused(error) && others.length > 0) return undefined;
    if (!isRejected(error) && !(error instanceof RangeError)) throw error;
    if (!first || others.length > 0) return undefined;
    // The cast is safe: the kind is that of the item.
    const row = { ...first, kind: kind.name } as object as I & ImportRow;
    const message = error instanceof RangeError ? 'nested too deeply to be sent' : error.message;
    return [{ row, outcome: 'REJECTED', issues: [{ path: [], message }] }];
  }
}

/** True if the service rejects what was sent, or how much that is, and has done nothing. */
export const isRejected = (error: unknown): error is GraphqlError =>
  error instanceof GraphqlError &&
  !error.mayBeStored &&
  error.errors.every(({ extensions }) => extensions?.code === 'BAD_USER_INPUT');

/** True if a half of the part was stored with its key, before the import was interrupted. */
const isKeyReused = (error: unknown): boolean =>
  error instanceof GraphqlError &&
  error.errors.every(({ extensions }) => extensions?.type === 'urn:yardgraph:idempotency-key-reused');

async function sendWhole<I extends Item>(
  { yardgraph, upsertKeys, partSize }: Pick<Import, 'yardgraph' | 'upsertKeys' | 'partSize'>,
  kind: RecordKind,
  items: readonly I[],
  { dryRun, idempotencyKey }: SendOptions,
): Promise<Result<I>[]> {
  const by = upsertKeys.get(kind);
  // The casts are safe: the service checks the records, and the keys are those of the kind.
  const rows = items.map((item) => ({ ...item, kind: kind.name })) as object[] as (I & ImportRow)[];
  const options = {
    dryRun,
    partSize,
    upsertBy: (by && { [kind.name]: by }) as never,
    idempotencyKey,
  };
  const results: Result<I>[] = [];
  for await (const result of yardgraph.import(rows, options)) results.push(withLines(result, items));
  return results;
}

/** Names other rows by their lines in the file, where the service names them by their places in the batch. */
function withLines<I extends Item>(result: Result<I>, items: readonly I[]): Result<I> {
  if (result.outcome !== 'REJECTED') return result;
  const issues = result.issues.map(({ path, message }) => {
    const place = /^item \[(\d+)\] of this batch/.exec(message);
    const line = items[Number(place?.[1])]?.row.line;
    return { path, message: place && line !== undefined ? message.replace(place[0], `line ${line}`) : message };
  });
  return { ...result, issues };
}

/** Returns the counts with those of a part added. */
export function added(counts: Counts, results: readonly { readonly outcome: string }[], refused: number): Counts {
  const number = (outcome: string) => results.filter((result) => result.outcome === outcome).length;
  return {
    created: counts.created + number('CREATED'),
    updated: counts.updated + number('UPDATED'),
    unchanged: counts.unchanged + number('UNCHANGED'),
    refused: counts.refused + refused,
  };
}
