/** Changing a record, for REST and GraphQL alike. */
import { notFound } from '../errors.ts';
import type { Parsed } from '../model/issues.ts';
import type { RecordKind, RecordOf, UpdateOf } from '../model/record-kind.ts';
import { kindOfId } from '../records/index.ts';
import { requireMayWrite, type Session } from './session.ts';
import { requireValid } from './validation.ts';

/**
 * Changes the fields that were sent and returns the whole record; nothing sent changes nothing.
 * Throws a ServiceError: 404 when there is no such record, 400 or 409 as createRecords does.
 */
export async function updateRecord<K extends RecordKind>(
  session: Session,
  kind: K,
  id: string,
  change: Parsed<UpdateOf<K>>,
): Promise<RecordOf<K>> {
  requireMayWrite(session);
  // Saves a statement, and keeps any other text that a client sends away from the database.
  if (kindOfId(id) !== kind) throw notFound(`there is no ${kind.label} with this ID`);
  const { store, userId } = session;
  return store.transaction(async (transaction) => {
    const current = await transaction.findForUpdate(kind, id);
    if (!current) throw notFound(`there is no ${kind.label} with this ID`);

    await requireValid(transaction, kind, { parsed: [change], current }, 'lookup');
    const { value: sent = {} } = change;
    if (Object.keys(sent).length === 0) return current;

    const stamp = {
      updatedAt: latest(new Date().toISOString(), current.updatedAt, current.createdAt),
      ...(kind.stamps.includes('updatedBy') && { updatedBy: userId }),
    };
    // Sound because a change has fields of the record only, with values the record may have.
    const changes = { ...sent, ...stamp } as object as Partial<RecordOf<K>>;
    await transaction.update(kind, id, changes);
    return { ...current, ...changes };
  });
}

/** Clocks can be set back, and differ between processes: no record is changed before it was created, or last changed. */
const latest = (...times: readonly string[]): string => times.reduce((a, b) => (a > b ? a : b));
