/** Simultaneous batches with the same unique values in different orders, from two nodes. */
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { createDatabase } from '../../support/database.ts';
import { query } from '../../support/postgres.ts';
import { createRandom } from '../../support/random.ts';
import { startService } from '../../support/service.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
let nodes: Awaited<ReturnType<typeof startService>>[];
let deadlocksBefore: number;

/** The server counts deadlocks when connections end, and keeps the count of a database that is used again. */
async function deadlocks(): Promise<number> {
  const name = new URL(database.url).pathname.slice(1);
  const [row] = await query(
    inject('postgres') ?? '',
    `select deadlocks from pg_stat_database where datname = '${name}'`,
  );
  return Number(row?.deadlocks);
}

beforeEach(async () => {
  database = await createDatabase();
  deadlocksBefore = await deadlocks();
  const settings = { DATABASE_URL: database.url };
  nodes = [await startService(settings, { closed: true }), await startService(settings)];
});

afterEach(async () => {
  for (const node of nodes) await node.stop();
  const found = (await deadlocks()) - deadlocksBefore;
  await database.remove();
  expect(found).toBe(0);
});

test('one batch is stored, the others are 409, and no deadlock occurs', async () => {
  const random = createRandom(7);
  const key = (await nodes[0]?.key()) ?? '';
  const clients = nodes.map((node) => node.as(key));

  const uids = Array.from({ length: 200 }, (_, n) => `uid ${n}`);
  const responses = await Promise.all(
    Array.from({ length: 24 }, (_, n) => {
      const assets = random.shuffle(uids).map((uid) => ({ name: 'Pump', uid }));
      return clients[n % 2]?.post('/assets', assets);
    }),
  );

  const statuses = responses.map((response) => response?.status).toSorted();
  expect(statuses).toEqual([201, ...Array(23).fill(409)]);
});
