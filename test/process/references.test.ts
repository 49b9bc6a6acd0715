/** Several processes change and delete linked records at once: no reference to a deleted record is left, and no cycle of categories. */
import { expect, test } from 'vitest';
import { assetCategory, location, workOrder } from '../../src/records/index.ts';
import { createDatabase } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { deleteDocument, updateDocument } from '../support/mutations.ts';
import { ask, post, useProcesses } from '../support/process.ts';
import { createRandom } from '../support/random.ts';

const processes = useProcesses();

const rounds = byEffort({ small: 5, long: 300 });
const seed = Number(process.env.REFERENCES_SEED ?? Date.now());

test(`three processes that write at once leave no reference to a deleted record and no cycle, in ${rounds} rounds`, async () => {
  const random = createRandom(seed);
  const database = await createDatabase();
  // One migrates a new file before the others open it.
  const addresses: string[] = [];
  for (let node = 0; node < 3; node += 1) addresses.push(await processes.start({ DATABASE_URL: database.url }).ready());
  let turn = 0;
  const node = () => {
    turn += 1;
    return addresses[turn % 3] ?? '';
  };
  const create = async (path: string, ...records: object[]): Promise<string[]> =>
    (await (await post(`${node()}${path}`, records)).json()).map(({ id }: { id: string }) => id);
  const send = async (work: Promise<Response>) => {
    const response = await work;
    expect(response.status, `${await response.clone().text()}, seed ${seed}`).toBeLessThan(500);
  };
  const graphql = (query: string, variables: object) => send(post(`${node()}/graphql`, { query, variables }));

  for (let round = 0; round < rounds; round += 1) {
    const [locations, categories] = [
      await create('/locations', {}, {}, {}),
      await create('/asset-categories', {}, {}, {}, {}),
    ];
    const orders = await create('/work-orders', {}, { locationId: locations[0] }, { locationId: locations[1] });
    const anyOf = (ids: readonly string[]) => random.pick(ids) ?? '';
    const references = () => random.pick(['REFUSE', 'CLEAR']);
    const writes = [
      () => send(post(`${node()}/assets`, [{ name: 'Crane', currentLocationId: anyOf(locations) }])),
      () => send(post(`${node()}/asset-categories`, [{ parentId: anyOf(categories) }])),
      () =>
        graphql(updateDocument(workOrder), {
          input: random.shuffle(orders).map((id) => ({ id, locationId: anyOf(locations) })),
        }),
      () =>
        graphql(updateDocument(assetCategory), {
          input: random
            .shuffle(categories)
            .slice(0, 2)
            .map((id) => ({ id, parentId: anyOf(categories) })),
        }),
      () => graphql(deleteDocument(location), { ids: [anyOf(locations)], references: references() }),
      () => graphql(deleteDocument(assetCategory), { ids: [anyOf(categories)], references: references() }),
    ];

    await Promise.all(random.shuffle([...writes, ...writes, ...writes]).map((write) => write()));
  }

  const { assets, workOrders, assetCategories } = await ask(
    addresses[0] ?? '',
    `{ assets(first: 1000) { nodes { currentLocationId currentLocation { id } } }
      workOrders(first: 1000) { nodes { locationId location { id } } }
      assetCategories(first: 1000) { nodes { id parentId parent { id } } } }`,
  );
  expect(assets.nodes.length).toBeGreaterThan(0);
  expect(workOrders.nodes).toHaveLength(3 * rounds);
  for (const { currentLocationId, currentLocation } of assets.nodes) {
    expect(currentLocation?.id ?? null, `seed ${seed}`).toBe(currentLocationId);
  }
  for (const { locationId, location: found } of workOrders.nodes) {
    expect(found?.id ?? null, `seed ${seed}`).toBe(locationId);
  }
  const parents = new Map<string, string | null>();
  for (const { id, parentId, parent } of assetCategories.nodes) {
    expect(parent?.id ?? null, `seed ${seed}`).toBe(parentId);
    parents.set(id, parentId);
  }
  for (const id of parents.keys()) {
    let level = 0;
    for (let above = parents.get(id); above; above = parents.get(above)) {
      level += 1;
      expect(level, `a cycle, seed ${seed}`).toBeLessThanOrEqual(parents.size);
    }
  }
  await database.remove();
});
