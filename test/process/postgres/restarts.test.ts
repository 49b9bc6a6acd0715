/** Clients write at two services in turn while Postgres restarts and connections are cut, and repeat what was lost. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Yardgraph } from '../../../client/index.ts';
import { recordKinds } from '../../../src/records/index.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { useShortDelays } from '../../support/client.ts';
import { requireConsistentLog } from '../../support/consistent-log.ts';
import { startDroppingProxy } from '../../support/dropping-proxy.ts';
import { byEffort } from '../../support/effort.ts';
import { storeOpener } from '../../support/open-store.ts';
import { query, startPostgres } from '../../support/postgres.ts';
import { createRandom } from '../../support/random.ts';
import { listen, startService } from '../../support/service.ts';

// Only the first of many delays: the server is away for seconds.
useShortDelays();

const restarts = byEffort({ small: 1, long: 20 });
const cuts = byEffort({ small: 5, long: 50 });
const clients = 4;
const writesBetween = 40;

test(`${restarts} restarts of Postgres and ${cuts} cuts: every write is stored once`, async () => {
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

  const writing = Promise.all(Array.from({ length: clients }, (_, client) => write(client)));
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
  expect(log.map(({ action, id }) => `${action} ${id}`).toSorted()).toEqual(acknowledged.toSorted());
  await requireConsistentLog(store, recordKinds);
  await database.close();
  await postgres.stop();
  console.info(`${writes} writes, ${requests} requests, lost: ${JSON.stringify(proxy.dropped)}`);
}, 240_000);
