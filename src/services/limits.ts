/** The limits of a batch. Adapters check them before they parse the items, so that a batch that is too large costs nothing. */
import { tooLarge } from '../errors.ts';
import { externalIdCount } from '../model/fields.ts';
import { count, isObject } from '../model/issues.ts';
import { longExternalIds, maxExternalIdsPerWrite } from '../store/writes/write.ts';

/** Throws a ServiceError 413. */
export function requireBatchSize(size: number, max: number): void {
  if (size > max) {
    const problem = `expected at most ${count(max)} records, received ${count(size)}: send them in several batches`;
    throw tooLarge(problem, 'batch too large');
  }
}

/** Throws a ServiceError 413 for too many external IDs in a batch. A single record may have as many as the settings allow. */
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
