/** The client behind a proxy that loses requests and responses: whatever it acknowledges is stored once. */
import { expect, test } from 'vitest';
import { Yardgraph } from '../../client/index.ts';
import { asset, project } from '../../src/records/index.ts';
import { clientOf, useShortDelays } from '../support/client.ts';
import { startDroppingProxy } from '../support/dropping-proxy.ts';
import { byEffort } from '../support/effort.ts';
import { storeOpener } from '../support/open-store.ts';
import { createRandom } from '../support/random.ts';
import { listen, useService } from '../support/service.ts';

const service = useService({ LOG_LEVEL: 'silent' });
useShortDelays();

const batches = byEffort({ small: 200, long: 2_000 });
const seed = Number(process.env.DROPPED_SEED ?? Date.now());
const random = createRandom(seed);
const resolution = 1_000_000;
const atOnce = 100;
const batchSize = 3;

test(`${batches} batches and changes through lost connections: none is stored twice, and none is lost`, async () => {
  const direct = await clientOf(service);
  const [wall] = await direct.projects.create([{ name: 'Harbour wall' }]);
  const url = await listen(service.app);
  const proxy = await startDroppingProxy(
    () => url,
    0.3,
    () => random.integer(resolution) / resolution,
  );
  const yardgraph = new Yardgraph({ serverURL: proxy.url, retries: 20 });
  const acknowledged = new Map<string, string>();

  const send = async (n: number) => {
    const names = Array.from({ length: batchSize }, (_, index) => `Crane ${n}-${index}`);
    const records = names.map((name) => ({ name }));
    const created =
      n % 10 === 0
        ? (
            await yardgraph.graphql(
              'mutation ($input: [CreateAssetInput!]!) { createAssets(input: $input) { id name } }',
              { input: records },
            )
          ).createAssets
        : await yardgraph.assets.create(records);
    for (const { id, name } of created) acknowledged.set(name, id);
    if (n % 10 === 1) await yardgraph.projects.update(wall.id, { notes: `phase ${n}` });
  };
  let next = 0;
  const workers = Array.from({ length: atOnce }, async () => {
    while (next < batches) {
      next += 1;
      await send(next - 1);
    }
  });
  await Promise.all(workers);
  await proxy.stop();

  const store = storeOpener(service.database)('default');
  const stored = await store.list(asset);
  expect(stored.length, `seed ${seed}`).toBe(batches * batchSize);
  expect(new Map(stored.map(({ name, id }) => [name, id]))).toEqual(acknowledged);
  const changes = await store.changes({ after: 0, limit: 1_000, kinds: [project.name], withBefore: false });
  expect(changes).toHaveLength(1 + batches / 10);
  expect(Math.min(proxy.dropped.requests, proxy.dropped.responses)).toBeGreaterThan(batches / 10);
  console.info(`lost: ${proxy.dropped.requests} requests and ${proxy.dropped.responses} responses`);
}, 180_000);
