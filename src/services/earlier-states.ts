/** Makes the changes that give records an earlier state back. */
import { isSame } from '../model/fields.ts';
import type { RecordKind, RecordOf, Values } from '../model/record-kind.ts';
import { linkOrder } from '../records/link-order.ts';
import { type Change, deleted, restored } from '../store/writes/work.ts';
import { differing, newVersions } from './change-records.ts';
import { inTreeOrder, treeOf } from './checks/cycles.ts';
import { type Reversal, uniqueFields } from './checks/reversals.ts';
import type { Session } from './session.ts';
import { timeAfter, updateStamps } from './stamps.ts';

interface Restorable extends Reversal {
  /** The latest change of the record: the times of its changes rise. */
  readonly latest: { readonly at: string };
}

/** Returns the records of each kind, targets of references first, which is the order in which writes lock them. */
export const byKind = <R extends { readonly kind: RecordKind }>(records: readonly R[]) =>
  linkOrder.flatMap((kind) => {
    const ofKind = records.filter((record) => record.kind === kind);
    return ofKind.length > 0 ? [[kind, ofKind] as const] : [];
  });

/** True if the record has these values in all fields that clients may set; null where it does not exist. */
export function hasState(kind: RecordKind, record: Values | null, state: Values | null): boolean {
  if (!record || !state) return record === state;
  return Object.keys(kind.fields).every((field) => isSame(record[field] ?? null, state[field] ?? null));
}

/** Returns the changes that give the records their earlier states. Those that have them already are left as they are. */
export function changesFor(session: Session, reversals: readonly Restorable[]): Change[] {
  const changed = reversals.filter(
    ({ kind, problem, current, target }) => !problem && !hasState(kind, current, target),
  );
  const groups = byKind(changed);
  const restorations = groups.map(([kind, records]) => restorationOf(session, kind, records));
  const updates = groups.map(([kind, records]) => updateOf(session, kind, records));
  const deletions = groups.map(([kind, records]) => deletionOf(kind, records));
  const hasUnique = ({ kind }: Change) => uniqueFields(kind).length > 0;
  const hasNone = (change: Change) => !hasUnique(change);
  // Records exist while others refer to them, and unique values are free before others get them.
  return [
    ...deletions.filter(hasUnique),
    ...restorations.filter(hasNone),
    ...updates,
    ...restorations.filter(hasUnique),
    ...deletions.filter(hasNone).reverse(),
  ];
}

/** The casts are safe: the values are those of a record of the kind. */
const asRecord = <K extends RecordKind>(_kind: K, values: Values | null) => values as object as RecordOf<K>;

function restorationOf<K extends RecordKind>(session: Session, kind: K, records: readonly Restorable[]): Change {
  const missing = new Map(records.filter(({ current }) => !current).map((record) => [record.id, record]));
  const tree = treeOf(kind);
  const parentOf = (id: string) => {
    const parent = tree && missing.get(id)?.target?.[tree.field];
    return typeof parent === 'string' && missing.has(parent) ? parent : undefined;
  };
  const { order } = inTreeOrder(missing.keys(), parentOf);
  const versions = order.map((id) => {
    const { target = null, latest } = missing.get(id) ?? {};
    const last = { ...asRecord(kind, target), updatedAt: latest?.at ?? '' };
    return { ...last, ...updateStamps(kind, session, last) };
  });
  return restored(kind, versions);
}

function updateOf<K extends RecordKind>(session: Session, kind: K, records: readonly Restorable[]): Change {
  const changes = records.flatMap(({ current, target }) => {
    if (!current || !target) return [];
    const values = Object.fromEntries(Object.keys(kind.fields).map((field) => [field, target[field]]));
    return [{ record: asRecord(kind, current), values: differing(current, values) }];
  });
  return newVersions(session, kind, changes).change;
}

function deletionOf<K extends RecordKind>(kind: K, records: readonly Restorable[]): Change {
  const going = records.flatMap(({ current, target }) => (current && !target ? [asRecord(kind, current)] : []));
  const latest = going.reduce(
    (last, { updatedAt }) => (updatedAt > last ? updatedAt : last),
    new Date(0).toISOString(),
  );
  return deleted(kind, going, timeAfter({ updatedAt: latest }));
}
