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

type SendOptions = Pick<ImportOptions, 'dryRun'> & { readonly key?: (start: number) => string };

export type Result<I extends Item> = ImportResult<I & ImportRow>;

/**
 * Returns what became of each item, in their order. `key` returns the idempotency key of a part that begins at this item. If the service
 * rejects the part as a whole, because of one row or of its size, it is halved, until the row is found that must be refused.
 */
export async function send<I extends Item>(
  work: Pick<Import, 'yardgraph' | 'upsertKeys' | 'partSize'>,
  kind: RecordKind,
  items: readonly I[],
  options: SendOptions,
): Promise<Result<I>[]> {
  try {
    return await sendWhole(work, kind, items, options);
  } catch (error) {
    if (!isOfRows(error)) throw error;
    const [first, ...others] = items;
    if (first && others.length === 0) {
      // The cast is safe: the kind is that of the item.
      const row = { ...first, kind: kind.name } as object as I & ImportRow;
      const message = error instanceof RangeError ? 'nested too deeply to be sent' : error.message;
      return [{ row, outcome: 'REJECTED', issues: [{ path: [], message }] }];
    }
    const half = Math.ceil(items.length / 2);
    const { key } = options;
    const ofRest = { ...options, ...(key && { key: (start: number) => key(half + start) }) };
    return [
      ...(await send(work, kind, items.slice(0, half), options)),
      ...(await send(work, kind, items.slice(half), ofRest)),
    ];
  }
}

/** True for errors because of what rows contain, or of how much that is: of the service, and of JSON for what is nested too deeply. */
const isOfRows = (error: unknown): error is Error =>
  error instanceof RangeError ||
  (error instanceof GraphqlError &&
    (error.status === 400 || error.status === 413) &&
    error.errors.every(({ extensions }) => extensions?.code === 'BAD_USER_INPUT'));

async function sendWhole<I extends Item>(
  { yardgraph, upsertKeys, partSize }: Pick<Import, 'yardgraph' | 'upsertKeys' | 'partSize'>,
  kind: RecordKind,
  items: readonly I[],
  { dryRun, key }: SendOptions,
): Promise<Result<I>[]> {
  const by = upsertKeys.get(kind);
  // The casts are safe: the service checks the records, and the keys are those of the kind.
  const rows = items.map((item) => ({ ...item, kind: kind.name })) as object[] as (I & ImportRow)[];
  const options = {
    dryRun,
    partSize,
    upsertBy: (by && { [kind.name]: by }) as never,
    ...(key && { idempotencyKey: key(0) }),
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
