/** What becomes of records: from items to changes. Reads and stores nothing. */
import { isSame } from '../model/fields.ts';
import { newIds } from '../model/ids.ts';
import type { AnyRecord, RecordKind, Values } from '../model/record-kind.ts';
import type { Change } from '../store/writes/write.ts';
import type { Item, Stored } from './item.ts';
import { type Author, creationStamps, timeAfterAll, updateStamps } from './session.ts';
import { inTreeOrder, parentIn } from './trees.ts';

/** Returns the changes, and what was stored for each item. Items are valid, and those to update or delete have their records. */
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
  const now = Date.now();
  const newItems = items.filter(({ op, before }) => !before && (op === 'create' || op === 'upsert'));
  const ids = idsFor(newItems);
  for (const [item, id] of ids) {
    const { kind } = item;
    const after = newRecord(item, id, ids, creationStamps(kind, session, now));
    add(item, 'created', { kind, action: 'created', before: null, after, at: after.createdAt });
  }
  for (const item of items) {
    const { op, kind, values, before } = item;
    if (!before || op === 'delete') continue;
    const changed = isPatch ? values : differing(before, values);
    if (Object.keys(changed).length === 0) stored.set(item, { record: before, outcome: 'unchanged' });
    else add(item, 'updated', updated(session, kind, before, changed, now));
  }
  const deleted = items.filter(({ op }) => op === 'delete');
  const at = timeAfterAll(
    deleted.map(({ before }) => before),
    now,
  );
  for (const item of deleted) {
    add(item, 'deleted', { kind: item.kind, action: 'deleted', before: item.before ?? null, after: null, at });
  }
  return { changes, stored };
}

/** Gives new items their IDs, kind by kind, parents before their children. */
function idsFor(items: readonly Item[]): Map<Item, string> {
  const ids = new Map<Item, string>();
  for (const kind of new Set(items.map((item) => item.kind))) {
    const { order } = inTreeOrder(
      items.filter((item) => item.kind === kind),
      parentIn,
    );
    const newOnes = newIds(kind.idPrefix, order.length);
    for (const [index, item] of order.entries()) ids.set(item, newOnes[index] ?? '');
  }
  return ids;
}

function newRecord(
  { kind, values, linked }: Item,
  id: string,
  ids: ReadonlyMap<Item, string>,
  stamps: ReturnType<typeof creationStamps>,
) {
  const record: Record<string, unknown> = {};
  for (const field of Object.keys(kind.storedFields)) record[field] = values[field] ?? null;
  for (const [field, target] of linked) record[field] = ids.get(target);
  return Object.assign(record, stamps, { id });
}

/** Returns only the changed values: the others would log an empty change. */
export const differing = (record: Values, values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([name, value]) => !isSame(record[name], value)));

export function updated(session: Author, kind: RecordKind, before: AnyRecord, values: Values, now: number): Change {
  const after = { ...before, ...values, ...updateStamps(kind, session, before, now) };
  return { kind, action: 'updated', before, after, at: after.updatedAt };
}
