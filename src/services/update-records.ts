import { notFound } from '../errors.ts';
import { expected, type Issue, inBatch, type Parsed } from '../model/issues.ts';
import type { Linkable } from '../model/links.ts';
import type { Patch } from '../model/patch.ts';
import type { RecordKind, RecordOf, UpdateOf } from '../model/record-kind.ts';
import { kindOfId } from '../records/index.ts';
import { checkedChanges, differing, newVersions } from './change-records.ts';
import { findBatch, noRecord, requireFewParsedExternalIds } from './checks/batch.ts';
import { isRejected, type Rejected } from './checks/validation.ts';
import type { Session } from './session.ts';

/** Changes all or none, in the order sent. A record that has all values already keeps its `updatedAt`. Throws like createRecords. */
export async function updateRecords<K extends RecordKind>(
  session: Session,
  kind: K,
  batch: readonly Patch<K>[],
): Promise<RecordOf<K>[]> {
  const write = session.writer();
  if (batch.length === 0) return [];
  const sent = batch.map(({ change }) => change);
  requireFewParsedExternalIds(sent);
  return write(async (find) => {
    const match = async (changes: readonly Linkable<UpdateOf<K>>[]) => {
      const { records, issues } = await findBatch(
        kind,
        batch.map(({ id }) => id),
        (index) => [index, 'id'],
        (ids) => find.findToUpdate(kind, ids),
      );
      return { changes, records, invalid: issues, conflicts: changedMeanwhile(kind, batch, records) };
    };
    const checked = await checkedChanges(find, kind, sent, { pathOf: inBatch, match });
    const changes = checked.flatMap(ofRecord);
    const { records, change } = newVersions(
      session,
      kind,
      changes.map(({ record, values }) => ({ record, values: differing(record, values) })),
    );
    return { changes: [change], returned: records };
  });
}

/** Each change has a record: otherwise it is not valid. */
const ofRecord = <R, V>(change: { record: R | undefined; values: V } | Rejected) =>
  !isRejected(change) && change.record ? [{ record: change.record, values: change.values }] : [];

/** Any field counts as a change, even with the value that it had, as PATCH has always done. Throws a 404, or like updateRecords. */
export async function updateRecord<K extends RecordKind>(
  session: Session,
  kind: K,
  id: string,
  change: Parsed<UpdateOf<K>>,
): Promise<RecordOf<K>> {
  const write = session.writer();
  // Saves a statement, and lets only well-formed IDs reach the database.
  if (kindOfId(id) !== kind) throw notFound(noRecord(kind, id));
  return write(async (find) => {
    const match = async (changes: readonly Linkable<UpdateOf<K>>[]) => {
      const records = await find.findToUpdate(kind, [id]);
      if (records.length === 0) throw notFound(noRecord(kind, id));
      return { changes, records };
    };
    const checked = await checkedChanges(find, kind, [change], { pathOf: () => [], match });
    const changed = newVersions(session, kind, checked.flatMap(ofRecord));
    return { changes: [changed.change], returned: changed.records[0] as RecordOf<K> };
  });
}

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
