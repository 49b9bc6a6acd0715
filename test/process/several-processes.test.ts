/**
 * Three processes that share a database and write at once: each request is carried out once, references stay whole, and the feed, of which
 * one process is killed amid its writes, has every change once, in order. PROCESSES_SEED repeats a run.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assetCategory, location, workOrder } from '../../src/records/index.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrationNames } from '../../src/store/schema/migrations.ts';
import { createDatabase, isPostgres } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { eventReader } from '../support/event-stream.ts';
import { deleteDocument, updateDocument } from '../support/mutations.ts';
import { ask, patiently, post, useSharedProcesses } from '../support/process.ts';
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

/** Statements that read what is stored, past the processes. */
async function query(sql: string) {
  const opened = await openDatabase(database.url);
  const rows = await opened.run(sql);
  await opened.close();
  return rows;
}

test('that start at once on an empty database leave one clean schema', async () => {
  const applied = await query('select name from knex_migrations order by id');
  expect(applied.map(({ name }) => name)).toEqual(migrationNames);
});

/** Sends a request, and says whether its response is that of an earlier one. */
const send = async (address: string, method: string, path: string, body: unknown, key?: string) => {
  const headers = { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) };
  const options = { method, headers, body: JSON.stringify(body) };
  const response = await patiently(() => fetch(`${address}${path}`, options));
  return {
    status: response.status,
    text: await response.text(),
    isReplayed: response.headers.has('idempotency-replayed'),
  };
};

const repeatRounds = byEffort({ small: 3, long: 300 });

test(`that get the same requests at once carry out each of them once, in ${repeatRounds} rounds`, async () => {
  const at = (n: number) => addresses[n % addresses.length] ?? '';
  const [wall] = JSON.parse((await send(at(0), 'POST', '/projects', [{ name: 'Harbour wall' }])).text);

  for (let round = 0; round < repeatRounds; round += 1) {
    const assets = [{ name: `Crane ${round}`, uid: `CR-${round}` }, { name: 'Pump' }];
    const creates = [0, 1, 2, 3, 4, 5].map((n) => send(at(n), 'POST', '/assets', assets, `create ${round}`));
    const changes = [0, 1, 2].map((n) =>
      send(at(n), 'PATCH', `/projects/${wall.id}`, { notes: `phase ${round}` }, `change ${round}`),
    );
    // Others that share their group commits, and must not suffer.
    const alone = [0, 1, 2].map((n) => send(at(n), 'POST', '/locations', [{ name: 'Yard' }], `alone ${round} ${n}`));

    const created = await Promise.all(creates);
    const changed = await Promise.all(changes);
    const unaffected = await Promise.all(alone);
    expect(created.map(({ status }) => status)).toEqual(created.map(() => 201));
    for (const same of [created, changed]) {
      expect(new Set(same.map(({ text }) => text)).size).toBe(1);
      expect(same.filter(({ isReplayed }) => !isReplayed)).toHaveLength(1);
    }
    expect(unaffected.map(({ status, isReplayed }) => [status, isReplayed])).toEqual(Array(3).fill([201, false]));
  }

  const { assets, locations } = await ask(at(1), '{ assets { totalCount } locations { totalCount } }');
  expect([assets.totalCount, locations.totalCount]).toEqual([2 * repeatRounds, 3 * repeatRounds]);
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

const total = byEffort({ small: 2_000, long: 20_000 });

interface Change {
  readonly cursor: string;
  readonly action: string;
  readonly recordId: string;
}

const selection = '{ nodes { cursor action recordId } endCursor hasMore }';

/** Writes batches of assets and changes projects, until enough was acknowledged or the process is gone. */
async function write(address: string, acknowledged: string[]): Promise<void> {
  const [project] = await (await post(`${address}/projects`, [{ name: 'Harbour wall' }])).json();
  acknowledged.push(`CREATED ${project.id}`);
  while (acknowledged.length < total) {
    const size = random.pick([1, 1, 5, 50, 300]) ?? 1;
    const records = Array.from({ length: size }, () => ({ name: 'Crane' }));
    const isUpdate = random.chance(0.3);
    const body = JSON.stringify({ name: `Harbour wall ${acknowledged.length}` });
    const options = { method: 'PATCH', headers: { 'content-type': 'application/json' }, body };
    const response = await (isUpdate
      ? patiently(() => fetch(`${address}/projects/${project.id}`, options))
      : post(`${address}/assets`, records)
    ).catch(() => undefined);
    const result = await response?.json().catch(() => undefined);
    if (!response || !result) return;
    if (!response.ok) throw new Error(`${response.status}: ${JSON.stringify(result)}`);
    if (isUpdate) acknowledged.push(`UPDATED ${project.id}`);
    else acknowledged.push(...result.map(({ id }: { id: string }) => `CREATED ${id}`));
  }
}

/** The last change of the test is one of a transport order. */
const isOver = (read: readonly Change[]): boolean => read.at(-1)?.recordId.startsWith('transport_order_') ?? false;

/** Follows the feed by a subscription, now on one process and now on another, which is broken off again and again. */
async function subscribe(
  addresses: readonly string[],
  cursor: string,
): Promise<{ read: Change[]; connections: number }> {
  const read: Change[] = [];
  const url = new URLSearchParams({ query: `subscription { changes(after: "${cursor}") ${selection} }` });
  let last: string | undefined;
  for (let connections = 1; ; connections += 1) {
    const connection = new AbortController();
    const response = await fetch(`${random.pick(addresses)}/graphql?${url}`, {
      headers: { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) },
      signal: connection.signal,
    });
    if (!response.body) throw new Error('there is no body');
    const events = eventReader(response.body);
    for (const end = read.length + random.integer(total / 5); read.length <= end && !isOver(read); ) {
      const event = await events.next();
      read.push(...(event?.data.data.changes.nodes ?? []));
      last = event?.id ?? last;
    }
    connection.abort();
    if (isOver(read)) return { read, connections };
  }
}

test(`of which one is killed amid ${total} changes have a feed of which a follower gets each change once, in order`, async () => {
  const earlier = new Set((await query('select id from assets')).map(({ id }) => String(id)));
  const living = addresses.slice(0, 2);
  const acknowledged: string[] = [];

  const { changeCursor } = await ask(next(), '{ changeCursor }');
  const subscribing = subscribe(living, changeCursor);
  const writing = Promise.all(
    addresses.flatMap((address) => [write(address, acknowledged), write(address, acknowledged)]),
  );
  await expect.poll(() => acknowledged.length).toBeGreaterThan(total / 3);
  nodes[2]?.child.kill('SIGKILL');
  await writing;
  const [last] = await (await post(`${living[0]}/transport-orders`, [{ name: 'Crane to the quay' }])).json();
  acknowledged.push(`CREATED ${last.id}`);
  const { read: subscribed, connections } = await subscribing;

  expect(
    subscribed.map(({ cursor }) => Number(cursor)),
    `seed ${seed}`,
  ).toEqual(subscribed.map((_, index) => Number(changeCursor) + index + 1));
  expect(connections).toBeGreaterThan(1);
  // What was acknowledged is there as often as it was acknowledged; what was being written when the process was killed may be.
  const counts = new Map<string, number>();
  for (const { action, recordId } of subscribed) {
    counts.set(`${action} ${recordId}`, (counts.get(`${action} ${recordId}`) ?? 0) + 1);
  }
  for (const change of acknowledged) counts.set(change, (counts.get(change) ?? 0) - 1);
  const others = [...counts].filter(([, count]) => count !== 0);
  expect(others.filter(([, count]) => count < 0)).toEqual([]);
  expect(others.length).toBeLessThanOrEqual(2 * 300);
  // And no change of the feed is of a batch that was not stored.
  const rows = await query('select id from assets');
  const isNew = (id: unknown) => !earlier.has(String(id));
  expect(new Set(rows.map(({ id }) => String(id)).filter(isNew))).toEqual(
    new Set(subscribed.filter(({ recordId }) => recordId.startsWith('asset_')).map(({ recordId }) => recordId)),
  );
}, 240_000);
