/**
 * Three processes that share a database and write at once: each request is carried out once, references stay whole, and of every kind of write,
 * amid which one process is killed, what was acknowledged is there with its history, and everything else whole or not at all: the feed has every
 * change once, in order. PROCESSES_SEED repeats a run.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asset, assetCategory, location, recordKinds, workOrder } from '../../src/records/index.ts';
import { openDatabase } from '../../src/store/database.ts';
import type { LoggedChange } from '../../src/store/log.ts';
import { migrationNames } from '../../src/store/schema/migrations.ts';
import { requireConsistentLog } from '../support/consistent-log.ts';
import { createDatabase, isPostgres } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { eventReader } from '../support/event-stream.ts';
import { deleteDocument, importDocument, updateDocument, upsertDocument } from '../support/mutations.ts';
import { storeOpener } from '../support/open-store.ts';
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

const total = byEffort({ small: 1_200, long: 40_000 });

/** What a request changes, as `ACTION KIND` for each record. */
type Effect = readonly string[];

interface Sent {
  readonly effect: Effect;
  /** With an Idempotency-Key, which every second request has. */
  readonly hasKey: boolean;
  send(address: string): Promise<Response>;
  text?: string;
}

const times = (count: number, change: string): Effect => Array(count).fill(change);

/** Writes in its own records, one kind of write after the other, until enough was written or the process is gone. */
async function write(address: string, name: string, sent: Map<string, Sent>, isOver: () => boolean): Promise<void> {
  let requests = 0;

  /** The response's records; undefined once the process is gone. */
  async function send(effect: Effect, method: string, path: string, body: unknown) {
    requests += 1;
    const id = `${name}-${requests}`;
    const hasKey = requests % 2 === 0;
    const headers = {
      ...{ 'content-type': 'application/json', 'x-request-id': id },
      ...(hasKey && { 'idempotency-key': id }),
    };
    const options = { method, headers, body: JSON.stringify(body) };
    const request: Sent = { effect, hasKey, send: (to) => patiently(() => fetch(`${to}${path}`, options)) };
    sent.set(id, request);
    // A request with a key goes to two processes at once, the first of which is not killed.
    const sending = [address, ...(hasKey ? addresses.slice(0, 1) : [])].map(async (to) => {
      const response = await request.send(to);
      return { text: await response.text(), isReplayed: response.headers.has('idempotency-replayed'), response };
    });
    const [received, same] = await Promise.all(sending).catch(() => []);
    if (!received) return undefined;
    const { text, response } = received;
    const result = JSON.parse(text);
    if (!response.ok || result.errors) throw new Error(`${response.status}: ${text}`);
    if (same) expect([same.text, same.isReplayed]).toEqual([text, !received.isReplayed]);
    request.text = text;
    return path === '/graphql' ? (Object.values(result.data)[0] as never) : result;
  }

  const mutate = (effect: Effect, query: string, variables: object) =>
    send(effect, 'POST', '/graphql', { query, variables });

  for (let round = 0; !isOver(); round += 1) {
    const size = [1, 3, 50][round % 3] ?? 1;
    const uid = (n: number) => `${name}-${round}-${n}`;
    const items = Array.from({ length: size }, (_, n) => ({ name: 'Crane', uid: uid(n) }));
    const created: { id: string }[] | undefined = await send(times(size, 'created Asset'), 'POST', '/assets', items);
    const [project] = (await send(['created Project'], 'POST', '/projects', [{ name: 'Harbour wall' }])) ?? [];
    if (!created || !project) return;
    const ids = created.map(({ id }) => id);
    const site = {
      locations: [{ ref: 'yard', name: 'North yard' }],
      projects: [{ ref: 'wall', name: 'Harbour wall', location: { ref: 'yard' } }],
      workOrders: Array(size).fill({ name: 'Set up the crane', project: { ref: 'wall' } }),
    };
    const steps = [
      () => send(['updated Project'], 'PATCH', `/projects/${project.id}`, { name: `Quay ${round}` }),
      () =>
        mutate(times(size, 'updated Asset'), updateDocument(asset), {
          input: ids.map((id) => ({ id, name: 'Excavator' })),
        }),
      () =>
        mutate([...times(size, 'updated Asset'), ...times(size, 'created Asset')], upsertDocument(asset), {
          by: { field: 'UID' },
          input: Array.from({ length: 2 * size }, (_, n) => ({ uid: uid(n), name: 'Pump' })),
        }),
      () =>
        mutate(['created Location', 'created Project', ...times(size, 'created WorkOrder')], importDocument(), {
          input: site,
        }),
      () => mutate(times(size, 'deleted Asset'), deleteDocument(asset), { ids }),
    ];
    for (const step of steps) if (!(await step())) return;
  }
}

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
    for (const end = read.length + random.integer(total / 5); read.length <= end && !isOver(); ) {
      const event = await events.next();
      read.push(...(event?.data.data.changes.nodes ?? []));
      last = event?.id ?? last;
    }
    connection.abort();
    if (isOver()) return { read, connections };
  }
}

test(`of which one is killed amid ${total} changes carry out each request once, lose no acknowledged write, leave none half stored, and have a feed of each change once, in order`, async () => {
  const living = addresses.slice(0, 2);
  const sent = new Map<string, Sent>();
  const acknowledged = () => [...sent.values()].reduce((sum, { text, effect }) => sum + (text ? effect.length : 0), 0);
  const { changeCursor } = await ask(next(), '{ changeCursor }');
  const subscribing = subscribe(living, changeCursor);
  const writing = Promise.all(
    [...addresses, ...addresses].map((address, n) => write(address, `w${n}`, sent, () => acknowledged() >= total)),
  );
  await Promise.race([writing, expect.poll(acknowledged).toBeGreaterThan(total / 3)]);
  nodes[2]?.child.kill('SIGKILL');
  await writing;
  addresses = living;

  // A repeat with a key gets what was stored, or stores it.
  for (const [id, request] of sent) {
    if (!request.hasKey) continue;
    const response = await request.send(next());
    const text = await response.text();
    expect([id, response.ok || text]).toEqual([id, true]);
    if (request.text !== undefined)
      expect([text, response.headers.get('idempotency-replayed')]).toEqual([request.text, 'true']);
    request.text = text;
  }
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
  const byRequest = new Map<string | null, LoggedChange[]>();
  for (const change of changes) byRequest.set(change.requestId, [...(byRequest.get(change.requestId) ?? []), change]);
  for (const [id, { effect, text }] of sent) {
    const found = (byRequest.get(id) ?? []).map(({ action, kind }) => `${action} ${kind}`);
    if (text !== undefined || found.length > 0) expect([id, found.toSorted()]).toEqual([id, effect.toSorted()]);
  }
}, 240_000);
