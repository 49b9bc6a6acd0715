/**
 * Measures typical workloads of the service, and the floors below them in the same run. Machines differ, and one machine
 * varies from hour to hour, so only ratios are meaningful.
 *
 *   --postgres    uses a temporary Postgres server instead of an SQLite file
 *   --peers       also measures PostGraphile; only with --postgres, after `npm install --prefix bench/peers`
 *   --smoke       checks that everything works: half a second per workload, on small tables
 *   --only NAMES  runs only these workloads, such as W1,W4,start,feed,imports,exports,million,million-orders
 *   --json FILE   writes all figures to a file
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { measureFeed } from './feed.mjs';
import { measureExports, measureImports } from './files.mjs';
import { startPostgres } from './postgres.mjs';
import { startServer } from './processes.mjs';
import { measureReads, measureStart } from './reads.mjs';
import { report } from './report.mjs';
import { prepareDatabase } from './service.mjs';
import { measureCreates, measureMillion, measureMillionOrders } from './writes.mjs';

const { values: options } = parseArgs({
  options: {
    postgres: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
    smoke: { type: 'boolean', default: false },
    only: { type: 'string' },
    json: { type: 'string' },
  },
});
if (options.peers && !options.postgres) throw new Error('--peers needs --postgres: PostGraphile has no other database');
if (options.peers && !existsSync(new URL('peers/node_modules', import.meta.url))) {
  throw new Error('--peers needs npm install --prefix bench/peers');
}

const sizes = options.smoke
  ? { rounds: 1, seconds: 0.5, orders: 2_000, linked: 100, imported: 2_000, million: 2_000, idleSeconds: 0.5 }
  : { rounds: 3, seconds: 4, orders: 20_000, linked: 1_000, imported: 100_000, million: 1_000_000, idleSeconds: 15 };

const data = fileURLToPath(new URL('data/', import.meta.url));
mkdirSync(data, { recursive: true });
const folder = mkdtempSync(data);
const postgres = options.postgres ? await startPostgres(folder) : undefined;
const floor = await startServer('floor-server.mjs', []);

/** One entry per measurement of a workload: rates in requests or records per second, times in milliseconds. */
const measured = [];

/** What the parts of the benchmark share. */
const run = {
  ...sizes,
  folder,
  floor,
  /** Undefined on SQLite. */
  postgres,
  withPeers: options.peers,
  isWanted: (workload) => options.only?.split(',').includes(workload) ?? true,
  record(workload, figures) {
    measured.push({ workload, ...figures });
    console.error(workload, JSON.stringify(figures));
  },
  /** Creates a database with the service's tables and two keys. */
  async createDatabase(name) {
    return prepareDatabase(postgres ? await postgres.createDatabase(name) : `sqlite:${join(folder, `${name}.db`)}`);
  },
};

const reads = ['W4', 'W5', 'W6', 'W7', 'W8'];
try {
  if (run.isWanted('W1')) await measureCreates(run, 'W1', { size: 1, connections: 32 });
  if (run.isWanted('W2')) await measureCreates(run, 'W2', { size: 100, connections: 8 });
  if (run.isWanted('W3')) await measureCreates(run, 'W3', { size: 1_000, connections: 4 });
  if ([...reads, 'start'].some(run.isWanted)) {
    const database = await run.createDatabase('reads');
    if (reads.some(run.isWanted)) await measureReads(run, database);
    if (run.isWanted('start')) await measureStart(run, database);
  }
  if (run.isWanted('feed')) await measureFeed(run, await run.createDatabase('feed'));
  if (run.isWanted('imports')) await measureImports(run);
  if (run.isWanted('exports')) await measureExports(run);
  if (run.isWanted('million')) await measureMillion(run);
  if (run.isWanted('million-orders')) await measureMillionOrders(run);
} finally {
  await floor.stop();
  await postgres?.stop();
  rmSync(folder, { recursive: true });
}
const machine = { node: process.version, cpu: `${cpus().length} × ${cpus()[0]?.model}` };
const { rounds, seconds } = sizes;
const results = { engine: options.postgres ? 'Postgres' : 'SQLite', machine, seconds, rounds, measured };
const { text, isAllComplete } = report(results);
console.log(text);
if (options.json) writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`);
if (!isAllComplete) process.exitCode = 1;
