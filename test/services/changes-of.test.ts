/** From items to changes: what a write stores, without a database. */
import { expect, test } from 'vitest';
import type { AnyRecord, RecordKind, Values } from '../../src/model/record-kind.ts';
import { asset, assetCategory, location, newIds, workOrder } from '../../src/records/index.ts';
import { type Item, itemOf } from '../../src/services/item.ts';
import { changesOf } from '../../src/services/write.ts';
import { createRandom } from '../support/random.ts';

const session = { workspace: 'acme', userId: 'ada' };
const kinds = [asset, assetCategory, location, workOrder];
const future = '2999-01-01T00:00:00.000Z';

/** A record that somebody else created, last changed then. */
function stored(kind: RecordKind, updatedAt: string): AnyRecord {
  const unset = Object.fromEntries(Object.keys(kind.storedFields).map((field) => [field, null]));
  const stamps = Object.fromEntries(kind.stamps.map((stamp) => [stamp, 'eve']));
  const id = newIds(kind.idPrefix, 1)[0] ?? '';
  return {
    ...unset,
    ...stamps,
    name: 'before',
    id,
    workspaceId: 'acme',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt,
  };
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    const parts = value instanceof Map ? [...value.values()] : Object.values(value);
    for (const part of parts) freeze(part);
  }
  return value;
}

/** Items of all operations, of which new categories may have one of each other as parent. Nothing may change them any more. */
function randomItems(seed: number): Item[] {
  const { chance, integer, pick, shuffle } = createRandom(seed);
  const items: Item[] = [];
  const categories: Item[] = [];
  for (let n = 0; n < 30; n += 1) {
    const kind = pick(kinds) ?? asset;
    const op = pick(['create', 'update', 'upsert', 'delete', 'restore'] as const) ?? 'create';
    const sent = op === 'delete' || (op === 'update' && chance(0.2)) ? {} : { name: pick(['before', `after ${n}`]) };
    const item = itemOf(op, kind, [n], { value: sent });
    const isStored = op === 'update' || op === 'delete' || (op !== 'create' && chance(0.5));
    const record = stored(kind, chance(0.3) ? future : '2026-01-01T00:00:00.000Z');
    if (isStored) item.before = record;
    else if (op === 'restore') item.restored = record;
    else if (kind === assetCategory) {
      const parent = categories[integer(categories.length + 1)];
      if (parent) item.linked = new Map([['parentId', parent]]);
      categories.push(item);
    }
    items.push(item);
  }
  return freeze(shuffle(items));
}

test.each(Array.from({ length: 200 }, (_, seed) => [seed]))(
  'items become changes that can be applied in their order: %i',
  (seed) => {
    const items = randomItems(seed);
    const records = new Map(items.flatMap(({ before }) => (before ? [[before.id, before as Values]] : [])));
    const now = new Date().toISOString();

    const { changes, stored: outcomes } = changesOf(session, items);

    for (const { kind, action, before, after } of changes) {
      const id = String((after ?? before)?.id);
      expect(records.get(id) ?? null).toEqual(before);
      expect(action).toBe(before === null ? 'created' : after === null ? 'deleted' : 'updated');
      if (after === null) {
        records.delete(id);
        continue;
      }
      expect(Object.keys(after).toSorted()).toEqual(Object.keys(kind.storedFields).toSorted());
      if (kind === assetCategory && after.parentId !== null) expect(records.has(String(after.parentId))).toBe(true);
      // No two versions of a record have the same time, even when the clock is behind.
      expect(String(after.updatedAt) > String(before?.updatedAt ?? '') && String(after.updatedAt) >= now).toBe(true);
      records.set(id, after);
    }

    for (const item of items) {
      const { op, before, restored, values, linked } = item;
      const { outcome, record } = outcomes.get(item) ?? {};
      const isSame = Object.entries(values).every(([field, value]) => before?.[field] === value);
      const expected = op === 'delete' ? 'deleted' : !before ? 'created' : isSame ? 'unchanged' : 'updated';
      expect(outcome).toBe(expected);
      if (op === 'delete') {
        expect(record).toEqual(before);
        expect(records.has(String(before?.id))).toBe(false);
        continue;
      }
      expect(records.get(String(record?.id))).toEqual(record);
      const parent = linked?.get('parentId');
      if (parent) expect(record).toMatchObject({ parentId: outcomes.get(parent)?.record.id });
      const former = before ?? restored;
      if (former) expect(record).toMatchObject({ id: former.id, createdAt: former.createdAt });
      else expect(record).toMatchObject({ workspaceId: 'acme', createdAt: record?.updatedAt });
      expect(record).toMatchObject(restored ? { name: 'before' } : values);
      for (const stamp of item.kind.stamps) {
        const isKept = expected === 'unchanged' || (stamp === 'createdBy' && former);
        expect(record).toMatchObject({ [stamp]: isKept ? 'eve' : 'ada' });
      }
    }
    expect(changes).toHaveLength(items.filter((item) => outcomes.get(item)?.outcome !== 'unchanged').length);
  },
);
