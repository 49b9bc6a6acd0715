/** The feed of three processes that write at once, one of which is killed: its consumers get every change once, in order. */
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { createDatabase } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { eventReader } from '../support/event-stream.ts';
import { ask, post, useProcesses } from '../support/process.ts';
import { createRandom } from '../support/random.ts';

const processes = useProcesses();

const total = byEffort({ small: 5_000, long: 20_000 });
const seed = Number(process.env.FEED_SEED ?? Date.now());
const random = createRandom(seed);

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
    const response = await (isUpdate
      ? fetch(`${address}/projects/${project.id}`, {
          method: 'PATCH',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ name: `Harbour wall ${acknowledged.length}` }),
        })
      : post(`${address}/assets`, records)
    ).catch(() => undefined);
    const body = await response?.json().catch(() => undefined);
    if (!response || !body) return;
    if (!response.ok) throw new Error(`${response.status}: ${JSON.stringify(body)}`);
    if (isUpdate) acknowledged.push(`UPDATED ${project.id}`);
    else acknowledged.push(...body.map(({ id }: { id: string }) => `CREATED ${id}`));
  }
}

/** The last change of the test is one of a location. */
const isOver = (read: readonly Change[]): boolean => read.at(-1)?.recordId.startsWith('location_') ?? false;

/** Follows the feed by queries, now on one process and now on another. Between two of them it knows only its cursor. */
async function poll(addresses: readonly string[]): Promise<Change[]> {
  const read: Change[] = [];
  for (let after = '0'; !isOver(read); ) {
    const first = random.pick([10, 100, 1_000]);
    const address = random.pick(addresses) ?? '';
    const { changes } = await ask(address, `{ changes(after: "${after}", first: ${first}) ${selection} }`);
    read.push(...changes.nodes);
    after = changes.endCursor;
  }
  return read;
}

/** The same by a subscription, which is broken off again and again. */
async function subscribe(addresses: readonly string[]): Promise<{ read: Change[]; connections: number }> {
  const read: Change[] = [];
  const url = new URLSearchParams({ query: `subscription { changes(after: "0") ${selection} }` });
  let last: string | undefined;
  for (let connections = 1; ; connections += 1) {
    const connection = new AbortController();
    const response = await fetch(`${random.pick(addresses)}/graphql?${url}`, {
      headers: { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) },
      signal: connection.signal,
    });
    if (!response.body) throw new Error('there is no body');
    const events = eventReader(response.body);
    for (let count = random.integer(60); count >= 0 && !isOver(read); count -= 1) {
      const event = await events.next();
      read.push(...(event?.data.data.changes.nodes ?? []));
      last = event?.id ?? last;
    }
    connection.abort();
    if (isOver(read)) return { read, connections };
  }
}

test(`${total} changes by three processes, one of which is killed: consumers get each once, in order`, async () => {
  const database = await createDatabase();
  const nodes = Array.from({ length: 3 }, () => processes.start({ DATABASE_URL: database.url, LOG_LEVEL: 'silent' }));
  const addresses = await Promise.all(nodes.map(({ ready }) => ready()));
  const living = addresses.slice(0, 2);
  const acknowledged: string[] = [];

  const polling = poll(living);
  const subscribing = subscribe(living);
  const writing = Promise.all(
    addresses.flatMap((address) => [write(address, acknowledged), write(address, acknowledged)]),
  );
  await expect.poll(() => acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(total / 3);
  nodes[2]?.child.kill('SIGKILL');
  await writing;
  const [last] = await (await post(`${living[0]}/locations`, [{ name: 'North yard' }])).json();
  acknowledged.push(`CREATED ${last.id}`);
  const polled = await polling;
  const { read: subscribed, connections } = await subscribing;

  expect(
    polled.map(({ cursor }) => Number(cursor)),
    `seed ${seed}`,
  ).toEqual(polled.map((_, index) => index + 1));
  expect(subscribed, `seed ${seed}`).toEqual(polled);
  expect(connections).toBeGreaterThan(1);
  // What was acknowledged is there as often as it was acknowledged; what was being written when the process was killed may be.
  const counts = new Map<string, number>();
  for (const { action, recordId } of polled) {
    counts.set(`${action} ${recordId}`, (counts.get(`${action} ${recordId}`) ?? 0) + 1);
  }
  for (const change of acknowledged) counts.set(change, (counts.get(change) ?? 0) - 1);
  const others = [...counts].filter(([, count]) => count !== 0);
  expect(others.filter(([, count]) => count < 0)).toEqual([]);
  expect(others.length).toBeLessThanOrEqual(2 * 300);
  // And no change of the feed is of a batch that was not stored.
  const opened = await openDatabase(database.url);
  const rows = await opened.run('select id from assets where workspace_id = 1');
  await opened.close();
  expect(new Set(rows.map(({ id }) => String(id)))).toEqual(
    new Set(polled.filter(({ recordId }) => recordId.startsWith('asset_')).map(({ recordId }) => recordId)),
  );
  for (const { child } of nodes) child.kill('SIGKILL');
  await Promise.all(nodes.map(({ exited }) => exited));
  await database.remove();
}, 240_000);
