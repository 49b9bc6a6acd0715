import { inBatch } from '../model/issues.ts';
import type { Linkable } from '../model/links.ts';
import type { CreateOf, RecordKind, RecordOf } from '../model/record-kind.ts';
import { created, draftOf, newRecords } from '../store/writes/work.ts';
import { requireFewParsedExternalIds } from './checks/batch.ts';
import { findIssues, referenceIssues, throwIssues, validReferences } from './checks/validation.ts';
import { importRecords } from './import-records.ts';
import { hasLinks } from './resolve-links.ts';
import { creationStamps, type Session } from './session.ts';

/** Creates all or none, in the order sent. Throws a ServiceError with every issue: 403, 400, or 409 if each is a taken value. */
export async function createRecords<K extends RecordKind>(
  session: Session,
  kind: K,
  batch: readonly Linkable<CreateOf<K>>[],
): Promise<RecordOf<K>[]> {
  const write = session.writer();
  if (batch.length === 0) return [];
  if (batch.some(hasLinks)) {
    const [records = []] = await importRecords(session, [{ kind, items: batch, pathOf: inBatch }]);
    // The cast is safe: invalid items are not skipped.
    return records as readonly object[] as RecordOf<K>[];
  }
  requireFewParsedExternalIds(batch);
  const stamps = creationStamps(kind, session);
  // Invalid items are dropped here; throwIssues then rejects the whole batch.
  const inputs = batch.flatMap(({ value }) => (value ? [value] : []));
  const drafts = inputs.map((input) => draftOf(kind, input, stamps));
  const sent = { parsed: batch, pathOf: inBatch };
  const references = validReferences(kind, sent);
  return write(
    async (find) => {
      const unresolved = await referenceIssues(find, kind, sent);
      throwIssues([await findIssues(find, kind, { ...sent, unresolved })]);
      const records = newRecords(kind, drafts);
      return { changes: [created(kind, records)], returned: records };
    },
    { addition: references && { kind, drafts, references } },
  );
}
