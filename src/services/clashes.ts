/**
 * With `onClash: REJECT`, no write gives a record a time at which its asset (or what its kind `occupies`) is taken.
 * Writes that reject clashes wait for each other; other writes may store clashes.
 */
import type { ReferenceField } from '../model/fields.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { kindNamed } from '../records/index.ts';
import type { Tx } from '../store/writes/tx.ts';
import { addTo, groupByKind, type Item, isValid, type OnInvalid, rejectDependents } from './item.ts';

export type OnClash = 'store' | 'reject';

export async function lockClashes(tx: Tx, items: readonly Item[]): Promise<void> {
  for (const kind of groupByKind(items).keys()) if (kind.occupies) await tx.lock(`clashes ${kind.table}`);
}

/** After this many rounds, every remaining item is rejected. */
const maxRounds = 10;

/** Works in rounds with `skip`: the record of a rejected item keeps its time, which can clash with other items. */
export async function checkClashes(tx: Tx, items: readonly Item[], onInvalid: OnInvalid): Promise<void> {
  for (const [kind, ofKind] of groupByKind(items)) {
    const { occupies: field } = kind;
    if (!field) continue;
    const moved = ofKind.filter((item) => isMoved(item, field));
    for (let round = 1; ; round += 1) {
      if (onInvalid === 'skip') rejectDependents(items);
      const valid = moved.filter(isValid);
      const hasRejected = await rejectClashes(tx, kind, field, valid);
      if (!hasRejected || onInvalid === 'fail') break;
      if (round === maxRounds) for (const { issues } of valid) issues.push({ path: [], code: 'rejected-moves' });
    }
  }
}

const isMoved = ({ duplicateOf, values, pendingReferences, before }: Item, field: string): boolean =>
  !duplicateOf &&
  (!before ||
    pendingReferences?.has(field) ||
    [field, 'startDate', 'endDate'].some((name) => values[name] !== undefined && values[name] !== before[name]));

interface Occupation {
  readonly item: Item;
  /** An ID, or a new record of the batch. */
  readonly occupied: string | Item;
  readonly start: string;
  /** Null for an open end. */
  readonly end: string | null;
}

/** Undefined for a record without a start, or with an end that is not after it. */
function occupationOf(item: Item, field: string): Occupation | undefined {
  const { values, before, pendingReferences } = item;
  const after = (name: string) => (values[name] === undefined ? (before?.[name] ?? null) : values[name]);
  const start = after('startDate');
  const end = after('endDate');
  if (start === null || (end !== null && String(end) <= String(start))) return undefined;
  const occupied = pendingReferences?.get(field) ?? String(after(field));
  return { item, occupied, start: String(start), end: end === null ? null : String(end) };
}

async function rejectClashes(tx: Tx, kind: RecordKind, field: string, moved: readonly Item[]): Promise<boolean> {
  const occupations = moved.flatMap((item) => occupationOf(item, field) ?? []);
  const { target } = kind.fields[field] as ReferenceField;
  const issue = { path: [], code: 'clash', kind: kind.label, occupied: kindNamed(target).label } as const;
  const times = occupations.map(({ occupied, start, end }) => ({
    // A new record is occupied by new ones only.
    id: typeof occupied === 'string' ? occupied : null,
    start,
    end,
  }));
  const released = moved.flatMap(({ before }) => (before ? [before.id] : []));
  const holders = await tx.findOccupying(kind, field, times, released);
  const free: Occupation[] = [];
  for (const [index, occupation] of occupations.entries()) {
    const id = holders[index];
    if (id === null || id === undefined) free.push(occupation);
    else occupation.item.issues.push({ ...issue, id });
  }
  const clashing = clashesAmong(free);
  for (const [{ item }, { item: other }] of clashing) item.issues.push({ ...issue, other: other.path });
  return clashing.size > 0 || free.length < occupations.length;
}

/** Of two items, the one that starts later is rejected. */
function clashesAmong(occupations: readonly Occupation[]): ReadonlyMap<Occupation, Occupation> {
  const groups = new Map<string | Item, Occupation[]>();
  for (const occupation of occupations) addTo(groups, occupation.occupied, occupation);
  const clashing = new Map<Occupation, Occupation>();
  for (const group of groups.values()) {
    group.sort((a, b) => (a.start < b.start ? -1 : Number(a.start > b.start)));
    let [last] = group;
    for (const occupation of group.slice(1)) {
      if (last && (last.end === null || last.end > occupation.start)) clashing.set(occupation, last);
      else last = occupation;
    }
  }
  return clashing;
}
