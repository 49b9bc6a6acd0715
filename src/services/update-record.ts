/** Changes a record, for REST and GraphQL alike. */
import { notFound } from '../errors.ts';
import type { Parsed } from '../model/issues.ts';
import type { RecordKind, RecordOf, UpdateOf } from '../model/record-kind.ts';
import { kindOfId } from '../records/index.ts';
import { requireMayWrite, type Session } from './session.ts';
import { noRecord } from './unknown-ids.ts';
import { requireValid } from './validation.ts';

/**
 * Changes the fields that were sent, and returns the whole record. If none were sent, nothing changes, including `updatedAt`.
 * Throws a ServiceError: 404 if there is no such record, 403, 400 or 409 like createRecords.
 */
export async function updateRecord<K extends RecordKind>(
  session: Session,
  kind: K,
  id: string,
  change: Parsed<UpdateOf<K>>,
): Promise<RecordOf<K>> {
  requireMayWrite(session);
  // Saves a statement, and lets only well-formed IDs reach the database.
  if (kindOfId(id) !== kind) throw notFound(noRecord(kind, id));
  const { store, userId } = session;
  return store.transaction(async (transaction) => {
    const current = await transaction.findForUpdate(kind, id);
    if (!current) throw notFound(noRecord(kind, id));

    await requireValid(transaction, kind, { parsed: [change], current }, 'lookup');
    const { value: sent = {} } = change;
    if (Object.keys(sent).length === 0) return current;

    const stamp = {
      updatedAt: latest(new Date().toISOString(), current.updatedAt, current.createdAt),
      ...(kind.stamps.includes('updatedBy') && { updatedBy: userId }),
    };
    // The cast is safe: a change has only fields of the record, with values that the record may have.
    const changes = { ...sent, ...stamp } as object as Partial<RecordOf<K>>;
    await transaction.update(kind, id, changes);
    return { ...current, ...changes };
  });
}

/** The clock can be behind: `updatedAt` must not precede `createdAt` or an earlier `updatedAt`. */
const latest = (...times: readonly string[]): string => times.reduce((a, b) => (a > b ? a : b));
