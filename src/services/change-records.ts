/** Checks and carries out changes of records, for updates and upserts alike. */
import { isSame } from '../model/fields.ts';
import type { Issue, PathOf } from '../model/issues.ts';
import type { Linkable } from '../model/links.ts';
import type { RecordKind, RecordOf, UpdateOf, Values } from '../model/record-kind.ts';
import type { Lookups } from '../store/writes/lookups.ts';
import { type Change, updated } from '../store/writes/work.ts';
import { findCycles, lockTree, rejectCycles } from './checks/cycles.ts';
import {
  findIssues,
  type OnInvalid,
  type Rejected,
  type RejectedItems,
  referenceIssues,
  rejectedItems,
  throwIssues,
} from './checks/validation.ts';
import { resolveLinks } from './resolve-links.ts';
import { type Session, updateStamps } from './session.ts';

interface Matched<K extends RecordKind> {
  readonly changes: readonly Linkable<UpdateOf<K>>[];
  /** The stored records, read with a lock; undefined where there is none. */
  readonly records: readonly (RecordOf<K> | undefined)[];
  readonly invalid?: readonly Issue[];
  readonly conflicts?: readonly Issue[];
}

interface Options<K extends RecordKind> {
  readonly pathOf: PathOf;
  readonly match: (changes: readonly Linkable<UpdateOf<K>>[]) => Promise<Matched<K>>;
  readonly lookedUp?: string | undefined;
  readonly onInvalid?: OnInvalid;
}

/** Locks what changes are about and refer to, and checks them. Throws every issue: 400, or 409 if all conflict with stored records. */
export async function checkedChanges<K extends RecordKind>(
  find: Lookups,
  kind: K,
  sent: readonly Linkable<UpdateOf<K>>[],
  { pathOf, match, lookedUp, onInvalid = 'fail' }: Options<K>,
): Promise<({ readonly record: RecordOf<K> | undefined; readonly values: UpdateOf<K> } | Rejected)[]> {
  await lockTree(find, kind, sent);
  const resolved = await resolveLinks(find, sent);
  const unresolved = await referenceIssues(find, kind, { parsed: resolved, pathOf });
  const { changes, records, invalid = [], conflicts = [] } = await match(resolved);
  const cycles = await findCycles(find, kind, { changes, records, pathOf });
  const check = (found: readonly Issue[]) =>
    findIssues(find, kind, {
      parsed: changes,
      pathOf,
      current: records,
      lookedUp,
      unresolved,
      invalid: found,
      conflicts,
    });
  let rejected: RejectedItems = new Map();
  if (onInvalid === 'fail') throwIssues([await check([...invalid, ...cycles.among()])]);
  else {
    rejected = rejectedItems(await check(invalid));
    rejectCycles(rejected, cycles);
  }
  return changes.map(({ value }, index) => {
    const issues = rejected.get(index);
    // All others have values: they are valid.
    return issues ? { outcome: 'rejected', issues } : { record: records[index], values: value ?? ({} as UpdateOf<K>) };
  });
}

/** A record without new values stays the same object. */
export function newVersions<K extends RecordKind>(
  session: Session,
  kind: K,
  changes: readonly { readonly record: RecordOf<K>; readonly values: object }[],
): { readonly records: RecordOf<K>[]; readonly change: Change } {
  const versions = changes.map(({ record, values }) => {
    const isChanged = Object.keys(values).length > 0;
    return {
      before: record,
      after: isChanged ? { ...record, ...values, ...updateStamps(kind, session, record) } : record,
    };
  });
  return {
    records: versions.map(({ after }) => after),
    change: updated(
      kind,
      versions.filter(({ before, after }) => before !== after),
    ),
  };
}

/** Returns only the changed values: the others would log an empty change. */
export const differing = (record: Values, values: object): object =>
  Object.fromEntries(Object.entries(values).filter(([name, value]) => !isSame(record[name], value)));
