/**
 * Three processes that share a database and write at once: each request is carried out once, references stay whole, and of every kind of write,
 * amid which one process is killed, what was acknowledged is there with its history, and everything else whole or not at all: the feed has every
 * change once, in order. PROCESSES_SEED repeats a run.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assetCategory, location, recordKinds, workOrder } from '../../src/records/index.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrationNames } from '../../src/store/schema/migrations.ts';
import { requireConsistentLog } from '../support/consistent-log.ts';
import { createDatabase, isPostgres } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { eventReader } from '../support/event-stream.ts';
import { startLoad } from '../support/faulty-load.ts';
import { deleteDocument, updateDocument } from '../support/mutations.ts';
import { storeOpener } from '../support/open-store.ts';
import { ask, post, useSharedProcesses } from '../support/process.ts';
import { createRandom } from '../support/random.ts';
import { isInCycle } from '../support/write-model.ts';

const processes = useSharedProcesses();
const seed = Number(process.env.PROCESSES_SEED ?? Date.now());
const random = createRandom(seed);

/** However slow the machine is, no write waits for too long. */
const patient = { DATABASE_CONNECTION_TIMEOUT: '120000', DATABASE_STATEMENT_TIMEOUT: '120000' };

let database: Awaited<ReturnType<typeof createDatabase>>;
let nodes: ReturnType<typeof processes.start>[];
let addresses: string[];
let turn = 0;
const next = (): string => addresses[turn++ % addresses.length] ?? '';

beforeAll(async () => {
  database = await createDatabase({ empty: true });
  const start = () => processes.start({ ...patient, DATABASE_URL: database.url, LOG_LEVEL: 'silent' });
  nodes = isPostgres ? [start(), start(), start()] : [start()];
  addresses = await Promise.all(nodes.map(({ ready }) => ready()));
  // One creates a file before the others open it.
  while (nodes.length < 3) nodes.push(start());
  addresses = await Promise.all(nodes.map(({ ready }) => ready()));
});

afterAll(async () => {
  for (const { child } of nodes) child.kill('SIGKILL');
  await Promise.all(nodes.map(({ exited }) => exited));
  await database.remove();
});

test('that start at once on an empty database leave one clean schema', async () => {
  const opened = await openDatabase(database.url);
  const applied = await opened.run('select name from knex_migrations order by id');
  await opened.close();
  expect(applied.map(({ name }) => name)).toEqual(migrationNames);
});

const referenceRounds = byEffort({ small: 3, long: 300 });

test(`that change and delete linked records leave no reference to a deleted record and no cycle, in ${referenceRounds} rounds`, async () => {
  const create = async (path: string, ...records: object[]): Promise<string[]> =>
    (await (await post(`${next()}${path}`, records)).json()).map(({ id }: { id: string }) => id);
  const send = async (work: Promise<Response>) => {
    const response = await work;
    expect(response.status, `${await response.clone().text()}, seed ${seed}`).toBeLessThan(500);
  };
  const graphql = (query: string, variables: object) => send(post(`${next()}/graphql`, { query, variables }));

  for (let round = 0; round < referenceRounds; round += 1) {
    const [locations, categories] = [
      await create('/locations', {}, {}, {}),
      await create('/asset-categories', {}, {}, {}, {}),
    ];
    const orders = await create('/work-orders', {}, { locationId: locations[0] }, { locationId: locations[1] });
    const anyOf = (ids: readonly string[]) => random.pick(ids) ?? '';
    const references = () => random.pick(['REFUSE', 'CLEAR']);
    const writes = [
      () => send(post(`${next()}/assets`, [{ name: 'Crane', currentLocationId: anyOf(locations) }])),
      () => send(post(`${next()}/asset-categories`, [{ parentId: anyOf(categories) }])),
      () =>
        graphql(updateDocument(workOrder), {
          input: random.shuffle(orders).map((id) => ({ id, locationId: anyOf(locations) })),
        }),
      () =>
        graphql(updateDocument(assetCategory), {
          input: [0, 2].map((n) => ({ id: categories[n], parentId: anyOf(categories) })),
        }),
      () => graphql(deleteDocument(location), { ids: [anyOf(locations)], references: references() }),
      () => graphql(deleteDocument(assetCategory), { ids: [anyOf(categories)], references: references() }),
    ];

    await Promise.all(random.shuffle([...writes, ...writes, ...writes]).map((write) => write()));
  }

  const { assets, workOrders, assetCategories } = await ask(
    next(),
    `{ assets(first: 1000) { nodes { reference: currentLocationId target: currentLocation { id } } }
      workOrders(first: 1000) { nodes { reference: locationId target: location { id } } }
      assetCategories(first: 1000) { nodes { id reference: parentId target: parent { id } } } }`,
  );
  expect(assets.nodes.length).toBeGreaterThan(0);
  expect(workOrders.nodes.length).toBeGreaterThanOrEqual(3 * referenceRounds);
  for (const { reference, target } of [...assets.nodes, ...workOrders.nodes, ...assetCategories.nodes])
    expect(target?.id ?? null, `seed ${seed}`).toBe(reference);
  const parents = new Map<string, string | null>();
  for (const { id, reference } of assetCategories.nodes) parents.set(id, reference);
  expect(
    [...parents.keys()].filter((id) => isInCycle(id, parents)),
    `seed ${seed}`,
  ).toEqual([]);
});

/** Follows the feed by a subscription, now on one process and now on another, which is broken off again and again, until it ends. */
async function subscribe(addresses: readonly string[], cursor: string) {
  const read: { readonly cursor: string; readonly action: string; readonly recordId: string }[] = [];
  // The last change of the test is one of a transport order.
  const isOver = () => read.at(-1)?.recordId.startsWith('transport_order_') ?? false;
  const query = `subscription { changes(after: "${cursor}") { nodes { cursor action recordId } } }`;
  let last: string | undefined;
  for (let connections = 1; ; connections += 1) {
    const connection = new AbortController();
    const response = await fetch(`${random.pick(addresses)}/graphql?${new URLSearchParams({ query })}`, {
      headers: { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) },
      signal: connection.signal,
    });
    if (!response.body) throw new Error('there is no body');
    const events = eventReader(response.body);
    for (const end = read.length + random.integer(240); read.length <= end && !isOver(); ) {
      const event = await events.next();
      read.push(...(event?.data.data.changes.nodes ?? []));
      last = event?.id ?? last;
    }
    connection.abort();
    if (isOver()) return { read, connections };
  }
}

const writes = byEffort({ small: 30, long: 1_000 });

test(`of which one is killed amid ${2 * writes} writes carry out each request once, lose no acknowledged write, leave none half stored, and have a feed of each change once, in order`, async () => {
  const { changeCursor } = await ask(next(), '{ changeCursor }');
  const load = await startLoad(addresses, database.url, random);
  const subscribing = subscribe(addresses.slice(0, 2), changeCursor);
  await load.progress(writes);
  addresses.pop();
  nodes[2]?.child.kill('SIGKILL');
  await load.progress(writes);
  await load.verify();
  await load.stop();

  await post(`${next()}/transport-orders`, [{ name: 'Crane to the quay' }]);
  const { read, connections } = await subscribing;
  // Whoever opens the file next recovers what none has moved into it.
  for (const { child } of nodes) child.kill('SIGKILL');
  await Promise.all(nodes.map(({ exited }) => exited));
  const opened = await openDatabase(database.url);
  const store = storeOpener(opened)('default');
  const changes = await store.changes({ after: Number(changeCursor), limit: 1_000_000, withBefore: false });
  const health = isPostgres ? [] : await opened.run('pragma integrity_check');
  await requireConsistentLog(store, recordKinds);
  await opened.close();

  expect(connections).toBeGreaterThan(1);
  expect(
    read.map(({ cursor, recordId }) => [cursor, recordId]),
    `seed ${seed}`,
  ).toEqual(changes.map(({ number, id }) => [String(number), id]));
  expect(health).toEqual(isPostgres ? [] : [{ integrity_check: 'ok' }]);
}, 240_000);
