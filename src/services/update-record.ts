/** Changes a record, for REST and GraphQL alike. */
import { notFound } from '../errors.ts';
import type { Parsed } from '../model/issues.ts';
import type { RecordKind, RecordOf, UpdateOf } from '../model/record-kind.ts';
import { kindOfId } from '../records/index.ts';
import { requireMayWrite, type Session } from './session.ts';
import { updateStamps } from './stamps.ts';
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
  return session.store.transaction(async (transaction) => {
    const [current] = await transaction.findToUpdate(kind, [id]);
    if (!current) throw notFound(noRecord(kind, id));

    await requireValid(transaction, kind, { parsed: [change], current }, 'lookup');
    const { value: sent = {} } = change;
    if (Object.keys(sent).length === 0) return current;

    const after = { ...current, ...sent, ...updateStamps(kind, session, current) };
    await transaction.update(kind, [{ before: current, after }]);
    return after;
  });
}
