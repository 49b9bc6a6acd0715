/** Measures creates, on new tables and on tables of a million records, and the bare loop, which writes as many into a copy. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPeer } from './peers/start.mjs';
import { runModule } from './processes.mjs';
import { peerCreate } from './queries.mjs';
import { measureLinked } from './reads.mjs';
import { asset } from './records.mjs';
import {
  count,
  create,
  createWorkOrders,
  measure,
  measureWarm,
  migrate,
  prepareDatabase,
  runLoad,
  startService,
} from './service.mjs';

/** Measures each round on new, empty tables. */
export async function measureCreates(run, workload, load) {
  for (let round = 0; round < run.rounds; round += 1) {
    const database = await run.createDatabase(`${workload}_${round}`.toLowerCase());
    await measureWrites(run, workload, database, load, () => createFile(run, `bare-${workload}-${round}`));
  }
}

/** Measures the service; then the bare loop writes as many records into a file like the service's before. */
async function measureWrites(run, workload, database, { size, connections }, newBareFile) {
  const { seconds, floor, postgres } = run;
  const load = { kind: 'create', size, connections, seconds };
  const onFloor = await runLoad(floor, load);
  const server = await startService(database);
  // Warms up in another workspace, so that the measured one is unchanged.
  await runLoad({ ...server, key: server.otherKey }, { ...load, seconds: seconds / 2 });
  const before = await count(server, 'assets');
  const ours = await measureWarm(server, load, postgres);
  const stored = (await count(server, 'assets')) - before;
  await server.stop();
  const onPeer = run.withPeers && size === 1 ? await measurePeer(run, database, load) : undefined;
  const bare = run.postgres ? {} : await bareLoop(await newBareFile(), stored, 1);
  run.record(workload, {
    ...ours,
    // Requests in flight when the measurement ended may be stored too.
    isComplete:
      ours.bad === 0 &&
      !onPeer?.bad &&
      stored >= ours.responses * size &&
      stored <= (ours.responses + connections) * size,
    perSecond: ours.perSecond * size,
    cpuMicroseconds: ours.cpuMicroseconds / size,
    databaseCpuMicroseconds: ours.databaseCpuMicroseconds / size,
    floorPerSecond: onFloor.perSecond * size,
    barePerSecond: bare.thousands,
    bareSinglesPerSecond: bare.singles,
    peer: onPeer,
  });
}

/** PostGraphile creates one record per request, also on new tables. */
async function measurePeer(run, { url }, load) {
  const peer = await startPeer(await run.createDatabase(`peer_${new URL(url).pathname.slice(1)}`));
  const figures = await measure(peer, { ...load, kind: 'mutation', query: peerCreate }, run.postgres);
  await peer.stop();
  return figures;
}

/** Measures on tables of a million records: W3, compared with the bare loop on a copy of the file, and then W4. */
export async function measureMillion(run) {
  const { folder, rounds, million } = run;
  const file = await createFile(run, 'million');
  const copy = join(folder, 'million-bare.db');
  const database = run.postgres ? await run.createDatabase('million') : await prepareDatabase(`sqlite:${file}`);
  if (run.postgres) {
    const server = await startService(database);
    await create(server, '/assets', million, (n) => asset(n, 'million'));
    await server.stop();
  } else {
    await bareLoop(file, million, 0);
    copyFileSync(file, copy);
  }
  for (let round = 0; round < rounds; round += 1) {
    await measureWrites(run, 'W3, million', database, { size: 1_000, connections: 4 }, () => copy);
  }
  const server = await startService(database);
  await createWorkOrders(server, million, run.linked);
  await measureLinked(run, server);
  await server.stop();
}

async function createFile({ folder }, name) {
  const file = join(folder, `${name}.db`);
  await migrate(`sqlite:${file}`);
  return file;
}

/** Runs the bare loop: `records` in transactions of 1,000, and then single records for `secondsOfSingles`. */
async function bareLoop(file, records, secondsOfSingles) {
  return JSON.parse(await runModule('bare-loop.mjs', [file, records, secondsOfSingles]));
}
