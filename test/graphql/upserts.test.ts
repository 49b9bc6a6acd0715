/** Upserts: records are found by a key of another system, and created or changed. */
import { describe, expect, test, vi } from 'vitest';
import { asset, location, transportOrder, workOrder } from '../../src/records/index.ts';
import { isPostgres } from '../support/database.ts';
import { upsertDocument } from '../support/mutations.ts';
import { numberOf } from '../support/open-store.ts';
import { kinds } from '../support/records.ts';
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
    return body.errors?.[0].extensions;
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
    expect((await issuesOf(orders))?.issues).toEqual([
      { path: ['input', 0, 'reference'], message: `2 work orders have the reference "WO-1": ${a.id}, ${b.id}` },
    ]);
    const locations = service.graphql(upsertDocument(location), { ...byErp, input: [{ externalIds: { erp: '1' } }] });
    expect((await issuesOf(locations))?.issues).toEqual([
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
