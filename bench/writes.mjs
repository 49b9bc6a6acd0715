/**
 * Measures creates, on new tables and on tables of a million records, with their floors: on SQLite the bare loops, on Postgres
 * PostGraphile if wanted.
 */
import { setTimeout } from 'node:timers/promises';
import { copyOf, oneIndex, thisLayout } from './bare-loop/run.mjs';
import { startPeer } from './peers/start.mjs';
import { peerCreate } from './queries.mjs';
import { measureLinked } from './reads.mjs';
import { asset } from './records.mjs';
import { count, create, createWorkOrders, measure, measureWarm, post, runLoad, startService } from './service.mjs';
import { percentile } from './table.mjs';

/** Measures each round on new, empty tables. */
export async function measureCreates(run, workload, load) {
  for (let round = 0; round < run.rounds; round += 1) {
    const name = `${workload}_${round}`.toLowerCase();
    const database = await run.createDatabase(name);
    const bareLoops = prepareBareLoops(run, database);
    await measureWrites(run, workload, database, load, async () => ({
      ...(await bareLoops(load.size)),
      peer: run.withPeers ? await measurePeer(run, await run.createDatabase(`peer_${name}`)) : undefined,
    }));
  }
}

/** Measures the service, and then the floors; `measureFloors` returns the figures of those that are not servers. */
async function measureWrites(run, workload, database, { size, connections }, measureFloors) {
  const { seconds, floor, postgres } = run;
  const load = { kind: 'create', size, connections, seconds };
  const onFloor = await runLoad(floor, { ...load, repeat: true });
  const server = await startService(database);
  // Warms up in another workspace, so that the measured one is unchanged.
  await runLoad({ ...server, key: server.otherKey }, { ...load, seconds: seconds / 2 });
  const before = await count(server, 'assets');
  const ours = await measureWarm(server, load, postgres);
  const stored = (await count(server, 'assets')) - before;
  if (size === 1_000) run.record(`create beside ${workload}`, await measureBeside(server, load));
  await server.stop();
  const floors = await measureFloors();
  run.record(workload, {
    ...ours,
    // Requests in flight when the measurement ended may be stored too.
    isComplete:
      ours.bad === 0 &&
      !floors.peer?.bad &&
      stored >= ours.responses * size &&
      stored <= (ours.responses + connections) * size,
    perSecond: ours.perSecond * size,
    cpuMicroseconds: ours.cpuMicroseconds / size,
    databaseCpuMicroseconds: ours.databaseCpuMicroseconds / size,
    floorPerSecond: onFloor.perSecond * size,
    ...floors,
  });
}

/** Measures creates of one asset by eight clients, while another workspace sends the load. */
async function measureBeside(server, load) {
  const others = { ...server, key: server.otherKey };
  const before = await count(server, 'assets');
  let isLoaded = true;
  const loaded = runLoad(server, load).finally(() => {
    isLoaded = false;
  });
  // The load is generated before it is sent.
  while (isLoaded && (await count(server, 'assets')) === before) await setTimeout(10);
  const times = [];
  const start = performance.now();
  const createUntilLoaded = async (_, client) => {
    for (let n = 0; isLoaded; n += 1) {
      const sent = performance.now();
      await post(others, '/assets', [asset(n, `beside-${client}-${start}`)]);
      times.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: 8 }, createUntilLoaded));
  const { bad } = await loaded;
  return {
    perSecond: times.length / ((performance.now() - start) / 1_000),
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    isComplete: bad === 0,
  };
}

/** PostGraphile has no batches. It is fastest with many clients that create one record per request, also on new tables. */
async function measurePeer({ seconds, postgres }, database) {
  const peer = await startPeer(database);
  const figures = await measure(peer, { kind: 'mutation', connections: 32, seconds, query: peerCreate }, postgres);
  await peer.stop();
  return figures;
}

/** Measures W3 on a table of a million assets. */
export async function measureMillion(run) {
  const database = await run.createDatabase('million');
  const server = await startService(database);
  await create(server, '/assets', run.million, (n) => asset(n, 'million'));
  await server.stop();
  const bareLoops = prepareBareLoops(run, database, run.million);
  for (let round = 0; round < run.rounds; round += 1) {
    await measureWrites(run, 'W3, million', database, { size: 1_000, connections: 4 }, () => bareLoops(1_000));
  }
}

/** Measures W4 on a million work orders. */
export async function measureMillionOrders(run) {
  const server = await startService(await run.createDatabase('million_orders'));
  await createWorkOrders(server, run.million, run.linked);
  await measureLinked(run, server);
  await server.stop();
}

/**
 * Copies the file of a database, and returns what measures the bare loops after the service has written to it. They commit 1,000
 * records at a time, or single ones if the requests have one each.
 */
function prepareBareLoops({ postgres, seconds }, database, existing) {
  if (postgres) return () => ({});
  const files = copyOf(database);
  return async (requestSize) => {
    const size = requestSize === 1 ? 1 : 1_000;
    return {
      oneIndexPerSecond: await oneIndex(`${files.file}.one-index`, { size, seconds, existing }),
      layoutPerSecond: await thisLayout(files, { size, seconds }),
    };
  };
}
