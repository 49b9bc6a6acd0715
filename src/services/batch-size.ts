/** The limit on the size of a batch. */
import { tooLarge } from '../errors.ts';

/** Called by adapters before they read the items: a batch that is too large is refused as a whole (413), at no cost. */
export function requireBatchSize(size: number, max: number): void {
  if (size > max) {
    throw tooLarge(`expected at most ${max.toLocaleString('en-US')} records, received ${size.toLocaleString('en-US')}`);
  }
}
