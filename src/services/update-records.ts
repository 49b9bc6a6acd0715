/** Changes records: a batch of them, or one. */
import { notFound } from '../errors.ts';
import { expected, type Issue, type Parsed } from '../model/issues.ts';
import type { Patch } from '../model/patch.ts';
import type { RecordKind, RecordOf, UpdateOf } from '../model/record-kind.ts';
import { kindOfId } from '../records/index.ts';
import type { TransactionStore } from '../store/workspace-store.ts';
import { findBatch } from './batch-ids.ts';
import { cycleIssues, lockTree } from './cycles.ts';
import { resolveLinks } from './resolve-links.ts';
import { requireMayWrite, type Session } from './session.ts';
import { updateStamps } from './stamps.ts';
import { noRecord } from './unknown-ids.ts';
import { referenceIssues, requireValid } from './validation.ts';

/**
 * Changes all records of a batch in one transaction, or none, and returns them in the order sent. An item without fields to change
 * changes nothing, including `updatedAt`. Throws a ServiceError: 403 if the session may not write, otherwise 400, or 409 if conflicts
 * with stored records are the only issues, with every issue of the batch.
 */
export async function updateRecords<K extends RecordKind>(
  session: Session,
  kind: K,
  batch: readonly Patch<K>[],
): Promise<RecordOf<K>[]> {
  requireMayWrite(session);
  if (batch.length === 0) return [];
  const sent = batch.map(({ change }) => change);
  return session.store.transaction(async (transaction) => {
    await lockTree(transaction, kind, sent);
    const changes = await resolveLinks(transaction, sent);
    const unresolved = await referenceIssues(transaction, kind, { parsed: changes });
    const { records, issues } = await findBatch(
      kind,
      batch.map(({ id }) => id),
      (index) => [index, 'id'],
      (ids) => transaction.findToUpdate(kind, ids),
    );
    const conflicts = changedMeanwhile(kind, batch, records);
    return changeRecords(transaction, session, kind, {
      changes,
      records,
      invalid: [...issues, ...unresolved],
      conflicts,
    });
  });
}

/**
 * Changes the fields of one record that were sent, and returns the whole record. Throws a ServiceError: 404 if there is no such
 * record, otherwise like updateRecords.
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
    await lockTree(transaction, kind, [change]);
    const invalid = await referenceIssues(transaction, kind, { parsed: [change], isSingle: true });
    const [record] = await transaction.findToUpdate(kind, [id]);
    if (!record) throw notFound(noRecord(kind, id));
    const changes = { changes: [change], records: [record], invalid, conflicts: [], isSingle: true };
    const [changed = record] = await changeRecords(transaction, session, kind, changes);
    return changed;
  });
}

/** Records that somebody has changed since the version that the client has seen. */
const changedMeanwhile = <K extends RecordKind>(
  kind: K,
  batch: readonly Patch<K>[],
  records: readonly (RecordOf<K> | undefined)[],
): Issue[] =>
  batch.flatMap(({ ifUpdatedAt }, index) => {
    const updatedAt = records[index]?.updatedAt;
    if (ifUpdatedAt === undefined || updatedAt === undefined || ifUpdatedAt === updatedAt) return [];
    const message = expected(`the updatedAt of the stored ${kind.label}, "${updatedAt}"`, ifUpdatedAt);
    return [{ path: [index, 'ifUpdatedAt'], message }];
  });

interface Changes<K extends RecordKind> {
  readonly changes: readonly Parsed<UpdateOf<K>>[];
  /** The stored records, read with a lock; undefined where there is none, which is one of the issues. */
  readonly records: readonly (RecordOf<K> | undefined)[];
  /** What is wrong with the changes, their references included, and their conflicts with stored records. */
  readonly invalid: readonly Issue[];
  readonly conflicts: readonly Issue[];
  readonly isSingle?: boolean;
}

/** Stores the changes if there are no issues, and returns the records as they then are. */
async function changeRecords<K extends RecordKind>(
  transaction: TransactionStore,
  session: Session,
  kind: K,
  { changes, records, invalid, conflicts, isSingle = false }: Changes<K>,
): Promise<RecordOf<K>[]> {
  const cycles = await cycleIssues(transaction, kind, { changes, records, isSingle });
  const found = { invalid: [...invalid, ...cycles], conflicts };
  await requireValid(transaction, kind, { parsed: changes, current: records, isSingle, found }, 'lookup');

  const versions = records.flatMap((before, index) => {
    const sent = changes[index]?.value ?? {};
    if (!before) return [];
    if (Object.keys(sent).length === 0) return [{ before, after: before }];
    return [{ before, after: { ...before, ...sent, ...updateStamps(kind, session, before) } }];
  });
  await transaction.update(
    kind,
    versions.filter(({ before, after }) => before !== after),
  );
  return versions.map(({ after }) => after);
}
