import type { ExternalIds } from '../model/fields.ts';
import { inBatch, validValues } from '../model/issues.ts';
import { type Linkable, withIssues } from '../model/links.ts';
import type { CreateOf, RecordKind, RecordOf, UpdateOf, Values } from '../model/record-kind.ts';
import { externalIdsProblem, recordLengthProblem, requiredMessage, type ValueLimits } from '../model/schemas.ts';
import { created, draftOf, newRecords, type Written } from '../store/writes/work.ts';
import { checkedChanges, differing, newVersions } from './change-records.ts';
import { requireFewParsedExternalIds } from './checks/batch.ts';
import { isRejected, type OnInvalid, type Rejected } from './checks/validation.ts';
import { findRecords, type RecordKey, requireKeys } from './record-keys.ts';
import { creationStamps, type Session } from './session.ts';

export type Upserted<K extends RecordKind> =
  | { readonly record: RecordOf<K>; readonly outcome: 'created' | 'updated' | 'unchanged' }
  | Rejected;

interface UpsertOptions {
  readonly by: RecordKey;
  readonly limits: ValueLimits;
  readonly onInvalid?: OnInvalid;
}

/** The lock of writes that may create records for keys that they have looked up. */
export const upsertLock = ({ table }: RecordKind): string => `upsert ${table}`;

/** Like updateRecords, but creates what is missing. With `skip`, the issues of invalid items are returned instead, and all others stored. */
export async function upsertRecords<K extends RecordKind>(
  session: Session,
  kind: K,
  batch: readonly Linkable<UpdateOf<K>>[],
  { by, limits, onInvalid = 'fail' }: UpsertOptions,
): Promise<Upserted<K>[]> {
  const write = session.writer();
  if (batch.length === 0) return [];
  requireFewParsedExternalIds(batch);
  return write(async (find) => {
    // Otherwise two upserts of a key that no record has would both create one.
    await find.lock(upsertLock(kind));
    const read = (ids: readonly string[]) => find.findToUpdate(kind, ids);
    const match = async (resolved: typeof batch) => {
      const keyed = requireKeys(kind, by, resolved);
      const { records, invalid } = await findRecords(find, kind, { by, keyed, read });
      const ambiguous = new Set(invalid.map(({ path }) => path[0]));
      const changes = keyed.map(({ item }, index) =>
        ambiguous.has(index) ? item : completed(kind, by, item, records[index], limits),
      );
      return { changes, records, invalid };
    };
    const lookedUp = 'field' in by ? by.field : undefined;
    const checked = await checkedChanges(find, kind, batch, { pathOf: inBatch, match, lookedUp, onInvalid });
    return upserted(session, kind, checked);
  });
}

/** By the IDs of one system, those of the other systems are kept: each system knows only its own. */
function completed<K extends RecordKind>(
  kind: K,
  by: RecordKey,
  item: Linkable<UpdateOf<K>>,
  record: RecordOf<K> | undefined,
  limits: ValueLimits,
): Linkable<UpdateOf<K>> {
  const sent = validValues(item);
  if (!record) {
    const missing = Object.entries(kind.fields).filter(
      ([name, field]) =>
        field.required && sent[name] === undefined && !item.issues?.some(({ path }) => path[0] === name),
    );
    return withIssues(
      item,
      missing.map(([name, field]) => ({ path: [name], message: requiredMessage(field) })),
    );
  }
  if ('field' in by || item.issues) return item;
  const externalIds = { ...((record as Values).externalIds as ExternalIds), ...(sent.externalIds as ExternalIds) };
  const value = { ...item.value, externalIds } as UpdateOf<K>;
  const tooMany = externalIdsProblem(externalIds, limits);
  const problem = tooMany ?? recordLengthProblem(value, limits);
  if (problem === undefined) return { ...item, value };
  const path = tooMany === undefined ? [] : ['externalIds'];
  return withIssues(item, [{ path, message: `${problem}, including those of the stored ${kind.label}` }]);
}

function upserted<K extends RecordKind>(
  session: Session,
  kind: K,
  items: Awaited<ReturnType<typeof checkedChanges<K>>>,
): Written<Upserted<K>[]> {
  const stamps = creationStamps(kind, session);
  const valid = items.flatMap((item) => (isRejected(item) ? [] : [item]));
  // Missing records have all that is required: they are valid.
  const missing = valid.flatMap(({ record, values }) => (record ? [] : [values as object as CreateOf<K>]));
  const added = newRecords(
    kind,
    missing.map((input) => draftOf(kind, input, stamps)),
  );
  const changed = newVersions(
    session,
    kind,
    valid.flatMap(({ record, values }) => (record ? [{ record, values: differing(record, values) }] : [])),
  );
  const [additions, versions] = [added.values(), changed.records.values()];
  return {
    changes: [created(kind, added), changed.change],
    returned: items.map((item): Upserted<K> => {
      if (isRejected(item)) return item;
      const { record } = item;
      if (!record) return { record: additions.next().value as RecordOf<K>, outcome: 'created' };
      const version = versions.next().value as RecordOf<K>;
      return { record: version, outcome: version === record ? 'unchanged' : 'updated' };
    }),
  };
}
