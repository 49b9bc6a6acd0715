/** The times of allocations, and which of them clash. query-model.test.ts and write-model.test.ts have more of both. */
import { expect, test } from 'vitest';
import { allocation, asset } from '../../src/records/index.ts';
import { endless } from '../../src/store/writes/tx.ts';
import { byEffort } from '../support/effort.ts';
import { inSteps, insert } from '../support/insert.ts';
import { createDocument, deleteDocument, upsertDocument } from '../support/mutations.ts';
import { storeOpener } from '../support/open-store.ts';
import { createRandom } from '../support/random.ts';
import { type Json, startOn, stopServices, useWorkspaces } from '../support/service.ts';
import { overlap } from '../support/write-model.ts';

const service = useWorkspaces();

const day = (date: number) => `2026-03-${String(date).padStart(2, '0')}T00:00:00.000Z`;

async function createAsset(name = 'Crane'): Promise<string> {
  const [asset] = await service.create('/assets', { name });
  return asset.id;
}

type Allocated = Readonly<Record<'startDate' | 'endDate', string | null>> & { readonly id: string };

async function allocate(assetId: string, ...times: readonly (readonly [number | null, number | null])[]) {
  const input = times.map(([start, end]) => ({
    assetId,
    startDate: start && day(start),
    endDate: end && day(end),
  }));
  const { result } = await service.data(createDocument(allocation, 'id startDate endDate'), { input });
  return result as readonly Allocated[];
}

test('random times clash, and are found by a time, as by the rule', async () => {
  const seed = Date.now();
  const random = createRandom(seed);
  const date = () => (random.chance(0.2) ? null : 1 + random.integer(12));
  const times = Array.from({ length: 60 }, () => [date(), date()] as const);
  const all = await allocate(await createAsset(), ...times);
  await allocate(await createAsset('Another crane'), [1, null]);
  const idsOf = (records: readonly Allocated[]) => records.map(({ id }) => id);

  const { allocations } = await service.data(
    '{ allocations(first: 60) { nodes { id clashes(first: 60) { totalCount nodes { id } } } } }',
  );
  for (const [index, own] of all.entries()) {
    const expected = idsOf(all.filter((other) => other !== own && overlap(own, other)));
    const { clashes } = allocations.nodes[index];
    expect([clashes.totalCount, idsOf(clashes.nodes)], `seed ${seed}`).toEqual([expected.length, expected]);
  }
  const query = `query ($during: DuringFilter!, $asset: String!) {
    allocations(first: 60, where: { during: $during, asset: { name: { eq: $asset } } }) { nodes { id } } }`;
  for (let from = 1; from < 12; from += 1) {
    const during = { from: day(from), to: day(from + 1 + random.integer(3)) };
    const found = await service.data(query, { during, asset: 'Crane' });
    const expected = all.filter((own) => overlap(own, { startDate: during.from, endDate: during.to }));
    expect(idsOf(found.allocations.nodes), `seed ${seed}`).toEqual(idsOf(expected));
  }
});

test('the clashes of all allocations of a page take one statement', async () => {
  await allocate(await createAsset(), [1, 5], [4, 6], [5, 7]);
  const statements = await service.statements(() =>
    service.data('{ allocations { nodes { clashes(orderBy: [{ startDate: ASC }]) { totalCount nodes { id } } } } }'),
  );
  expect(statements).toHaveLength(2);
});

test('with onClash: REJECT, an issue names the allocation that clashes, stored or of the batch', async () => {
  const assetId = await createAsset();
  const [stored] = await allocate(assetId, [2, 5]);
  const input = [
    { assetId, startDate: day(8), endDate: day(9) },
    { assetId, startDate: day(4), endDate: null },
    { assetId, startDate: day(7) },
  ];
  const { body } = await service.graphql(createDocument(allocation), { input, onClash: 'REJECT' });
  expect(body.errors[0].extensions).toMatchObject({
    code: 'CONFLICT',
    issues: [
      {
        path: ['input', 0],
        code: 'clash',
        message: 'item [2] of this batch has this asset at this time',
        other: ['input', 2],
      },
      { path: ['input', 1], code: 'clash', message: `the allocation ${stored?.id} has this asset at this time` },
    ],
  });
  expect((await service.data('{ allocations { totalCount } }')).allocations.totalCount).toBe(1);
});

test('the first allocation by start has the asset, however few allocations of each asset are read at once', async () => {
  const seed = Date.now();
  const random = createRandom(seed);
  const store = storeOpener(service.database)('own');
  const anyTimes = (count: number) =>
    Array.from({ length: count }, () => {
      const start = 1 + random.integer(12);
      return { startDate: day(start), endDate: random.chance(0.1) ? null : day(start + random.integer(4)) };
    });
  for (const assets of [1, 1, 1, 3_000, 5_000, 5_000, 5_000, 10_000, 10_000, 10_000]) {
    const [crane] = await insert(store, asset, [{ name: 'Crane' }]);
    const assetId = String(crane?.id);
    const inputs = anyTimes(9).map((time) => ({ ...time, assetId }));
    const [first, second, ...others] = await insert(store, allocation, inputs);
    const byStart = others.toSorted((a, b) => (`${a.startDate} ${a.id}` < `${b.startDate} ${b.id}` ? -1 : 1));
    const times = anyTimes(40)
      .filter((time) => overlap(time, time))
      .map((time) => ({ ...time, start: time.startDate, end: time.endDate ?? endless }));
    const free = Array.from({ length: assets - 1 }, (_, index) => [`asset ${index}`, times.slice(0, 1)] as const);
    const holders = await inSteps(store, ({ findOccupying }) =>
      findOccupying(allocation, 'assetId', new Map([...free, [assetId, times]]), [`${first?.id}`, `${second?.id}`]),
    );
    for (const time of times) {
      const expected = byStart.find((other) => overlap(time, other))?.id;
      expect(holders.get(time), `seed ${seed}: ${time.start} to ${time.end}, ${assets} assets`).toBe(expected);
    }
  }
});

test('a chain of moves is skipped as a whole if its last time is taken, and nothing else with it', async () => {
  const chain = Array.from({ length: 20 }, (_, index) => [index + 1, index + 2] as const);
  const allocated = await allocate(await createAsset(), ...chain, [21, 22]);
  const [free] = await allocate(await createAsset('Truck'), [1, 2]);
  const moved = allocated
    .slice(0, -1)
    .map(({ id }, index) => ({ id, startDate: day(index + 2), endDate: day(index + 3) }));
  const input = [...moved, { id: free?.id, endDate: day(9) }];
  const options = { by: { field: 'ID' }, onInvalid: 'SKIP', onClash: 'REJECT' };
  const { result } = await service.data(upsertDocument(allocation, 'outcome'), { input, ...options });
  expect(result.map(({ outcome }: Json) => outcome)).toEqual([...moved.map(() => 'REJECTED'), 'UPDATED']);
});

test('of writes that reject clashes at the same time, in two processes, one is stored', async () => {
  const clients = [service, (await startOn(service.url)).as(await service.key())];
  for (let race = 0; race < byEffort({ small: 10, long: 200 }); race += 1) {
    const assetId = await createAsset();
    const variables = { input: [{ assetId, startDate: day(2), endDate: day(3) }], onClash: 'REJECT' };
    const responses = await Promise.all(
      [...clients, ...clients].map(({ graphql }) => graphql(createDocument(allocation), variables)),
    );
    expect(responses.filter(({ body }) => !body.errors)).toHaveLength(1);
  }
  await stopServices();
});

test('an allocation keeps its asset from being deleted, also by a deletion that clears references', async () => {
  const assetId = await createAsset();
  const [kept] = await allocate(assetId, [2, 5]);
  for (const references of ['REFUSE', 'CLEAR']) {
    const { body } = await service.graphql(deleteDocument(asset), { ids: [assetId], references });
    expect(body.errors[0].message).toBe(`[0]: this asset is referenced by 1 allocation: ${kept?.id}`);
  }
});
