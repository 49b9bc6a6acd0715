/** Upserts: records are found by a key of another system, and created or changed. */
import { describe, expect, test, vi } from 'vitest';
import { asset, location, transportOrder, workOrder } from '../../src/records/index.ts';
import { isPostgres } from '../support/database.ts';
import { placesIn } from '../support/issues.ts';
import { upsertDocument } from '../support/mutations.ts';
import { numberOf } from '../support/open-store.ts';
import { kinds, unknownId } from '../support/records.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

const fields = (record: string) => `outcome record { id ${record} }`;
const upsertAssets = (input: object[], options: object = {}) =>
  service.graphql(upsertDocument(asset, fields('name uid externalIds updatedAt createdAt')), {
    by: { field: 'UID' },
    input,
    ...options,
  });
const byErp = { by: { externalId: 'erp' } };
const outcomes = (items: { outcome: string }[]) => items.map(({ outcome }) => outcome);
const changeCount = async () => (await service.data('{ changeCursor }')).changeCursor;

test('an upsert of what is stored already writes nothing, whatever the form of its values', async () => {
  const sent = {
    name: 'Crane',
    uid: 'C-7',
    acquiredAt: '2020-02-17T09:30:00+01:00',
    externalIds: { erp: '4711', telematics: 'T-1' },
  };
  const [{ updatedAt }] = await service.create('/assets', sent);
  const before = await changeCount();

  const { body } = await upsertAssets([
    { ...sent, acquiredAt: '2020-02-17T08:30:00.000Z', externalIds: { telematics: 'T-1', erp: '4711' } },
  ]);

  expect(body.data.result).toMatchObject([{ outcome: 'UNCHANGED', record: { updatedAt } }]);
  expect(await changeCount()).toBe(before);
});

test.each([
  ['transport orders by reference', transportOrder, { field: 'REFERENCE' }, { reference: 'TO-1' }],
  ['transport orders by number', transportOrder, { field: 'NUMBER' }, { number: '2026-0001' }],
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

describe('an upsert is refused, and nothing is stored,', () => {
  const issuesOf = async (response: ReturnType<typeof service.graphql>) => {
    const before = await changeCount();
    const { body } = await response;
    expect(await changeCount()).toBe(before);
    const { code, issues } = body.errors[0].extensions;
    return { code, issues: placesIn(issues) };
  };

  test.each([
    ['reference', workOrder, { field: 'REFERENCE' }, (reference: string) => ({ reference })],
    ['externalIds', workOrder, { externalId: 'erp' }, (erp: string) => ({ externalIds: { erp } })],
  ] as const)('if the %s that finds the records is empty, whatever is stored', async (field, kind, by, item) => {
    const path = kinds.find((each) => each.kind === kind)?.path ?? '';
    const [{ id }] = await service.create(path, item(''));
    const atKey = (index: number) => ['input', index, field, ...(field === 'externalIds' ? ['erp'] : [])];
    const expected = `expected a value to find the ${kind.label} by`;

    const upserted = service.graphql(upsertDocument(kind), { by, input: [item(''), item('1'), item(''), item(' \n')] });

    expect(await issuesOf(upserted)).toEqual({
      code: 'BAD_USER_INPUT',
      issues: [
        { path: atKey(0), message: `${expected}, received ""` },
        { path: atKey(2), message: `${expected}, received ""` },
        { path: atKey(3), message: `${expected}, received " \\n"` },
      ],
    });
    const stored = await service.data(`query ($id: ID!) { node(id: $id) { ... on ${kind.name} { ${field} } } }`, {
      id,
    });
    expect(stored.node[field]).toEqual((item('') as Record<string, unknown>)[field]);
  });

  test('if an item matches several records, which are named', async () => {
    const [a, b] = await service.create('/work-orders', { reference: 'WO-1' }, { reference: 'WO-1' });
    const many = await service.create('/locations', ...Array(6).fill({ externalIds: { erp: '1' } }));

    const orders = service.graphql(upsertDocument(workOrder), {
      by: { field: 'REFERENCE' },
      input: [{ reference: 'WO-1' }],
    });
    expect((await issuesOf(orders)).issues).toEqual([
      { path: ['input', 0, 'reference'], message: `2 work orders have the reference "WO-1": ${a.id}, ${b.id}` },
    ]);
    const locations = service.graphql(upsertDocument(location), { ...byErp, input: [{ externalIds: { erp: '1' } }] });
    expect((await issuesOf(locations)).issues).toEqual([
      {
        path: ['input', 0, 'externalIds', 'erp'],
        message: `several locations have the external ID "1" of "erp": ${many
          .slice(0, 3)
          .map(({ id }: { id: string }) => id)
          .join(', ')}, …`,
      },
    ]);
  });
});

test('of several upserts of a key at once, one creates the record', async () => {
  const upsert = (n: number) =>
    service.data(upsertDocument(workOrder), { by: { field: 'REFERENCE' }, input: [{ reference: `WO-${n}` }] });

  for (let round = 0; round < 2; round += 1) {
    const results = await Promise.all(Array.from({ length: 4 }, () => upsert(round)));

    expect(outcomes(results.flatMap(({ result }) => result)).toSorted()).toEqual([
      'CREATED',
      ...Array(3).fill('UNCHANGED'),
    ]);
  }
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
    if (isPostgres) await vi.waitFor(async () => expect(await waitingCount()).toBe('1'), { timeout: 30_000 });
  });

  expect(outcomes((await upserted)?.result)).toEqual(['CREATED']);
  const { workOrders } = await service.data('{ workOrders { nodes { reference notes } } }');
  expect(workOrders.nodes).toEqual([
    { reference: 'moved', notes: 'first' },
    { reference: 'WO-1', notes: 'second' },
  ]);
});

describe('an upsert by ID', () => {
  const upsertDocumentBy = (onInvalid: string, selected: string) => `mutation ($input: [UpsertAssetInput!]!) {
    result: upsertAssets(by: { field: ID }, input: $input, onInvalid: ${onInvalid}) { ${selected} } }`;
  const selected = 'outcome record { id name uid externalIds } before { name uid externalIds } issues { path message }';
  const upsert = (input: object[], onInvalid = 'FAIL') =>
    service.graphql(upsertDocumentBy(onInvalid, selected), { input });

  /** Five items that are valid, and five that are not, with the issues of each. */
  async function mixedBatch() {
    const [crane, pump, saw] = await service.create(
      '/assets',
      { name: 'Crane', uid: 'C-7', externalIds: { erp: '1', crm: '2' } },
      { name: 'Pump' },
      { name: 'Saw', uid: 'S-1' },
    );
    const [yard] = await service.create('/locations', { name: 'Yard' });
    const other = service.as(await service.key({ workspace: 'other' }));
    const [theirs] = await other.create('/assets', { name: 'Theirs' });
    const missing = unknownId(asset);
    const none = (id: string) => `there is no asset with the ID "${id}"`;
    const valid = [
      { id: crane.id, name: 'Tower crane', mergeExternalIds: { erp: null, sap: '3' } },
      { id: pump.id, name: 'Pump', uid: null },
      { name: 'New', uid: 'N-1', currentLocation: { name: 'Yard' } },
      { id: null, name: 'Newer', mergeExternalIds: { erp: '9', crm: null } },
      { id: saw.id, uid: 'S-2' },
    ];
    const invalid: [item: object, path: string, message: string][] = [
      [{ id: missing }, 'id', `${none(missing)} in this workspace`],
      [{ id: theirs.id }, 'id', `${none(theirs.id)} in this workspace`],
      [{ id: yard.id }, 'id', `${none(yard.id)}: this is the ID of a location`],
      [{ id: 'ERP-1' }, 'id', `${none('ERP-1')}: IDs of this service start with asset_`],
      [{ id: crane.id }, 'id', `item [0] of this batch also has the ID "${crane.id}"`],
      [{ uid: 'X' }, 'name', 'required: the name of the asset'],
    ];
    return { valid, invalid, crane, pump, saw, yard };
  }

  test('changes the records with the IDs, creates the others, and says what was before', async () => {
    const { valid, invalid, crane, pump, saw } = await mixedBatch();

    const { body } = await upsert([...valid, ...invalid.map(([item]) => item)], 'SKIP');

    const before = { uid: null, externalIds: null };
    const [first, second, third, fourth, fifth, ...rejected] = body.data.result;
    expect(first).toEqual({
      outcome: 'UPDATED',
      record: { id: crane.id, name: 'Tower crane', uid: 'C-7', externalIds: { crm: '2', sap: '3' } },
      before: { name: 'Crane', uid: 'C-7', externalIds: { erp: '1', crm: '2' } },
      issues: [],
    });
    expect(second).toMatchObject({
      outcome: 'UNCHANGED',
      record: { id: pump.id },
      before: { ...before, name: 'Pump' },
    });
    expect(third).toMatchObject({ outcome: 'CREATED', record: { name: 'New', uid: 'N-1' }, before: null });
    expect(fourth).toMatchObject({ outcome: 'CREATED', record: { externalIds: { erp: '9' } }, before: null });
    expect(fifth).toMatchObject({ outcome: 'UPDATED', record: { id: saw.id, uid: 'S-2' }, before: { uid: 'S-1' } });
    expect(rejected).toEqual(
      invalid.map(([, path, message]) => ({
        outcome: 'REJECTED',
        record: null,
        before: null,
        issues: [{ path: [path], message }],
      })),
    );
  });

  test('stores nothing if one item is invalid, and lists all that are', async () => {
    const { valid, invalid } = await mixedBatch();
    const cursor = await changeCount();

    const { body } = await upsert([...valid, ...invalid.map(([item]) => item)]);

    expect(await changeCount()).toBe(cursor);
    expect(placesIn(body.errors[0].extensions.issues)).toEqual(
      invalid.map(([, path, message], index) => ({ path: ['input', valid.length + index, path], message })),
    );
  });

  test('is repeated with its key, and returns what was before the first one', async () => {
    const [{ id }] = await service.create('/assets', { name: 'Crane' });
    const query = upsertDocumentBy('FAIL', 'outcome record { id name } before { name }');
    const send = () =>
      service.post(
        '/graphql',
        { query, variables: { input: [{ id, name: 'Tower crane' }, { name: 'New' }] } },
        { 'idempotency-key': id },
      );

    const first = await send();
    const second = await send();

    expect(first.body.data.result).toMatchObject([{ before: { name: 'Crane' } }, { outcome: 'CREATED', before: null }]);
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotency-replayed']).toBe('true');
  });

  test.each(kinds.map(({ kind }) => [kind.pluralLabel, kind] as const))('works for %s', async (_, kind) => {
    const item = kind.fields.name?.required ? { name: 'x' } : {};
    const key = kind.fields.key ? { key: 'STATUS:x' } : {};
    const upserted = async (sent: object) =>
      (await service.data(upsertDocument(kind), { by: { field: 'ID' }, input: [sent] })).result;

    const [created] = await upserted({ ...item, ...key });

    expect(created.outcome).toBe('CREATED');
    expect(await upserted({ id: created.record.id, name: 'y' })).toEqual([{ ...created, outcome: 'UPDATED' }]);
  });

  test('by another key refuses an ID', async () => {
    const input = [{ id: unknownId(asset), name: 'Crane', uid: 'C-7' }];
    const { body } = await service.graphql(upsertDocument(asset), { by: { field: 'UID' }, input });

    expect(body.errors[0].message).toBe('[0].id: read-only field, set by the service');
  });
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
