/** The limit on the size of a batch. */
import { tooLarge } from '../errors.ts';
import { count } from '../model/issues.ts';

/** Throws a ServiceError 413. Adapters call this before they parse the items, so that a batch that is too large costs nothing. */
export function requireBatchSize(size: number, max: number): void {
  if (size > max) {
    const problem = `expected at most ${count(max)} records, received ${count(size)}: send them in several batches`;
    throw tooLarge(problem, 'batch too large');
  }
}
