/** What writes look up and change, without a database: the services say it as data. */
import { expect, test } from 'vitest';
import { newIds } from '../../src/model/ids.ts';
import { inBatch } from '../../src/model/issues.ts';
import type { CreateOf, RecordKind, RecordOf } from '../../src/model/record-kind.ts';
import { asset, assetCategory, location, project, workOrder } from '../../src/records/index.ts';
import { createRecords } from '../../src/services/create-records.ts';
import { deleteRecords } from '../../src/services/delete-records.ts';
import { importRecords } from '../../src/services/import-records.ts';
import type { Session } from '../../src/services/session.ts';
import { updateRecords } from '../../src/services/update-records.ts';
import { upsertRecords } from '../../src/services/upsert-records.ts';
import { inLockOrder, type Lookups } from '../../src/store/writes/lookups.ts';
import { type Change, draftOf, newRecords, type Uniqueness } from '../../src/store/writes/work.ts';

const past = '2026-03-01T00:00:00.000Z';
const stamps = { createdAt: past, updatedAt: past };
const limits = { maxTextLength: 100, maxExternalIds: 100, maxRecordLength: 1_000 };

const idOf = (item: object | undefined) => item && 'id' in item && item.id;

const recordOf = <K extends RecordKind>(kind: K, values: CreateOf<K>): RecordOf<K> =>
  newRecords(kind, [draftOf(kind, values, stamps)])[0] as RecordOf<K>;

/** A session whose records are these, and what its writes have looked up and changed. */
function sessionWith(stored: readonly { readonly id: string }[] = [], uniqueness: Uniqueness = 'lookup') {
  const records = stored as readonly Readonly<Record<string, unknown> & { id: string }>[];
  const looked: string[] = [];
  const changes: Change[] = [];
  const having = ({ idPrefix }: RecordKind, field: string, values: readonly unknown[]) =>
    records.filter((record) => record.id.startsWith(`${idPrefix}_`) && values.includes(record[field]));
  const byId = async (kind: RecordKind, ids: readonly string[]) => having(kind, 'id', ids) as never;
  const lookups: Lookups = {
    lock: async () => {},
    existingValues: async (kind, field, values) =>
      new Set(having(kind, field, values).map((record) => String(record[field]))),
    findByText: async (kind, field, texts) => texts.map((text) => having(kind, field, [text]).map(({ id }) => id)),
    findByExternalId: async (_, externalIds) => externalIds.map(() => []),
    findToUpdate: byId,
    findToDelete: byId,
    ancestors: async () => new Map(),
    pages: async () => new Map(),
    findReferring: async ({ kind, field }, ids) => having(kind, field, ids).map(({ id }) => id),
    idempotencyResults: async () => [],
    lastChange: async () => 0,
    changes: async () => [],
    versions: async (_, keys) => keys.map(() => null),
    histories: async (ids) => ids.map(() => []),
  };
  const recorded = Object.fromEntries(
    Object.entries(lookups).map(([name, lookup]) => [
      name,
      (...args: never[]) => {
        looked.push(name);
        return (lookup as (...args: never[]) => unknown)(...args);
      },
    ]),
  ) as object as Lookups;
  const session: Session = {
    store: {} as Session['store'],
    userId: 'user-7',
    writer: () => async (work) => {
      const written = await work(inLockOrder(recorded), uniqueness);
      changes.push(...written.changes.filter((change) => change.records.length > 0));
      return written.returned;
    },
  };
  return { session, looked, changes };
}

test('a create without references looks up nothing, unless the database has rejected a unique value', async () => {
  const { session, looked, changes } = sessionWith([], 'database');
  const records = await createRecords(session, asset, [{ value: { name: 'Crane', uid: 'C-1' } }]);

  expect(looked).toEqual([]);
  expect(changes).toMatchObject([{ action: 'created', records: [{ name: 'Crane', updatedBy: 'user-7' }] }]);
  expect(records).toMatchObject([{ name: 'Crane' }]);

  const again = sessionWith([recordOf(asset, { name: 'Old', uid: 'C-1' })]);
  const rejected = createRecords(again.session, asset, [{ value: { name: 'Crane', uid: 'C-1' } }]);
  await expect(rejected).rejects.toMatchObject({ status: 409, issues: [{ path: [0, 'uid'] }] });
  expect(again.looked).toEqual(['existingValues']);
});

test('an update changes only the records that get other values', async () => {
  const [crane, pump] = [recordOf(asset, { name: 'Crane' }), recordOf(asset, { name: 'Pump' })];
  const { session, changes } = sessionWith([crane, pump]);

  const updated = await updateRecords(session, asset, [
    { id: crane.id, change: { value: { name: 'Crane' } } },
    { id: pump.id, change: { value: { name: 'Water pump' } } },
  ]);

  expect(updated[0]).toBe(crane);
  expect(changes).toMatchObject([{ action: 'updated', records: [{ before: pump, after: { name: 'Water pump' } }] }]);
  expect(changes[0]?.records).toHaveLength(1);
});

test('an upsert creates what is missing, changes what differs, and leaves the rest', async () => {
  const [same, other] = [recordOf(asset, { name: 'Crane', uid: 'C-1' }), recordOf(asset, { name: 'Pump', uid: 'C-2' })];
  const { session, changes } = sessionWith([same, other]);

  const upserted = await upsertRecords(
    session,
    asset,
    ['C-0', 'C-1', 'C-2'].map((uid) => ({ value: { name: 'Crane', uid } })),
    { by: { field: 'uid' }, limits },
  );

  expect(upserted.map(({ outcome }) => outcome)).toEqual(['created', 'unchanged', 'updated']);
  expect(changes.map(({ action, records }) => [action, records.length])).toEqual([
    ['created', 1],
    ['updated', 1],
  ]);
});

test('a deletion that clears references first changes the records that have them', async () => {
  const yard = recordOf(location, { name: 'Yard' });
  const order = recordOf(workOrder, { name: 'Move', locationId: yard.id });
  const { session, changes } = sessionWith([yard, order]);

  await deleteRecords(session, location, [{ value: yard.id }], { references: 'clear', maxCleared: 10 });

  expect(changes).toMatchObject([
    { kind: workOrder, action: 'updated', records: [{ before: order, after: { name: 'Move', locationId: null } }] },
    { kind: location, action: 'deleted', records: [yard] },
  ]);
});

test('an import gives parents smaller IDs than their children, in whatever order they are sent', async () => {
  const { session, changes } = sessionWith();
  const parent = { name: 'parent', field: 'parentId', target: assetCategory.name, to: { ref: 'lifting' } };

  const [returned] = await importRecords(session, [
    {
      kind: assetCategory,
      items: [
        { value: { name: 'Cranes' }, links: [parent] },
        { value: { name: 'Lifting' }, ref: 'lifting' },
      ],
      pathOf: inBatch,
    },
  ]);

  expect(returned?.map((record) => 'name' in record && record.name)).toEqual(['Cranes', 'Lifting']);
  expect(changes).toMatchObject([
    { records: [{ name: 'Lifting' }, { name: 'Cranes', parentId: idOf(returned?.[1]) }] },
  ]);
});

test('a key that may only read is told so before anything is looked up', async () => {
  const { session } = sessionWith();
  const refused = new Error('read-only');
  const readOnly: Session = {
    ...session,
    writer() {
      throw refused;
    },
  };

  await expect(createRecords(readOnly, project, [])).rejects.toBe(refused);
});

test('a write that locks in another order than all others fails, instead of waiting for one that waits for it', async () => {
  const { session } = sessionWith();
  const write = session.writer()(async (find) => {
    await find.findToUpdate(asset, newIds(asset.idPrefix, 1));
    await find.lock('tree');
    return { changes: [], returned: [] };
  });

  await expect(write).rejects.toThrow('a write locks what it should have locked before');
});
