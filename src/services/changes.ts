/** From items to changes: what becomes of records, with their IDs and times. Reads and stores nothing. */
import { isSame } from '../model/fields.ts';
import { newIds } from '../model/ids.ts';
import type { AnyRecord, RecordKind, Values } from '../model/record-kind.ts';
import type { Change } from '../store/writes/write.ts';
import { byKind, type Item, type Stored } from './item.ts';
import type { Author } from './session.ts';
import { inTreeOrder, parentIn, treeOf } from './trees.ts';

/**
 * Returns the changes, and what was stored for each item: new records first, each kind's parents before their children, then those that
 * change, and last those that are deleted. Items are valid, and those to update have their records.
 */
export function changesOf(
  session: Author,
  items: readonly Item[],
  { isPatch = false }: { readonly isPatch?: boolean } = {},
): { readonly changes: Change[]; readonly stored: ReadonlyMap<Item, Stored> } {
  const changes: Change[] = [];
  const stored = new Map<Item, Stored>();
  const add = (item: Item, outcome: Stored['outcome'], change: Change) => {
    changes.push(change);
    stored.set(item, { record: (change.after ?? change.before) as AnyRecord, outcome });
  };
  // The same for all kinds: as of that time, everything that was created together is there.
  const now = new Date().toISOString();
  for (const [item, after] of newRecords(session, items, now)) {
    add(item, 'created', { kind: item.kind, action: 'created', before: null, after, at: String(after.updatedAt) });
  }
  for (const item of items) {
    const { op, kind, values, before } = item;
    if (!before || op === 'delete') continue;
    const changed = isPatch ? values : differing(before, values);
    if (Object.keys(changed).length === 0) stored.set(item, { record: before, outcome: 'unchanged' });
    else add(item, 'updated', updated(session, kind, before, changed, now));
  }
  const deleted = items.filter(({ op, before }) => op === 'delete' && before);
  const at = deleted.reduce((time, { before }) => timeAfter(before, time), now);
  for (const item of deleted) {
    add(item, 'deleted', { kind: item.kind, action: 'deleted', before: item.before ?? null, after: null, at });
  }
  return { changes, stored };
}

function newRecords(session: Author, items: readonly Item[], now: string) {
  const newItems = items.filter(({ op, before }) => !before && op !== 'delete');
  const records = new Map<Item, Record<string, unknown>>();
  for (const [kind, ofKind] of byKind(newItems)) {
    const fields = Object.keys(kind.fields);
    const blank = Object.fromEntries(Object.keys(kind.storedFields).map((field) => [field, null]));
    const unset = { ...blank, ...creationStamps(kind, session, now) };
    const ids = newIds(kind.idPrefix, ofKind.length).values();
    for (const item of treeOf(kind) ? inTreeOrder(ofKind, parentIn).order : ofKind) {
      const { values, restored } = item;
      const record: Record<string, unknown> = restored
        ? { ...restored, ...updateStamps(kind, session, restored, now) }
        : { ...unset, id: ids.next().value };
      if (!restored) for (const field of fields) record[field] = values[field] ?? null;
      records.set(item, record);
    }
  }
  for (const [{ linked = [] }, record] of records) {
    for (const [field, target] of linked) record[field] = records.get(target)?.id;
  }
  return records;
}

/** Returns only the changed values: the others would log an empty change. */
export function differing(record: Values, values: Values): Values {
  const changed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) if (!isSame(record[name], value)) changed[name] = value;
  return changed;
}

export function updated(session: Author, kind: RecordKind, before: AnyRecord, values: Values, now: string): Change {
  const after = { ...before, ...values, ...updateStamps(kind, session, before, now) };
  return { kind, action: 'updated', before, after, at: after.updatedAt };
}

/** A new record counts as last changed by its creator. */
function creationStamps(kind: RecordKind, { workspace, userId }: Author, now: string) {
  const stamps = Object.fromEntries(kind.stamps.map((stamp) => [stamp, userId]));
  return { ...stamps, workspaceId: workspace, createdAt: now, updatedAt: now };
}

const updateStamps = (kind: RecordKind, { userId }: Author, current: AnyRecord, now: string) => ({
  updatedAt: timeAfter(current, now),
  ...(kind.stamps.includes('updatedBy') && { updatedBy: userId }),
});

/** No two versions of a record have the same `updatedAt`, even when the clock is behind. */
const timeAfter = (record: AnyRecord | undefined, now: string): string =>
  !record || now > record.updatedAt ? now : new Date(Date.parse(record.updatedAt) + 1).toISOString();
