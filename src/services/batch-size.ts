import { tooLarge } from '../errors.ts';

/** Adapters ask before they read the items: a batch too large is refused whole (413), at no cost. */
export function requireBatchSize(size: number, max: number): void {
  if (size > max) {
    throw tooLarge(`expected at most ${max.toLocaleString('en-US')} records, received ${size.toLocaleString('en-US')}`);
  }
}
