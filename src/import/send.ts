/** Sends rows to the service, as one part. */
import type { ImportOptions, ImportResult, ImportRow } from '../../client/index.ts';
import type { RecordKind } from '../model/record-kind.ts';
import type { Row } from './row.ts';
import type { Import } from './run.ts';
import type { Counts } from './state.ts';

/** A row, and the record that is sent for it. */
export interface Item {
  readonly row: Row;
  readonly record: Readonly<Record<string, unknown>>;
}

export type Result<I extends Item> = ImportResult<I & ImportRow>;

/** Returns what became of each item, in their order. */
export async function send<I extends Item>(
  { yardgraph, upsertKeys, partSize }: Pick<Import, 'yardgraph' | 'upsertKeys' | 'partSize'>,
  kind: RecordKind,
  items: readonly I[],
  options: ImportOptions,
): Promise<Result<I>[]> {
  const key = upsertKeys.get(kind);
  const upsertBy = key && { [kind.name]: key };
  // The casts are safe: the service checks the records, and the keys are those of the kind.
  const rows = items.map((item) => ({ ...item, kind: kind.name })) as object[] as (I & ImportRow)[];
  const results: Result<I>[] = [];
  for await (const result of yardgraph.import(rows, { ...options, upsertBy: upsertBy as never, partSize })) {
    results.push(result);
  }
  return results;
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
