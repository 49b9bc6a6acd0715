/** Creating records, for REST and GraphQL alike. */
import type { Parsed } from '../model/issues.ts';
import type { CreateOf, RecordKind, RecordOf } from '../model/record-kind.ts';
import { requireMayWrite, type Session } from './session.ts';
import { requireValid } from './validation.ts';

/**
 * Creates all records of a batch in one transaction, or none, and returns them in the order sent.
 * Throws a ServiceError that names every failing item: 400, 409 when unique values are taken, or 403.
 */
export async function createRecords<K extends RecordKind>(
  session: Session,
  kind: K,
  batch: readonly Parsed<CreateOf<K>>[],
): Promise<RecordOf<K>[]> {
  requireMayWrite(session);
  if (batch.length === 0) return [];
  const { store, userId } = session;
  const inputs = batch.flatMap(({ value }) => (value ? [value] : []));
  const now = new Date().toISOString();
  // A new record counts as last changed by its creator.
  const users = Object.fromEntries(kind.stamps.map((stamp) => [stamp, userId]));
  return store.add(kind, inputs, { createdAt: now, updatedAt: now, ...users }, (checkStore, uniqueness) =>
    requireValid(checkStore, kind, { parsed: batch }, uniqueness),
  );
}
