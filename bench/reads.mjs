/** Measures lists and GraphQL queries, their floors, and PostGraphile if wanted, after a check that all return the same data. */
import { setTimeout } from 'node:timers/promises';
import { startPeer } from './peers/start.mjs';
import { startServer } from './processes.mjs';
import { peerQueries, queries } from './queries.mjs';
import { asset, category } from './records.mjs';
import { requireSameData } from './same-data.mjs';
import { create, createWorkOrders, measure, pageCursors, runLoad, startService } from './service.mjs';

const connections = 16;
export const list = { kind: 'list', connections };

export async function measureReads(run, database) {
  const service = await startService(database);
  await createWorkOrders(service, run.orders, run.linked);
  await create(service, '/asset-categories', 500, category);
  const sqlFloor = await startServer('sql-floor/server.mjs', [database.url]);
  const peer = run.withPeers ? await startPeer(database) : undefined;
  const reads = [];
  for (const [workload, query] of Object.entries(queries)) {
    if (!run.isWanted(workload.slice(0, 2))) continue;
    const load = await loadOf(query, service);
    const peerLoad = peer && peerQueries[workload] && (await loadOf(peerQueries[workload], peer));
    await requireSameData([service, load], [sqlFloor, load], peerLoad && [peer, peerLoad]);
    reads.push({ workload, load, sqlFloor, peer, peerLoad });
  }
  if (run.isWanted('W5')) {
    const peerLoad = peer && (await loadOf(peerQueries['W5 in GraphQL'], peer));
    await requireSameData([service, list], peerLoad && [peer, peerLoad]);
    reads.push({ workload: 'W5', load: list, peer, peerLoad });
  }
  for (let round = 0; round < run.rounds; round += 1) {
    for (const read of reads) await measureRead(run, service, read);
    await service.cost();
    await create(service, '/assets', 10_000, (n) => asset(n, `blocking-${round}`));
    const { blockedMilliseconds } = await service.cost();
    run.record('batch of 10,000', { blockedMilliseconds, isComplete: true });
  }
  for (const server of [service, sqlFloor, peer]) await server?.stop();
}

/** Measures pages of a million work orders: all over the table, and its first and its last alone. */
export async function measureLinked(run, service) {
  const load = await loadOf(queries.W4, service);
  const { variables } = load;
  const reads = [
    { workload: 'W4, million', load },
    { workload: 'W4, million, first page', load: { ...load, variables: variables.slice(0, 1) } },
    { workload: 'W4, million, last page', load: { ...load, variables: variables.slice(-1) } },
  ];
  for (let round = 0; round < run.rounds; round += 1) {
    for (const read of reads) await measureRead(run, service, read);
  }
}

export async function measureStart({ rounds, idleSeconds, record }, database) {
  for (let round = 0; round < rounds; round += 1) {
    const started = await startService(database);
    // After a while, V8 releases the memory that the start needed.
    await setTimeout(idleSeconds * 1_000);
    const { residentBytes } = await started.cost();
    const { startMilliseconds } = started;
    record('start', { startMilliseconds, idleMegabytes: residentBytes / 1e6, isComplete: true });
    await started.stop();
  }
}

async function measureRead(
  { seconds, floor, postgres, record },
  service,
  { workload, load, sqlFloor, peer, peerLoad },
) {
  const onFloor = await runLoad(floor, { ...list, seconds });
  const onSqlFloor = sqlFloor && (await measure(sqlFloor, { ...load, seconds }, postgres));
  const ours = await measure(service, { ...load, seconds }, postgres);
  const onPeer = peerLoad && (await measure(peer, { ...peerLoad, seconds }, postgres));
  record(workload, {
    ...ours,
    isComplete: [ours, onSqlFloor, onPeer].every((figures) => !figures?.bad),
    floorPerSecond: onFloor.perSecond,
    sqlFloor: onSqlFloor,
    peer: onPeer,
  });
}

/** The load of a query, with its variables, or with the cursors of the list that it pages through. */
export async function loadOf({ pages, variables, ...query }, server) {
  const cursors = pages && (await pageCursors(server, pages));
  return { kind: 'query', connections, ...query, variables: variables ?? cursors.map((after) => ({ after })) };
}
