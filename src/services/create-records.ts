import type { Parsed } from '../model/issues.ts';
import type { CreateOf, RecordKind, RecordOf } from '../model/record-kind.ts';
import type { Draft } from '../store/workspace-store.ts';
import { accepted } from './acceptance.ts';
import type { Session } from './session.ts';

/**
 * Creates all records of a batch in one transaction, or none, and returns them in the order sent.
 * Throws a ServiceError that names every failing item: 400, or 409 when unique values are taken.
 */
export async function createRecords<K extends RecordKind>(
  { store, userId }: Session,
  kind: K,
  batch: readonly Parsed<CreateOf<K>>[],
): Promise<RecordOf<K>[]> {
  if (batch.length === 0) return [];
  return store.transaction(async (transaction) => {
    const candidates = batch.map((parsed, index) => ({ path: [index], parsed }));
    const inputs = await accepted(transaction, kind, candidates);
    const now = new Date().toISOString();
    return transaction.insert(
      kind,
      inputs.map((input) => draft(kind, input, { now, userId })),
    );
  });
}

/** Every field of the record, null where nothing was sent; a new record counts as last changed by its creator. */
function draft<K extends RecordKind>(
  kind: K,
  input: CreateOf<K>,
  { now, userId }: { now: string; userId: string | null },
): Draft<K> {
  const sent = input as Readonly<Record<string, unknown>>;
  const fields = Object.keys(kind.fields).map((name) => [name, sent[name] ?? null]);
  const stamps = kind.stamps.map((stamp) => [stamp, userId]);
  // Sound because these are all of the kind's stored fields but the two the store adds.
  return { ...Object.fromEntries(fields), createdAt: now, updatedAt: now, ...Object.fromEntries(stamps) } as Draft<K>;
}
