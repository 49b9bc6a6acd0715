/** Batches of writes: what is refused, and what their responses show. test/services/write-model.test.ts has what they store. */
import { expect, test } from 'vitest';
import type { DescribedIssue } from '../../src/model/issues.ts';
import { asset, assetCategory, location, workOrder } from '../../src/records/index.ts';
import { eventually } from '../support/clock.ts';
import { isPostgres } from '../support/database.ts';
import { deleteDocument, importDocument, updateDocument, upsertDocument } from '../support/mutations.ts';
import { numberOf } from '../support/open-store.ts';
import { queryNodes } from '../support/postgres.ts';
import { unknownId } from '../support/records.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

/** `1.name blank` */
const shown = (issues: readonly DescribedIssue[]) =>
  issues.map(({ path, code }) => `${path.slice(1).join('.')} ${code}`);
const outcomes = (items: { outcome: string }[]) => items.map(({ outcome }) => outcome);
const lastChange = async () => (await service.data('{ changeCursor }')).changeCursor;

/** The code and the issues of a write that stores nothing. */
const refusal = async (document: string, variables: object) => {
  const before = await lastChange();
  const { body } = await service.graphql(document, variables);
  expect(body.data).toEqual({ result: null });
  expect(await lastChange()).toBe(before);
  const { code, issues } = body.errors[0].extensions;
  return { code, issues };
};

test('every failing item of an update and every one of an import is listed, with the place of each issue', async () => {
  const [crane, pump] = await service.create('/assets', { name: 'Crane', uid: 'C-7' }, { name: 'Pump' });
  const [yard] = await service.create('/locations', {});
  const input = [
    { id: crane.id, name: 'Other' },
    { id: pump.id, name: ' ', uid: 'C-7', acquiredAt: 'soon', ifUpdatedAt: 'yesterday' },
    { id: unknownId(asset), currentLocationId: unknownId(location) },
    { id: yard.id },
    { id: 'ERP-1' },
    { id: crane.id },
    { name: 'a', ifUpdatedAt: 5 },
    { id: null },
  ];
  const { code, issues } = await refusal(updateDocument(asset), { input });
  expect(code).toBe('BAD_USER_INPUT');
  expect(shown(issues)).toEqual([
    ...['1.ifUpdatedAt invalid-date', '1.name blank', '1.acquiredAt invalid-date', '1.uid taken'],
    ...['2.id no-record', '2.currentLocationId no-record', '3.id no-record', '4.id no-record', '5.id repeated'],
    ...['6.id required', '6.ifUpdatedAt wrong-type', '7.id invalid-id'],
  ]);

  const lists = {
    locations: [{ ref: 'yard', latitude: 91 }],
    projects: [{ ref: 'wall', name: 'Harbour wall', location: { ref: 'crane' } }],
    assets: [{ ref: 'crane', name: 'Crane', currentLocationId: 'x', currentLocation: { ref: 'yard' } }],
    workOrders: [{ project: { externalId: { key: 'erp', value: 'P-7' } } }],
    allocations: [{}, { asset: null }, { assetId: null }, { assetId: 'ERP-1' }, { asset: { name: 'Truck' } }],
  };
  const imported = await refusal(importDocument(), { input: lists });
  expect(shown(imported.issues).toSorted()).toEqual([
    'allocations.0.assetId required',
    'allocations.1.assetId invalid-id',
    'allocations.2.assetId invalid-id',
    'allocations.3.assetId wrong-kind',
    'allocations.4.asset.name no-record',
    'assets.0.currentLocation exclusive',
    'locations.0.latitude out-of-range',
    'projects.0.location.ref wrong-ref',
    'workOrders.0.project.externalId no-record',
  ]);
});

test('a record that others refer to is a CONFLICT, which says how many there are, and names the first', async () => {
  const [yard, other] = await service.create('/locations', { name: 'North yard' }, { name: 'South yard' });
  const at = { locationId: yard.id };
  await service.create('/projects', { name: 'Harbour wall', ...at });
  const orders = await service.create('/work-orders', at, at, { locationId: other.id });
  const [crane] = await service.create('/assets', { name: 'Crane', currentLocationId: yard.id });

  const { code, issues } = await refusal(deleteDocument(location), { ids: [other.id, yard.id] });

  expect(code).toBe('CONFLICT');
  expect(issues.map(({ path, message }: DescribedIssue) => [...path, message.split(';')[0]])).toEqual([
    ['ids', 0, `this location is referenced by 1 work order: ${orders[2].id}`],
    [
      ...['ids', 1],
      `this location is referenced by 1 asset, 2 work orders and 1 project: ${crane.id}, ${orders[0].id}, ${orders[1].id}, …`,
    ],
  ]);
});

test('a deletion by keys lists every key that does not identify one record, and takes either IDs or keys', async () => {
  await service.create('/assets', ...['1', '2', '2'].map((erp) => ({ name: 'Crane', externalIds: { erp } })));
  const keys = ['1', '9', '2', '1', '', 'a\u0000'];

  const { issues } = await refusal(deleteDocument(asset), { by: { externalId: 'erp' }, keys });

  expect(shown(issues)).toEqual(['1 no-record', '2 several', '3 repeated', '4 empty-key', '5 invalid-character']);
  for (const [args, received] of [
    ['', 'none of them'],
    ['(ids: ["a"], keys: ["1"])', 'ids and keys'],
    ['(by: { externalId: "erp" })', 'by'],
    ['(keys: ["1"])', 'keys'],
  ]) {
    const { body } = await service.graphql(`mutation { deleteAssets${args} { id } }`);
    expect(body.errors[0].message).toBe(`expected either ids, or by and keys; received ${received}`);
  }
});

const updateAssets = (...input: object[]) => service.graphql(updateDocument(asset, 'externalIds'), { input });

test('keys of JavaScript are keys of external IDs like any other', async () => {
  const [{ id }] = await service.create('/assets', JSON.parse('{"name":"Crane","externalIds":{"constructor":"1"}}'));
  const { text } = await updateAssets(
    JSON.parse(`{"id":"${id}","mergeExternalIds":{"__proto__":"2","toString":null}}`),
  );
  expect(text).toContain('{"externalIds":{"constructor":"1","__proto__":"2"}}');
  const upsert = { by: { externalId: '__proto__' }, input: [JSON.parse('{"externalIds":{"__proto__":"2"}}')] };
  expect(outcomes((await service.data(upsertDocument(asset), upsert)).result)).toEqual(['UNCHANGED']);
});

test('external IDs to merge are refused beside others, by a key that they clear, and if the record would have too many', async () => {
  const many = (from: number, length: number) =>
    Object.fromEntries(Array.from({ length }, (_, index) => [`k${from + index}`, '1']));
  const [{ id }] = await service.create('/assets', { name: 'Crane', externalIds: many(0, 99) });
  const { body } = await service.graphql(upsertDocument(asset), {
    by: { externalId: 'erp' },
    input: [{ mergeExternalIds: { erp: null } }],
  });
  expect(shown(body.errors[0].extensions.issues)).toEqual(['0.mergeExternalIds.erp key-required']);

  for (const [patch, ...expected] of [
    [{ externalIds: null, mergeExternalIds: { erp: '2' } }, ' exclusive'],
    [{ mergeExternalIds: { erp: 5, crm: '\0' } }, '.erp wrong-type', '.crm invalid-character'],
    [{ mergeExternalIds: ['erp'] }, ' wrong-type'],
    [{ mergeExternalIds: many(200, 2) }, ' too-many-external-ids'],
  ] as const) {
    const { issues } = await refusal(updateDocument(asset), { input: [{ id, ...patch }] });
    expect(shown(issues)).toEqual(expected.map((issue) => `0.mergeExternalIds${issue}`));
  }
  const cleared = Object.fromEntries(Object.keys(many(0, 99)).map((key) => [key, null]));
  const merged = await updateAssets({ id, mergeExternalIds: { ...cleared, ...many(300, 100) } });
  expect(merged.body.data.result).toEqual([{ externalIds: many(300, 100) }]);
});

const dry = (document: string, variables: object) => service.graphql(document, { ...variables, dryRun: true });

test('links between the records of a dry run lead to what they would be', async () => {
  const [root, child] = await service.create('/asset-categories', { name: 'Lifting' }, { name: 'Cranes' });

  const moved = await dry(updateDocument(assetCategory, 'name parent { name }'), {
    input: [
      { id: child.id, parentId: root.id },
      { id: root.id, name: 'Hoisting' },
    ],
  });
  await service.data(updateDocument(assetCategory), { input: [{ id: child.id, parentId: root.id }] });
  const deleted = await dry(deleteDocument(assetCategory, 'name parent { name }'), { ids: [root.id, child.id] });

  expect(moved.body.data.result).toEqual([
    { name: 'Cranes', parent: { name: 'Hoisting' } },
    { name: 'Hoisting', parent: null },
  ]);
  expect(deleted.body.data.result[1]).toEqual({ name: 'Cranes', parent: null });
});

test('what follows a dry run in the same request reads what is stored', async () => {
  const [wall] = await service.create('/projects', { name: 'Harbour wall' });
  const [order] = await service.create('/work-orders', { name: 'Set up the crane', projectId: wall.id });

  const data = await service.data(`mutation {
    updateProjects(input: [{ id: "${wall.id}", name: "Quay" }], dryRun: true) { name }
    deleteProjects(ids: ["${wall.id}"], references: CLEAR, dryRun: true) { name }
    updateWorkOrders(input: [{ id: "${order.id}", notes: "x" }]) { project { name } }
  }`);

  expect(data).toEqual({
    updateProjects: [{ name: 'Quay' }],
    deleteProjects: [{ name: 'Harbour wall' }],
    updateWorkOrders: [{ project: { name: 'Harbour wall' } }],
  });
});

test('a record that gets another key while an upsert waits for it is not the one to change', async () => {
  const [{ id }] = await service.create('/work-orders', { reference: 'WO-1', notes: 'first' });
  let upserted: ReturnType<typeof service.data> | undefined;

  await service.database.transaction(async (run) => {
    await run('update work_orders set reference = $1 where workspace_id = $2 and id = $3', [
      'moved',
      numberOf(service.workspace),
      id,
    ]);
    const input = [{ reference: 'WO-1', notes: 'second' }];
    upserted = service.data(upsertDocument(workOrder), { by: { field: 'REFERENCE' }, input });
    // It has found the record, and waits for its lock. On SQLite it has not even begun.
    const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    if (isPostgres) await eventually(async () => expect(await queryNodes(service.url, waiting)).toHaveLength(1));
  });

  expect(outcomes((await upserted)?.result)).toEqual(['CREATED']);
  const { workOrders } = await service.data('{ workOrders { nodes { reference notes } } }');
  expect(workOrders.nodes).toEqual([
    { reference: 'moved', notes: 'first' },
    { reference: 'WO-1', notes: 'second' },
  ]);
});
