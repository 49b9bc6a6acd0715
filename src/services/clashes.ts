/**
 * With `onClash: REJECT`, no write makes records occupy the same one, such as an asset, at overlapping times. Writes
 * that reject clashes wait for each other; other writes may store clashes.
 */
import type { ReferenceField } from '../model/fields.ts';
import type { ValidationIssue } from '../model/issues.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { kindNamed, linkOrder } from '../records/index.ts';
import { byStart, endless, type OccupiedTime, type Tx } from '../store/writes/tx.ts';
import { addTo, groupByKind, type Item, isValid, type OnInvalid, rejectDependents } from './item.ts';

export type OnClash = 'store' | 'reject';

export const mayClash = (items: readonly Item[]): boolean => items.some(({ kind }) => kind.occupies);

export async function lockClashes(tx: Tx, items: readonly Item[]): Promise<void> {
  for (const kind of linkOrder) {
    if (kind.occupies && items.some((item) => item.kind === kind)) await tx.lock(`clashes ${kind.table}`);
  }
}

/** Rejects items that clash. Moved items release their old times, or only valid ones with `skip`. */
export async function checkClashes(tx: Tx, items: readonly Item[], onInvalid: OnInvalid): Promise<void> {
  if (onInvalid === 'skip') rejectDependents(items);
  for (const [kind, ofKind] of groupByKind(items)) {
    if (kind.occupies) await rejectClashes(tx, kind, kind.occupies, ofKind, onInvalid);
  }
}

interface Occupation extends OccupiedTime {
  readonly item: Item;
  /** The ID of a record, or the item of a new one. */
  readonly occupied: unknown;
}

async function rejectClashes(
  tx: Tx,
  kind: RecordKind,
  field: string,
  items: readonly Item[],
  onInvalid: OnInvalid,
): Promise<void> {
  const moved = items.filter((item) => isMoved(item, field));
  const valid = moved.filter(isValid);
  const occupations = valid.flatMap((item) => occupationAfter(item, field) ?? []);
  if (occupations.length === 0) return;
  const released = (onInvalid === 'skip' ? valid : moved).flatMap(({ before }) => (before ? [before.id] : []));
  const times = new Map<string, Occupation[]>();
  for (const occupation of occupations) {
    // Only the batch can occupy a new record.
    if (typeof occupation.occupied === 'string') addTo(times, occupation.occupied, occupation);
  }
  const holders = await tx.findOccupying(kind, field, times, released);

  const { label: occupied } = kindNamed((kind.fields[field] as ReferenceField).target);
  const rejected: Item[] = [];
  const reject = (item: Item, holder: { readonly id: string } | Pick<ValidationIssue, 'other'>) => {
    item.issues.push({ path: [], code: 'clash', kind: kind.label, occupied, ...holder });
    rejected.push(item);
  };
  const groups = new Map<unknown, Occupation[]>();
  for (const occupation of occupations) {
    const id = holders.get(occupation);
    if (id === undefined) addTo(groups, occupation.occupied, occupation);
    else reject(occupation.item, { id });
  }
  for (const group of groups.values()) {
    for (const [{ item }, { item: other }] of overlapsIn(group)) reject(item, { other: other.path });
  }
  // The record of a skipped item keeps its time.
  for (let item = rejected.pop(); item && onInvalid === 'skip'; item = rejected.pop()) {
    const { before } = item;
    const kept = before && occupationOf(item, before, field);
    if (!kept) continue;
    for (const other of groups.get(kept.occupied) ?? []) {
      if (isValid(other.item) && overlap(kept, other)) reject(other.item, { id: before.id });
    }
  }
}

const isMoved = ({ duplicateOf, values, pendingReferences, before }: Item, field: string): boolean =>
  !duplicateOf &&
  (!before ||
    pendingReferences?.has(field) ||
    [field, 'startDate', 'endDate'].some((name) => values[name] !== undefined && values[name] !== before[name]));

function occupationAfter(item: Item, field: string): Occupation | undefined {
  const { before, values, pendingReferences } = item;
  return occupationOf(item, { ...before, ...values, ...Object.fromEntries(pendingReferences ?? []) }, field);
}

/** Undefined for a record without a start, or with an end that is not after it. */
function occupationOf(item: Item, record: Values, field: string): Occupation | undefined {
  const { startDate: start, endDate, [field]: occupied } = record;
  const end = String(endDate ?? endless);
  return typeof start === 'string' && start < end ? { item, occupied, start, end } : undefined;
}

const overlap = (a: Occupation, b: Occupation): boolean => a.start < b.end && b.start < a.end;

/** Pairs each occupation with an earlier one during which it starts. */
function overlapsIn(group: readonly Occupation[]): (readonly [Occupation, Occupation])[] {
  const sorted = group.toSorted(byStart);
  let [last] = sorted;
  return sorted.slice(1).flatMap((occupation) => {
    if (last && overlap(last, occupation)) return [[occupation, last] as const];
    last = occupation;
    return [];
  });
}
