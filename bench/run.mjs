/**
 * Measures typical workloads of the service, and the floors below them in the same run. Machines differ, and one machine
 * varies from hour to hour, so only ratios are meaningful.
 *
 *   --postgres    uses a temporary Postgres server instead of an SQLite file
 *   --smoke       checks that everything works: one second per workload, on small tables
 *   --only NAMES  runs only these workloads, such as W1,W4
 *   --json FILE   writes all figures to a file
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startPostgres } from './postgres.mjs';
import { freePort, runModule, startServer } from './processes.mjs';
import { asset, category, location, project, workOrder } from './records.mjs';
import { report } from './report.mjs';

const { values: options } = parseArgs({
  options: {
    postgres: { type: 'boolean', default: false },
    smoke: { type: 'boolean', default: false },
    only: { type: 'string' },
    json: { type: 'string' },
  },
});
const [rounds, seconds, orderCount, million] = options.smoke ? [1, 1, 300, 2_000] : [3, 4, 10_000, 1_000_000];
const linkedCount = orderCount / 10;
const isWanted = (name) => options.only?.split(',').includes(name) ?? true;

const service = '../dist/src/cli.js';
const data = fileURLToPath(new URL('data/', import.meta.url));
mkdirSync(data, { recursive: true });
const folder = mkdtempSync(data);
const postgres = options.postgres ? await startPostgres(folder) : undefined;
const floor = await startFloor();

/** One entry per measurement of a workload: rates in requests or records per second, times in milliseconds. */
const measured = [];
const record = (workload, figures) => {
  measured.push({ workload, ...figures });
  console.error(workload, JSON.stringify(figures));
};

try {
  if (isWanted('W1')) await measureCreates('W1', { size: 1, connections: 32 });
  if (isWanted('W2')) await measureCreates('W2', { size: 100, connections: 8 });
  if (isWanted('W3')) await measureCreates('W3', { size: 1_000, connections: 4 });
  if (['W4', 'W5', 'W6'].some(isWanted)) await measureReads();
  if (isWanted('W7')) await measureMillion();
} finally {
  await floor.stop();
  await postgres?.stop();
  rmSync(folder, { recursive: true });
}
const machine = { node: process.version, cpu: `${cpus().length} × ${cpus()[0]?.model}` };
const results = { engine: options.postgres ? 'Postgres' : 'SQLite', machine, seconds, rounds, measured };
const { text, isAllComplete } = report(results);
console.log(text);
if (options.json) writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`);
if (!isAllComplete) process.exitCode = 1;

/** Measures each round on new, empty tables. */
async function measureCreates(workload, load) {
  for (let round = 0; round < rounds; round += 1) {
    const database = await createDatabase(`${workload}_${round}`.toLowerCase());
    await measureWrites(workload, database, load, () => createFile(`bare-${workload}-${round}`));
  }
}

/** Measures the service; then the bare loop writes as many records into a file like the service's before. */
async function measureWrites(workload, database, { size, connections }, newBareFile) {
  const load = { kind: 'create', size, connections, run: performance.now().toString(36) };
  const onFloor = await runLoad(floor, load);
  const server = await startService(database);
  // Warms up in another workspace, so that the measured one is unchanged.
  await runLoad({ ...server, key: database.otherKey }, { ...load, seconds: seconds / 2 });
  const before = await count(server, 'assets');
  await server.cost();
  const ours = await runLoad(server, load);
  const cost = await server.cost();
  const stored = (await count(server, 'assets')) - before;
  await server.stop();
  const bare = options.postgres ? {} : await bareLoop(await newBareFile(), stored, 1);
  record(workload, {
    ...ours,
    // Requests in flight when the measurement ended may be stored too.
    isComplete: ours.bad === 0 && stored >= ours.responses * size && stored <= (ours.responses + connections) * size,
    perSecond: ours.perSecond * size,
    cpuMicroseconds: (cost.cpuSeconds * 1e6) / (ours.responses * size),
    peakMegabytes: cost.peakBytes / 1e6,
    floorPerSecond: onFloor.perSecond * size,
    barePerSecond: bare.thousands,
    bareSinglesPerSecond: bare.singles,
  });
}

async function measureReads() {
  const database = await createDatabase('reads');
  const server = await startService(database);
  await fillLinked(server, orderCount);
  await create(server, '/asset-categories', 500, category);
  const cursors = await pageCursors(server);
  for (let round = 0; round < rounds; round += 1) {
    if (isWanted('W4')) await measureRead('W4', server, { kind: 'linked', connections: 16, cursors });
    if (isWanted('W5')) await measureRead('W5', server, { kind: 'list', connections: 16 });
    await server.cost();
    await create(server, '/assets', 10_000, (n) => asset(n, `blocking-${round}`));
    record('batch of 10,000', { blockedMilliseconds: (await server.cost()).blockedMilliseconds, isComplete: true });
  }
  await server.stop();
  for (let round = 0; isWanted('W6') && round < rounds; round += 1) {
    const started = await startService(database);
    // After a while, V8 releases the memory that the start needed.
    await setTimeout(options.smoke ? 500 : 15_000);
    const { residentBytes } = await started.cost();
    record('W6', {
      startMilliseconds: started.startMilliseconds,
      idleMegabytes: residentBytes / 1e6,
      isComplete: true,
    });
    await started.stop();
  }
}

async function measureRead(workload, server, load) {
  const onFloor = await runLoad(floor, { ...load, kind: 'list' });
  await runLoad(server, { ...load, seconds: seconds / 2 });
  await server.cost();
  const ours = await runLoad(server, load);
  const { cpuSeconds } = await server.cost();
  const cpuMicroseconds = (cpuSeconds * 1e6) / ours.responses;
  record(workload, { ...ours, isComplete: ours.bad === 0, cpuMicroseconds, floorPerSecond: onFloor.perSecond });
}

/** Measures on tables of a million records: W3, compared with the bare loop on a copy of the file, and then W4. */
async function measureMillion() {
  const file = await createFile('million');
  const copy = join(folder, 'million-bare.db');
  const database = postgres ? await createDatabase('million') : await withKeys(`sqlite:${file}`);
  if (postgres) {
    const server = await startService(database);
    await create(server, '/assets', million, (n) => asset(n, 'million'));
    await server.stop();
  } else {
    await bareLoop(file, million, 0);
    copyFileSync(file, copy);
  }
  for (let round = 0; round < rounds; round += 1) {
    await measureWrites('W7 writes', database, { size: 1_000, connections: 4 }, () => copy);
  }
  const server = await startService(database);
  await fillLinked(server, million);
  const cursors = await pageCursors(server);
  for (let round = 0; round < rounds; round += 1) {
    await measureRead('W7 linked', server, { kind: 'linked', connections: 16, cursors });
    await measureRead('W7 first page', server, { kind: 'linked', connections: 16, cursors: cursors.slice(0, 1) });
    await measureRead('W7 last page', server, { kind: 'linked', connections: 16, cursors: cursors.slice(-1) });
  }
  await server.stop();
}

async function fillLinked(server, orders) {
  const locations = await create(server, '/locations', linkedCount, location);
  const projects = await create(server, '/projects', linkedCount, (n) => project(n, locations));
  await create(server, '/work-orders', orders, (n) => workOrder(n, projects, locations));
}

/** Creates records in batches, and returns their IDs. */
async function create(server, path, total, newRecord) {
  const ids = [];
  while (ids.length < total) {
    const size = Math.min(10_000, total - ids.length);
    const batch = Array.from({ length: size }, (_, n) => newRecord(ids.length + n));
    const records = await post(server, path, batch);
    ids.push(...records.map(({ id }) => id));
  }
  return ids;
}

async function count(server, kind) {
  const { data } = await post(server, '/graphql', { query: `{ ${kind} { totalCount } }` });
  return data[kind].totalCount;
}

/** The cursors of about a hundred pages of a hundred work orders: the first page, the last, and some in between. */
async function pageCursors(server) {
  const cursors = [null];
  const query =
    'query ($after: String) { workOrders(first: 1000, after: $after) { nodes { id } pageInfo { hasNextPage } } }';
  const ids = [];
  for (let hasNextPage = true; hasNextPage; ) {
    const { data } = await post(server, '/graphql', { query, variables: { after: ids.at(-1) } });
    ids.push(...data.workOrders.nodes.map(({ id }) => id));
    hasNextPage = data.workOrders.pageInfo.hasNextPage;
  }
  const pages = Math.floor(ids.length / 100);
  const step = Math.max(1, Math.floor(pages / 100));
  for (let page = step; page < pages - 1; page += step) cursors.push(ids[page * 100 - 1]);
  return [...cursors, ids[(pages - 1) * 100 - 1] ?? null];
}

async function post({ url, key }, path, body) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${(await response.text()).slice(0, 300)}`);
  return response.json();
}

async function runLoad({ url, key }, load) {
  return JSON.parse(await runModule('load.mjs', [JSON.stringify({ url, key, seconds, ...load })]));
}

async function startFloor() {
  const now = '2026-01-02T03:04:05.000Z';
  const stamps = { createdAt: now, updatedAt: now, workspaceId: 'acme' };
  const rows = Array.from({ length: 500 }, (_, n) => ({
    id: `category_${'0'.repeat(26)}`,
    ...category(n),
    ...stamps,
  }));
  return startServer('floor-server.mjs', [JSON.stringify(rows)]);
}

/** Starts the service with the options of `npm start`. */
async function startService({ url, key }) {
  const settings = { DATABASE_URL: url, PORT: String(await freePort()) };
  return { ...(await startServer(service, ['serve'], settings, ['--max-semi-space-size=32'])), key };
}

/** Creates a database with the service's tables and two keys. */
async function createDatabase(name) {
  return withKeys(postgres ? await postgres.createDatabase(name) : `sqlite:${join(folder, `${name}.db`)}`);
}

async function withKeys(url) {
  const createKey = async (workspace) => {
    const printed = await runModule(service, ['keys', 'create', '--workspace', workspace, '--user', 'bench'], {
      DATABASE_URL: url,
    });
    return /yardgraph_\S+/.exec(printed)?.[0];
  };
  return { url, key: await createKey('acme'), otherKey: await createKey('other') };
}

async function createFile(name) {
  const file = join(folder, `${name}.db`);
  await runModule(service, ['migrate'], { DATABASE_URL: `sqlite:${file}` });
  return file;
}

/** Runs the bare loop: `records` in transactions of 1,000, and then single records for `secondsOfSingles`. */
async function bareLoop(file, records, secondsOfSingles) {
  return JSON.parse(await runModule('bare-loop.mjs', [file, records, secondsOfSingles]));
}
