/** From items to changes: the records that a write stores, with their IDs, times and users, in the order of the log. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AnyRecord, RecordKind, Values } from '../../src/model/record-kind.ts';
import { asset, assetCategory, location, project, transportOrder } from '../../src/records/index.ts';
import { type Item, itemOf } from '../../src/services/item.ts';
import { changesOf } from '../../src/services/write.ts';

const [earlier, now, nextMillisecond] = [
  '2026-03-01T07:30:00.000Z',
  '2026-03-02T07:30:00.000Z',
  '2026-03-02T07:30:00.001Z',
];

beforeEach(() => {
  vi.useFakeTimers({ now: new Date(now), toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const session = { workspace: 'acme', userId: 'user-7' };

const item = (op: Item['op'], kind: RecordKind, value: Values, rest: Partial<Item> = {}): Item => ({
  ...itemOf(op, kind, [], { value }),
  ...rest,
});

const stored = (kind: RecordKind, values: Values): AnyRecord => ({
  id: `${kind.idPrefix}_1`,
  workspaceId: 'acme',
  createdAt: earlier,
  updatedAt: earlier,
  ...values,
});

test('new records have all fields, a new ID, and the time and user of their creation', () => {
  const created = item('create', project, { name: 'Harbour wall' });
  const { changes, stored } = changesOf(session, [created]);

  expect(changes).toMatchObject([{ kind: project, action: 'created', before: null, at: now }]);
  const { id, ...after } = changes[0]?.after ?? {};
  expect(id).toMatch(/^project_[0-9a-z]{26}$/);
  expect(after).toEqual({
    ...Object.fromEntries(Object.keys(project.fields).map((field) => [field, null])),
    name: 'Harbour wall',
    workspaceId: 'acme',
    createdAt: now,
    updatedAt: now,
    createdBy: 'user-7',
    updatedBy: 'user-7',
  });
  expect(stored.get(created)).toEqual({ record: changes[0]?.after, outcome: 'created' });
});

test('new records that refer to each other are created kind by kind, parents first, and get the IDs of the others', () => {
  const cranes = item('create', assetCategory, { name: 'Cranes' });
  const tower = item('create', assetCategory, { name: 'Tower cranes' }, { linked: new Map([['parentId', cranes]]) });
  const yard = item('create', location, { name: 'North yard' });
  const wall = item('create', project, { name: 'Harbour wall' }, { linked: new Map([['locationId', yard]]) });

  const { changes } = changesOf(session, [tower, wall, yard, cranes]);
  const records = changes.map(({ after }) => after);
  expect(records.map((record) => record?.name)).toEqual(['Cranes', 'Tower cranes', 'Harbour wall', 'North yard']);
  expect(records[1]?.parentId).toBe(records[0]?.id);
  expect(records[2]?.locationId).toBe(records[3]?.id);
});

test('the user of an update is recorded for kinds that have it', () => {
  const before = stored(project, { name: 'Wall', createdBy: 'user-1', updatedBy: 'user-1' });
  const order = stored(transportOrder, { name: 'Bring', createdBy: 'user-1' });
  const { changes } = changesOf(session, [
    item('update', project, { name: 'Pier' }, { before }),
    item('update', transportOrder, { name: 'Fetch' }, { before: order }),
  ]);

  expect(changes.map(({ after }) => after)).toEqual([
    { ...before, name: 'Pier', updatedBy: 'user-7', updatedAt: now },
    { ...order, name: 'Fetch', updatedAt: now },
  ]);
});

test('a patch changes a record even with the values that it has, but not without any', () => {
  const before = stored(location, { name: 'North yard' });
  const patch = (values: Values) =>
    changesOf(session, [item('update', location, values, { before })], { isPatch: true }).changes;

  expect(patch({ name: 'North yard' })).toMatchObject([{ action: 'updated', after: { ...before, updatedAt: now } }]);
  expect(patch({})).toEqual([]);
});

test('upserts create what is new before they update the others', () => {
  const before = stored(asset, { name: 'Crane', uid: 'C-7' });
  const updated = item('upsert', asset, { name: 'Old crane', uid: 'C-7' }, { before });
  const same = item('upsert', asset, { uid: 'C-7' }, { before });
  const created = item('upsert', asset, { name: 'Pump', uid: 'P-1' });

  const { changes, stored: outcomes } = changesOf(session, [updated, same, created]);
  expect(changes.map(({ action }) => action)).toEqual(['created', 'updated']);
  expect([updated, same, created].map((sent) => outcomes.get(sent)?.outcome)).toEqual([
    'updated',
    'unchanged',
    'created',
  ]);
});

test('deleted records are returned as they were, all with one time, which is later than that of their versions', () => {
  const before = [stored(location, { updatedAt: earlier }), stored(location, { id: 'location_2', updatedAt: now })];
  const items = before.map((record) => item('delete', location, {}, { before: record }));

  const { changes, stored: outcomes } = changesOf(session, items);
  const deleted = { kind: location, action: 'deleted', after: null, at: nextMillisecond };
  expect(changes).toEqual(before.map((record) => ({ ...deleted, before: record })));
  expect(items.map((sent) => outcomes.get(sent))).toEqual(before.map((record) => ({ record, outcome: 'deleted' })));
});

test('a record that is restored keeps its ID and creation, and gets a time after its latest change', () => {
  const restored = stored(project, { name: 'Wall', createdBy: 'user-1', updatedBy: 'user-1', updatedAt: now });
  const { changes } = changesOf(session, [item('restore', project, { name: 'Wall' }, { id: restored.id, restored })]);
  const after = { ...restored, updatedBy: 'user-7', updatedAt: nextMillisecond };
  expect(changes).toEqual([{ kind: project, action: 'created', before: null, after, at: nextMillisecond }]);
});

test('what restored records refer to is restored before them', () => {
  const parent = stored(assetCategory, { id: 'category_1', name: 'Cranes', parentId: null });
  const child = stored(assetCategory, { id: 'category_2', name: 'Tower cranes', parentId: 'category_1' });
  const above = item('restore', assetCategory, {}, { restored: parent });
  const below = item('restore', assetCategory, {}, { restored: child, linked: new Map([['parentId', above]]) });

  const { changes } = changesOf(session, [below, above]);
  expect(changes.map(({ after }) => after)).toMatchObject([
    { id: 'category_1', parentId: null },
    { id: 'category_2', parentId: 'category_1' },
  ]);
});
