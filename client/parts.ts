import { type FailingItem, ServiceError, YardgraphError } from './errors.ts';
import { requireInteger, requireKnown, type WriteOptions } from './options.ts';

export interface PartOptions extends WriteOptions {
  /**
   * Sends the batch in parts of this many items, one after the other, each stored completely or not at all. If a part
   * fails, a PartialBatchError has the results of the earlier parts. With an `idempotencyKey`, you can repeat the call:
   * it stores only the missing parts.
   */
  readonly partSize?: number | undefined;
  /** Called after each part with the numbers of stored items and of all items. */
  readonly onProgress?: ((stored: number, size: number) => void) | undefined;
}

export async function inParts<Item, Result>(
  method: string,
  items: readonly Item[],
  { partSize, onProgress, ...options }: PartOptions,
  send: (part: readonly Item[], options: WriteOptions) => Promise<Result[]>,
): Promise<Result[]> {
  requireKnown(method, options);
  if (partSize !== undefined) requireInteger('partSize', partSize, 1);
  const size = items.length;
  const step = partSize ?? size;
  const results: Result[] = [];
  let start = 0;
  do {
    const partOptions = partSize === undefined ? options : optionsOfPart(options, start);
    const stored = await send(items.slice(start, start + step), partOptions).catch((cause: unknown) => {
      throw start === 0 ? cause : new PartialBatchError(results, { start, size, cause });
    });
    for (const result of stored) results.push(result);
    start += step;
    onProgress?.(Math.min(start, size), size);
  } while (start < size);
  return results;
}

/** Each part is a request, with its own key. */
export const optionsOfPart = ({ idempotencyKey, ...options }: WriteOptions, start: number): WriteOptions =>
  idempotencyKey === undefined ? options : { ...options, idempotencyKey: `${idempotencyKey}-${start}` };

interface FailedPart {
  readonly start: number;
  readonly size: number;
  readonly cause: unknown;
}

/** A part of a batch failed because of `cause`. The earlier parts are stored. */
export class PartialBatchError<T = unknown> extends YardgraphError {
  override readonly name: string = 'PartialBatchError';
  /** The results of the earlier parts, in the order sent. The failed part starts at index `created.length`. */
  readonly created: readonly T[];
  /** With indexes in the whole batch. */
  readonly items: readonly FailingItem[];

  constructor(created: readonly T[], { start, size, cause }: FailedPart) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`${start} of ${size} records are done; the part after them failed: ${reason}`, {
      mayBeStored: cause instanceof YardgraphError && cause.mayBeStored,
      cause,
    });
    this.created = created;
    this.items = (cause instanceof ServiceError ? cause.items : []).map(({ index, other, ...item }) => ({
      ...(index !== undefined && { index: index + start }),
      ...item,
      ...(other !== undefined && { other: other.replace(/\d+/, (place) => String(Number(place) + start)) }),
    }));
  }
}
