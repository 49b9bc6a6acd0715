/**
 * How much text an answer holds. What an operation costs is known before it is executed, but not how long texts are: the
 * same record of two megabytes can be linked to by a thousand others.
 */
import { ResponseTooLarge } from '../../errors.ts';
import { type ExternalIds, textLength } from '../../model/fields.ts';

export interface ResponseSize {
  /** Throws a ResponseTooLarge once there is too much; the same one each time, for it may be asked very often. */
  add(value: string | ExternalIds | null): void;
  /** Begins again, for an operation that is executed again. */
  clear(): void;
}

export function createResponseSize(maxResponseLength: number): ResponseSize {
  const refusal = new ResponseTooLarge(maxResponseLength);
  let length = 0;
  return {
    add(value) {
      length += textLength(value);
      if (length > maxResponseLength) throw refusal;
    },
    clear() {
      length = 0;
    },
  };
}
