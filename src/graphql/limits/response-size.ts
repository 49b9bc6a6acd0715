/**
 * Counts the text of a response while it is built. The cost of an operation is known before it is executed, the length
 * of its texts is not: a thousand records can link to the same record of two megabytes.
 */
import { ResponseTooLarge } from '../../errors.ts';
import { textLength } from '../../model/fields.ts';

export interface ResponseSize {
  /** Characters of texts and external IDs. */
  readonly limit: number;
  /** Throws a ResponseTooLarge above the limit. Always the same error, because it may be thrown for very many values. */
  add(value: unknown): void;
  /** Starts again at zero, for an operation that is executed again. */
  clear(): void;
}

export function createResponseSize(limit: number): ResponseSize {
  let error: ResponseTooLarge | undefined;
  let length = 0;
  return {
    limit,
    add(value) {
      length += textLength(value);
      if (length <= limit) return;
      error ??= new ResponseTooLarge(limit);
      throw error;
    },
    clear() {
      length = 0;
    },
  };
}
