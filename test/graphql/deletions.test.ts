/** `deleteAssets` and its like: what still refers to a record keeps it from being deleted, or loses the reference. */
import { describe, expect, test } from 'vitest';
import type { RecordKind } from '../../src/model/record-kind.ts';
import { location } from '../../src/records/index.ts';
import { deleteDocument } from '../support/mutations.ts';
import { startService, useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

const remove = (kind: RecordKind, ids: readonly string[], options: object = {}) =>
  service.graphql(deleteDocument(kind, 'id name'), { ids, ...options });

const exists = async (id: string): Promise<boolean> =>
  (await service.data(`{ node(id: "${id}") { id } }`)).node !== null;

/** A location, with a project, work orders and an asset at it. */
async function yardInUse() {
  const [yard, other] = await service.create('/locations', { name: 'North yard' }, { name: 'South yard' });
  const at = { locationId: yard.id };
  const [wall] = await service.create('/projects', { name: 'Harbour wall', ...at });
  const orders = await service.create('/work-orders', { name: 'Set up the crane', projectId: wall.id, ...at }, at, {
    locationId: other.id,
  });
  const [crane] = await service.create('/assets', { name: 'Crane', currentLocationId: yard.id });
  return { yard, other, wall, orders, crane };
}

test('a record that others refer to is a CONFLICT, which says how many there are, and names the first', async () => {
  const { yard, other, wall, orders, crane } = await yardInUse();

  const { body } = await remove(location, [other.id, yard.id]);

  expect(body.errors[0].extensions).toEqual({
    code: 'CONFLICT',
    issues: [
      {
        path: ['ids', 0],
        message: `this location is referenced by 1 work order: ${orders[2].id}; delete it first, or send references: CLEAR`,
      },
      {
        path: ['ids', 1],
        message: `this location is referenced by 1 asset, 2 work orders and 1 project: ${crane.id}, ${orders[0].id}, ${orders[1].id}, …; delete them first, or send references: CLEAR`,
      },
    ],
  });
  expect(await exists(other.id)).toBe(true);
  const mixed = await remove(location, [yard.id, wall.id]);
  expect(mixed.body.errors[0].extensions).toMatchObject({
    code: 'BAD_USER_INPUT',
    issues: [{ path: ['ids', 0] }, { path: ['ids', 1] }],
  });
});

test('more references than a batch may have are not cleared', async () => {
  const small = await startService({ MAX_BATCH: '2' });
  const [yard] = await small.create('/locations', { name: 'North yard' });
  const at = { locationId: yard.id };
  await small.create('/work-orders', at, at);
  await small.create('/projects', { name: 'Harbour wall', ...at });

  const { body } = await small.graphql(deleteDocument(location), { ids: [yard.id], references: 'CLEAR' });
  const tooMany = await small.graphql(deleteDocument(location), { ids: ['a', 'b', 'c'] });
  await small.stop();

  expect(body.errors[0]).toMatchObject({
    message:
      'expected at most 2 references to clear, there are more: delete fewer records at once, or first change the records that refer to them',
    extensions: { code: 'BAD_USER_INPUT' },
  });
  expect(tooMany.body.errors[0].message).toBe('expected at most 2 records, received 3: send them in several batches');
});

describe('a deletion by keys', () => {
  const removeByKeys = (keys: unknown, by: object = { externalId: 'erp' }) =>
    service.graphql(
      'mutation ($by: AssetKey, $keys: [String!]) { result: deleteAssets(by: $by, keys: $keys) { id name } }',
      { by, keys },
    );

  test('deletes the records that have them, in the order sent', async () => {
    const [crane, pump, truck] = await service.create(
      '/assets',
      { name: 'Crane', externalIds: { erp: '1' }, uid: 'C-7' },
      { name: 'Pump', externalIds: { erp: '2' } },
      { name: 'Truck', externalIds: { erp: '3' } },
    );

    const { body } = await removeByKeys(['2', '1']);

    expect(body.data.result).toEqual([
      { id: pump.id, name: 'Pump' },
      { id: crane.id, name: 'Crane' },
    ]);
    expect(await exists(truck.id)).toBe(true);
    const [other] = await service.create('/assets', { name: 'Crane', uid: 'C-8' });
    expect((await removeByKeys(['C-8'], { field: 'UID' })).body.data.result).toEqual([{ id: other.id, name: 'Crane' }]);
  });

  test('lists every key that does not identify one record, and deletes nothing', async () => {
    const [crane, a, b] = await service.create(
      '/assets',
      { name: 'Crane', externalIds: { erp: '1' } },
      { name: 'Pump', externalIds: { erp: '2' } },
      { name: 'Pump', externalIds: { erp: '2' } },
    );

    const { body } = await removeByKeys(['1', '9', '2', '1', '', 'a\u0000']);

    const erp = (value: string) => `the external ID "${value}" of "erp"`;
    expect(body.errors[0].extensions).toEqual({
      code: 'BAD_USER_INPUT',
      issues: [
        { path: ['keys', 1], message: `there is no asset with ${erp('9')} in this workspace` },
        { path: ['keys', 2], message: `2 assets have ${erp('2')}: ${a.id}, ${b.id}` },
        { path: ['keys', 3], message: `item [0] of this batch also has ${erp('1')}` },
        { path: ['keys', 4], message: 'expected a value to find the asset by, received ""' },
        { path: ['keys', 5], message: 'expected text without the character NUL, received "a\\u0000"' },
      ],
    });
    expect(await exists(crane.id)).toBe(true);
  });

  test('is refused with IDs beside the keys, and without one of key and values', async () => {
    const messageOf = async (args: string) =>
      (await service.graphql(`mutation { deleteAssets${args} { id } }`)).body.errors[0].message;

    const expected = 'expected either ids, or by and keys; received';
    expect(await messageOf('')).toBe(`${expected} none of them`);
    expect(await messageOf('(ids: ["a"], keys: ["1"])')).toBe(`${expected} ids and keys`);
    expect(await messageOf('(by: { externalId: "erp" })')).toBe(`${expected} by`);
    expect(await messageOf('(keys: ["1"])')).toBe(`${expected} keys`);
  });
});
