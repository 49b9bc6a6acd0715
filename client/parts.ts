/** Sends a batch in parts, one after the other, each all or nothing. */
import { requireInteger, requireKnown } from './check.ts';
import { PartialBatchError } from './errors.ts';
import type { WriteOptions } from './options.ts';

export interface PartOptions extends WriteOptions {
  /**
   * Sends the batch in parts of this many items, one after the other. Each part is stored completely or not at all, but the whole batch is
   * not atomic: if a later part fails, a PartialBatchError has the results of the parts before it. With an `idempotencyKey` of its own, the
   * same call may be made again: it stores only the parts that are missing.
   */
  readonly partSize?: number | undefined;
  /** Called after each part with the number of items that are stored, and of all. */
  readonly onProgress?: ((stored: number, size: number) => void) | undefined;
}

export async function inParts<Item, Result>(
  method: string,
  items: readonly Item[],
  { partSize, onProgress, ...options }: PartOptions,
  send: (part: readonly Item[], options: WriteOptions) => Promise<Result[]>,
): Promise<Result[]> {
  requireKnown(method, options);
  if (partSize === undefined) {
    const results = await send(items, options);
    onProgress?.(items.length, items.length);
    return results;
  }
  requireInteger(method, 'partSize', partSize, 1, Number.MAX_SAFE_INTEGER);
  const results: Result[] = [];
  do {
    const start = results.length;
    const part = items.slice(start, start + partSize);
    const stored = await send(part, optionsOfPart(options, start)).catch((error: unknown) => {
      if (start === 0) throw error;
      throw new PartialBatchError(results, { method, partSize, size: items.length, cause: error });
    });
    for (const result of stored) results.push(result);
    onProgress?.(results.length, items.length);
  } while (results.length < items.length);
  return results;
}

/** Each part is a separate request, and needs its own key. */
const optionsOfPart = ({ idempotencyKey, ...options }: WriteOptions, start: number): WriteOptions => ({
  ...options,
  ...(idempotencyKey !== undefined && { idempotencyKey: `${idempotencyKey}-${start}` }),
});
