/** The limits on the size of a batch. */
import { tooLarge } from '../../errors.ts';
import { externalIdCount } from '../../model/fields.ts';
import { count, isObject, type Parsed, validValues } from '../../model/issues.ts';
import { longExternalIds, maxExternalIdsPerWrite } from '../../store/writes/commit.ts';

/** Throws a ServiceError 413. Adapters call this before they parse the items, so that a batch that is too large costs nothing. */
export function requireBatchSize(size: number, max: number): void {
  if (size > max) {
    const problem = `expected at most ${count(max)} records, received ${count(size)}: send them in several batches`;
    throw tooLarge(problem, 'batch too large');
  }
}

/**
 * Throws a ServiceError 413 if records have too many external IDs together; a single one may have as many as the settings allow. Adapters
 * call this with records as sent, before they parse them, and services before they look anything up.
 */
export function requireFewExternalIds(records: readonly unknown[]): void {
  if (records.length <= 1) return;
  let found = 0;
  for (const record of records) {
    const externalIds = isObject(record) ? record.externalIds : undefined;
    if (!isObject(externalIds)) continue;
    found += externalIdCount(externalIds);
    if (found > maxExternalIdsPerWrite) {
      const most = `at most ${count(maxExternalIdsPerWrite)} external IDs in a batch (${longExternalIds})`;
      throw tooLarge(`expected ${most}, received more: send them in several batches`, 'batch too large');
    }
  }
}

/** Limits external IDs like requireFewExternalIds, for parsed records. */
export const requireFewParsedExternalIds = (items: readonly Parsed<object>[]): void =>
  requireFewExternalIds(items.map(validValues));
