/** Batches of writes: what is refused, and what their responses show. test/services/write-model.test.ts has what they store. */
import { describe, expect, test } from 'vitest';
import type { DescribedIssue } from '../../src/model/issues.ts';
import { asset, assetCategory, location, transportOrder, workOrder } from '../../src/records/index.ts';
import { eventually } from '../support/clock.ts';
import { isPostgres } from '../support/database.ts';
import { deleteDocument, importDocument, updateDocument, upsertDocument } from '../support/mutations.ts';
import { numberOf } from '../support/open-store.ts';
import { unknownId } from '../support/records.ts';
import { startService, useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

const placesIn = (issues: readonly DescribedIssue[]) => issues.map(({ path, message }) => ({ path, message }));
const outcomes = (items: { outcome: string }[]) => items.map(({ outcome }) => outcome);
const lastChange = async () => (await service.data('{ changeCursor }')).changeCursor;

/** The code and the issues of a write that stores nothing. */
const refusal = async (document: string, variables: object) => {
  const before = await lastChange();
  const { body } = await service.graphql(document, variables);
  expect(body.data).toEqual({ result: null });
  expect(await lastChange()).toBe(before);
  const { code, issues } = body.errors[0].extensions;
  return { code, issues: placesIn(issues) };
};

const erp = (value: string) => ({ externalId: { key: 'erp', value } });

test('every failing item of an update is listed, with its position and the reason', async () => {
  const [crane, pump] = await service.create('/assets', { name: 'Crane', uid: 'C-7' }, { name: 'Pump' });
  const [yard] = await service.create('/locations', {});
  const missing = unknownId(asset);
  const nowhere = unknownId(location);
  const input = [
    { id: crane.id, name: 'Other' },
    { id: pump.id, name: ' ', uid: 'C-7', acquiredAt: 'soon', ifUpdatedAt: 'yesterday' },
    { id: missing, currentLocationId: nowhere },
    { id: yard.id },
    { id: 'ERP-1' },
    { id: crane.id },
    { name: 'a', ifUpdatedAt: 5 },
    { id: null },
  ];

  const { code, issues } = await refusal(updateDocument(asset), { input });

  expect(code).toBe('BAD_USER_INPUT');
  expect(issues).toEqual([
    {
      path: ['input', 1, 'ifUpdatedAt'],
      message: 'expected a date such as 2026-03-01 or 2026-03-01T07:30:00Z, received "yesterday"',
    },
    {
      path: ['input', 1, 'name'],
      message: 'expected text with at least one character that is not white space, received " "',
    },
    {
      path: ['input', 1, 'acquiredAt'],
      message: 'expected a date such as 2026-03-01 or 2026-03-01T07:30:00Z, received "soon"',
    },
    { path: ['input', 1, 'uid'], message: 'another asset has the uid "C-7"' },
    { path: ['input', 2, 'id'], message: `there is no asset with the ID "${missing}" in this workspace` },
    {
      path: ['input', 2, 'currentLocationId'],
      message: `there is no location with the ID "${nowhere}" in this workspace`,
    },
    {
      path: ['input', 3, 'id'],
      message: `there is no asset with the ID "${yard.id}": this is the ID of a location`,
    },
    {
      path: ['input', 4, 'id'],
      message: 'there is no asset with the ID "ERP-1": IDs of this service start with asset_',
    },
    { path: ['input', 5, 'id'], message: `item [0] of this batch also has the ID "${crane.id}"` },
    { path: ['input', 6, 'id'], message: 'required: the ID of the asset, given by the service' },
    {
      path: ['input', 6, 'ifUpdatedAt'],
      message: 'expected a date such as 2026-03-01 or 2026-03-01T07:30:00Z, received 5',
    },
    { path: ['input', 7, 'id'], message: 'expected an ID of 1 to 255 characters, received null' },
  ]);
});

test('every issue of every kind of an import is listed, with its path', async () => {
  const input = {
    locations: [{ ref: 'yard', latitude: 91 }],
    projects: [{ ref: 'wall', name: 'Harbour wall', location: { ref: 'crane' } }],
    assets: [{ ref: 'crane', name: 'Crane', currentLocationId: 'x', currentLocation: { ref: 'yard' } }],
    workOrders: [{ project: erp('P-7') }],
  };

  const { issues } = await refusal(importDocument(), { input });

  const byPath = new Map(issues.map(({ path, message }) => [path.slice(1).join('.'), message]));
  expect(Object.fromEntries(byPath)).toEqual({
    'locations.0.latitude': 'expected a number from -90 to 90, received 91',
    'projects.0.location.ref': 'expected the ref of a location, "crane" is the ref of an asset',
    'assets.0.currentLocation': 'expected currentLocationId or currentLocation, received both',
    'workOrders.0.project.externalId': 'there is no project with the external ID "P-7" of "erp" in this workspace',
  });
});

test('each list of an import costs as much as was sent for it', async () => {
  const input = { locations: Array.from({ length: 999 }, () => ({})), projects: [{ name: 'Harbour wall' }] };

  const { body, headers } = await service.graphql(
    importDocument('locations { id name } assets { id } projects { id name location { name } }'),
    { input },
  );

  expect(body.errors).toBeUndefined();
  expect(body.data.result.locations).toHaveLength(999);
  expect(headers['query-cost']).toBe(String(10 * 1_000 + 2 * 999 + (2 + 5 + 1) + 4 * 5));
});

test('a record that others refer to is a CONFLICT, which says how many there are, and names the first', async () => {
  const [yard, other] = await service.create('/locations', { name: 'North yard' }, { name: 'South yard' });
  const at = { locationId: yard.id };
  await service.create('/projects', { name: 'Harbour wall', ...at });
  const orders = await service.create('/work-orders', at, at, { locationId: other.id });
  const [crane] = await service.create('/assets', { name: 'Crane', currentLocationId: yard.id });

  expect(await refusal(deleteDocument(location), { ids: [other.id, yard.id] })).toEqual({
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

  test('lists every key that does not identify one record, and deletes nothing', async () => {
    const [, a, b] = await service.create(
      '/assets',
      { name: 'Crane', externalIds: { erp: '1' } },
      { name: 'Pump', externalIds: { erp: '2' } },
      { name: 'Pump', externalIds: { erp: '2' } },
    );

    const { body } = await removeByKeys(['1', '9', '2', '1', '', 'a\u0000']);

    const named = (value: string) => `the external ID "${value}" of "erp"`;
    const { code, issues } = body.errors[0].extensions;
    expect(code).toBe('BAD_USER_INPUT');
    expect(placesIn(issues)).toEqual([
      { path: ['keys', 1], message: `there is no asset with ${named('9')} in this workspace` },
      { path: ['keys', 2], message: `2 assets have ${named('2')}: ${a.id}, ${b.id}` },
      { path: ['keys', 3], message: `item [0] of this batch also has ${named('1')}` },
      { path: ['keys', 4], message: 'expected a value to find the asset by, received ""' },
      { path: ['keys', 5], message: 'expected text without the character NUL, received "a\\u0000"' },
    ]);
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

const updateAssets = (...input: object[]) => service.graphql(updateDocument(asset, 'externalIds'), { input });
const upsertAssets = (input: object[]) => service.graphql(upsertDocument(asset), { by: { externalId: 'erp' }, input });

test('keys of JavaScript are keys of merged external IDs like any other', async () => {
  const [{ id }] = await service.create('/assets', JSON.parse('{"name":"Crane","externalIds":{"constructor":"1"}}'));
  const { text } = await updateAssets(
    JSON.parse(`{"id":"${id}","mergeExternalIds":{"__proto__":"2","toString":null}}`),
  );
  expect(text).toContain('{"externalIds":{"constructor":"1","__proto__":"2"}}');
});

describe('an item with external IDs to merge is rejected', () => {
  const many = (from: number, length: number) =>
    Object.fromEntries(Array.from({ length }, (_, index) => [`k${from + index}`, '1']));
  const issuesOf = (response: Awaited<ReturnType<typeof updateAssets>>) =>
    response.body.errors?.[0].extensions.issues.map(({ path, message }: { path: unknown[]; message: string }) => [
      path.slice(2).join('.'),
      message,
    ]);

  test('with both fields, with anything but texts and nulls, and by a key that it clears', async () => {
    const [{ id }] = await service.create('/assets', { name: 'Crane', externalIds: { erp: '1' } });
    const both = 'expected externalIds or mergeExternalIds, received both';

    expect(issuesOf(await updateAssets({ id, externalIds: null, mergeExternalIds: { erp: '2' } }))).toEqual([
      ['mergeExternalIds', both],
    ]);
    expect(issuesOf(await updateAssets({ id, mergeExternalIds: { erp: 5, crm: '\0' } }))).toEqual([
      ['mergeExternalIds.erp', 'expected text or null, received 5'],
      ['mergeExternalIds.crm', expect.stringContaining('NUL')],
    ]);
    expect(issuesOf(await updateAssets({ id, mergeExternalIds: ['erp'] }))).toEqual([
      ['mergeExternalIds', 'expected an object of texts such as {"erp":"4711","crm":null}, received an array'],
    ]);
    expect(issuesOf(await upsertAssets([{ mergeExternalIds: { erp: null } }]))).toEqual([
      ['mergeExternalIds.erp', 'required: records are found by this external ID'],
    ]);
  });

  test('if the record would have too many, and not for those that it clears', async () => {
    const [{ id }] = await service.create('/assets', { name: 'Crane', externalIds: many(0, 99) });
    const cleared = Object.fromEntries(Object.keys(many(0, 99)).map((key) => [key, null]));

    expect(issuesOf(await updateAssets({ id, mergeExternalIds: many(200, 2) }))).toEqual([
      ['mergeExternalIds', 'expected at most 100 keys, received 101, including those of the stored asset'],
    ]);
    const { body } = await updateAssets({ id, mergeExternalIds: { ...cleared, ...many(300, 100) } });
    expect(body.data.result).toEqual([{ externalIds: many(300, 100) }]);
  });
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

test('an upsert of what is stored already writes nothing, whatever the form of its values', async () => {
  const sent = {
    name: 'Crane',
    uid: 'C-7',
    acquiredAt: '2020-02-17T09:30:00+01:00',
    externalIds: { erp: '4711', telematics: 'T-1' },
  };
  const [{ updatedAt }] = await service.create('/assets', sent);
  const before = await lastChange();

  const input = [{ ...sent, acquiredAt: '2020-02-17T08:30:00.000Z', externalIds: { telematics: 'T-1', erp: '4711' } }];
  const document = upsertDocument(asset, 'outcome record { updatedAt }');
  const { result } = await service.data(document, { by: { field: 'UID' }, input });

  expect(result).toEqual([{ outcome: 'UNCHANGED', record: { updatedAt } }]);
  expect(await lastChange()).toBe(before);
});

test.each([
  ['transport orders by reference', transportOrder, { field: 'REFERENCE' }, { reference: 'TO-1' }],
  ['texts as long as they may be', workOrder, { field: 'REFERENCE' }, { reference: 'é'.repeat(500) }],
  [
    'external IDs with unusual names',
    location,
    { externalId: '__proto__' },
    JSON.parse('{"externalIds":{"__proto__":"x"}}'),
  ],
] as const)('%s are found again', async (_, kind, by, item) => {
  const document = upsertDocument(kind);
  const first = await service.data(document, { by, input: [item] });
  const second = await service.data(document, { by, input: [item] });
  expect([...outcomes(first.result), ...outcomes(second.result)]).toEqual(['CREATED', 'UNCHANGED']);
  expect(second.result[0].record.id).toBe(first.result[0].record.id);
});

const waitingCount = async () => {
  const activity =
    "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  const [row] = await service.database.run(activity);
  return String(row?.count);
};

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
    if (isPostgres) await eventually(async () => expect(await waitingCount()).toBe('1'));
  });

  expect(outcomes((await upserted)?.result)).toEqual(['CREATED']);
  const { workOrders } = await service.data('{ workOrders { nodes { reference notes } } }');
  expect(workOrders.nodes).toEqual([
    { reference: 'moved', notes: 'first' },
    { reference: 'WO-1', notes: 'second' },
  ]);
});

test('an upsert by another key refuses an ID', async () => {
  const input = [{ id: unknownId(asset), name: 'Crane', uid: 'C-7' }];
  const { body } = await service.graphql(upsertDocument(asset), { by: { field: 'UID' }, input });
  expect(body.errors[0].message).toBe('[0].id: read-only field, set by the service');
});

test('what was before is read and stored only if it is selected', async () => {
  const [{ id }] = await service.create('/assets', { name: 'Crane', uid: 'only-before' });
  const keyed = async (selected: string) => {
    const query = upsertDocument(asset, selected);
    const variables = { by: { field: 'ID' }, input: [{ id, uid: null, name: `${selected} crane` }] };
    await service.post('/graphql', { query, variables }, { 'idempotency-key': selected });
    const [row] = await service.database.run(
      'select result from idempotency_keys where workspace_id = $1 and key = $2',
      [numberOf(service.workspace), selected],
    );
    return String(row?.result);
  };

  expect(await keyed('outcome')).not.toContain('before');
  expect(await keyed('outcome before { name }')).toContain('"before"');
});

test('a deletion by the key ID is one by IDs', async () => {
  const [{ id }] = await service.create('/assets', { name: 'Crane' });
  const { deleteAssets } = await service.data(
    `mutation ($keys: [String!]) { deleteAssets(by: { field: ID }, keys: $keys) { id } }`,
    { keys: [id] },
  );
  expect(deleteAssets).toEqual([{ id }]);
});
