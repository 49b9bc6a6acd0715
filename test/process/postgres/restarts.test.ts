/**
 * Clients write while Postgres restarts and connections are cut: each write of those that repeat what was lost, at two services in turn, is
 * carried out exactly once, and a client that repeats nothing gets a 503 that says whether its batch may be stored.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Yardgraph } from '../../../client/index.ts';
import { recordKinds, transportOrder } from '../../../src/records/index.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { useShortDelays } from '../../support/client.ts';
import { requireConsistentLog } from '../../support/consistent-log.ts';
import { startDroppingProxy } from '../../support/dropping-proxy.ts';
import { byEffort } from '../../support/effort.ts';
import { storeOpener } from '../../support/open-store.ts';
import { query, startPostgres } from '../../support/postgres.ts';
import { postOnce } from '../../support/process.ts';
import { createRandom } from '../../support/random.ts';
import { listen, startService } from '../../support/service.ts';

// Only the first of many delays: the server is away for seconds.
useShortDelays();

const restarts = byEffort({ small: 1, long: 20 });
const cuts = byEffort({ small: 5, long: 50 });
const clients = 4;
const batchSize = 10;
const messages =
  /^(?:the database is not available, try again|the service is overloaded, try again|connection lost during commit: check whether the records were stored before retrying)$/;
const writesBetween = 40;

test(`${restarts} restarts of Postgres and ${cuts} cuts: every write that is repeated is stored once, every other one whole or not at all`, async () => {
  const postgres = await startPostgres();
  const settings = { DATABASE_URL: postgres.url, DATABASE_CONNECTION_TIMEOUT: '2000' };
  const services = [await startService(settings), await startService(settings)];
  const addresses = await Promise.all(services.map(({ app }) => listen(app)));
  let requests = 0;
  const { integer } = createRandom(7);
  const next = () => {
    requests += 1;
    return addresses[requests % addresses.length] ?? '';
  };
  const proxy = await startDroppingProxy(next, 0.1, () => integer(1_000) / 1_000);
  const yardgraph = new Yardgraph({ serverURL: proxy.url, retries: 100 });
  /** `ACTION ID` for each change that was acknowledged. */
  const acknowledged: string[] = [];
  let writes = 0;
  let isOver = false;

  const keep = (action: string, records: readonly { readonly id: string }[]) => {
    writes += 1;
    acknowledged.push(...records.map(({ id }) => `${action} ${id}`));
  };

  async function write(client: number): Promise<void> {
    for (let round = 0; !isOver; round += 1) {
      const size = [1, 3, 50][round % 3] ?? 1;
      const item = (n: number, name: string) => ({ name, uid: `${client}-${round}-${n}` });
      const created = await yardgraph.assets.create(Array.from({ length: size }, (_, n) => item(n, 'Crane')));
      keep('created', created);
      const ids = created.map(({ id }) => id);
      keep('updated', await yardgraph.assets.update(ids.map((id) => ({ id, name: 'Excavator' }))));
      const input = Array.from({ length: 2 * size }, (_, n) => item(n, 'Pump'));
      const upserted = await yardgraph.assets.upsert({ field: 'UID' }, input);
      for (const outcome of ['CREATED', 'UPDATED']) {
        const ofOutcome = upserted.filter((item) => item.outcome === outcome);
        keep(
          outcome.toLowerCase(),
          ofOutcome.map(({ record }) => record),
        );
      }
      const { locations = [], projects = [] } = await yardgraph.importRecords({
        locations: [{ ref: 'yard', name: 'North yard' }],
        projects: [{ name: 'Harbour wall', location: { ref: 'yard' } }],
      });
      keep('created', [...locations, ...projects]);
      for (const { id } of projects)
        keep('updated', [await yardgraph.projects.update(String(id), { notes: `phase ${round}` })]);
      keep('deleted', await yardgraph.assets.delete(ids));
    }
  }

  /** The names of the batches that were acknowledged to the client that repeats nothing. */
  const batches: string[] = [];
  const failures: unknown[] = [];
  async function writeOnce(): Promise<void> {
    for (let n = 0; !isOver; n += 1) {
      const response = await postOnce(
        `${addresses[0]}/transport-orders`,
        Array(batchSize).fill({ name: `batch ${n}` }),
      );
      const body = await response.json();
      if (response.status === 201) batches.push(`batch ${n}`);
      else failures.push([response.status, response.headers.get('retry-after'), body]);
      await pause(10);
    }
  }

  const writing = Promise.all([writeOnce(), ...Array.from({ length: clients }, (_, client) => write(client))]);
  for (let round = 0; round < restarts; round += 1) {
    const before = writes;
    while (writes < before + writesBetween) await pause(5);
    await postgres.halt(round % 2 === 0 ? 'immediate' : 'fast');
    await pause(100);
    await postgres.start();
  }
  for (let cut = 0; cut < cuts; cut += 1) {
    await pause(20);
    const ofService = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'yardgraph'";
    await query(postgres.url, ofService);
  }
  isOver = true;
  await writing;
  await proxy.stop();
  for (const { stop } of services) await stop();

  const database = await openDatabase(postgres.url);
  const store = storeOpener(database)('default');
  const log = await store.changes({ after: 0, limit: 1_000_000, withBefore: false });
  const repeated = log.filter(({ kind }) => kind !== transportOrder.name);
  expect(repeated.map(({ action, id }) => `${action} ${id}`).toSorted()).toEqual(acknowledged.toSorted());
  const stored = new Map<unknown, number>();
  for (const { name } of await store.list(transportOrder)) stored.set(name, (stored.get(name) ?? 0) + 1);
  expect(batches.filter((name) => stored.get(name) !== batchSize)).toEqual([]);
  expect([...stored].filter(([, count]) => count !== batchSize)).toEqual([]);
  expect(failures.length).toBeGreaterThan(0);
  for (const failure of failures) {
    const body = { error: expect.stringMatching(messages), code: '503' };
    // A client that simply repeats a batch that may be stored would store it twice.
    const isSafe = JSON.stringify(failure).includes('try again');
    expect(failure).toEqual([503, isSafe ? '1' : null, body]);
  }
  await requireConsistentLog(store, recordKinds);
  await database.close();
  await postgres.stop();
  console.info(`${writes} writes, ${requests} requests, lost: ${JSON.stringify(proxy.dropped)}`);
}, 240_000);
