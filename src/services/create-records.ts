import type { Parsed } from '../model/issues.ts';
import type { CreateOf, RecordKind, RecordOf } from '../model/record-kind.ts';
import { accepted } from './acceptance.ts';
import { requireMayWrite, type Session } from './session.ts';

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
  return store.transaction(async (transaction) => {
    const candidates = batch.map((parsed, index) => ({ path: [index], parsed }));
    const inputs = await accepted(transaction, kind, candidates);
    const now = new Date().toISOString();
    const stamps = Object.fromEntries(kind.stamps.map((stamp) => [stamp, userId]));
    // A new record counts as last changed by its creator.
    return transaction.insert(
      kind,
      inputs.map((input) => ({ ...input, ...stamps, createdAt: now, updatedAt: now })),
    );
  });
}
