/**
 * Compares the service of this folder with that of another folder, both built: their rates, and the CPU that they need for a
 * record or a list. They are measured in turn, on databases of their own, so that a machine that varies treats both alike. With W3
 * on SQLite, it also measures the bare loops: with the layout of each, and with one index.
 *
 *   node bench/compare.mjs FOLDER
 *
 *   --rounds N    5 unless set
 *   --seconds N   of each measurement; 3 unless set
 *   --only NAMES  only these workloads and databases, such as W1,W4,SQLite,Postgres
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { copyOf, oneIndex, thisLayout } from './bare-loop/run.mjs';
import { startPostgres } from './postgres.mjs';
import { queries, upsert } from './queries.mjs';
import { list, loadOf } from './reads.mjs';
import { asset, category } from './records.mjs';
import { create, createWorkOrders, here, measure, post, prepareDatabase, startService } from './service.mjs';
import { columns, median, number } from './table.mjs';

const { values: options, positionals } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    only: { type: 'string' },
  },
  allowPositionals: true,
});
if (positionals.length !== 1) throw new Error('expected the other folder');
const folders = [positionals[0], here];
const [rounds, seconds] = [Number(options.rounds), Number(options.seconds)];

/** Whether a name is among those of `all` that are selected; all are if none is. */
const isWanted = (name, all) => {
  const only = options.only?.split(',').filter((selected) => all.includes(selected)) ?? [];
  return only.length === 0 || only.includes(name);
};

const creates = {
  W1: { kind: 'create', size: 1, connections: 32 },
  W2: { kind: 'create', size: 100, connections: 8 },
  W3: { kind: 'create', size: 1_000, connections: 4 },
  W10: { kind: 'upsert', size: 1_000, connections: 4, query: upsert('{ field: UID }') },
  'W10 by external ID': { kind: 'upsert', size: 1_000, connections: 4, query: upsert('{ externalId: "erp" }') },
};
const engines = ['SQLite', 'Postgres'];
/** Reads first: what creates cause in the background would slow them down. */
const workloads = [...Object.keys(queries), 'W5', 'W9', ...Object.keys(creates)];

/** Neither is always the first. */
const turns = (round) => (round % 2 === 0 ? [0, 1] : [1, 0]);

/** The medians of a figure of both, and of its ratios. */
const ofBothIn = (measured) => [
  number(median(measured.map(([, ours]) => ours)), 0),
  number(median(measured.map(([before]) => before)), 0),
  number(median(measured.map(([before, ours]) => ours / before)), 2),
];

const data = fileURLToPath(new URL('data/', import.meta.url));
mkdirSync(data, { recursive: true });
const folder = mkdtempSync(data);
const ofBoth = (name) => [name, 'before', 'ratio'];
const table = [['', '', ...ofBoth('per second'), ...ofBoth('CPU µs'), ...ofBoth('database’s')]];
try {
  for (const engine of engines.filter((name) => isWanted(name, engines))) await compare(engine);
} finally {
  rmSync(folder, { recursive: true });
}
console.log(columns(table).join('\n'));

async function compare(engine) {
  const postgres = engine === 'Postgres' ? await startPostgres(folder) : undefined;
  const services = [];
  for (const [n, source] of folders.entries()) {
    const url = postgres ? await postgres.createDatabase(`compare_${n}`) : `sqlite:${join(folder, `compare_${n}.db`)}`;
    const database = await prepareDatabase(url, source);
    const files = postgres ? undefined : copyOf(database);
    const service = { ...(await startService(database, source)), files };
    await createWorkOrders(service, 20_000, 1_000);
    await create(service, '/asset-categories', 500, category);
    services.push(service);
  }
  for (const workload of workloads.filter((name) => isWanted(name, workloads))) {
    try {
      table.push([engine, workload, ...(await compareOn(services, workload, postgres))]);
    } catch (error) {
      console.error(`${engine} ${workload} is left out: ${error.message.slice(0, 200)}`);
    }
  }
  for (const service of services) await service.stop();
  if (!postgres && isWanted('W3', workloads)) table.push(...(await bareLoops(services)));
  await postgres?.stop();
}

/** The medians of both services, and those of the ratios of each round, as cells. Throws if a service cannot do this. */
async function compareOn(services, workload, postgres) {
  const loads = await Promise.all(services.map((service) => loadOn(service, workload)));
  const size = loads[0].size ?? 1;
  const measured = [];
  for (let round = 0; round < rounds; round += 1) {
    const figures = [];
    for (const n of turns(round)) {
      const { perSecond, bad, ...cost } = await measure(services[n], { ...loads[n], seconds }, postgres);
      if (bad > 0) throw new Error(`${bad} responses of ${folders[n]} were incomplete`);
      figures[n] = {
        perSecond: perSecond * size,
        cpuMicroseconds: cost.cpuMicroseconds / size,
        databaseCpuMicroseconds: cost.databaseCpuMicroseconds / size,
      };
    }
    console.error(workload, JSON.stringify(figures));
    measured.push(figures);
  }
  return ['perSecond', 'cpuMicroseconds', 'databaseCpuMicroseconds'].flatMap((name) =>
    ofBothIn(measured.map((figures) => figures.map((figure) => figure[name]))),
  );
}

/** The bare loops, as rows: the assets that the services have stored, stored again, and others in a table with one index. */
async function bareLoops(services) {
  const load = { size: 1_000, seconds };
  const layouts = [];
  const oneIndexes = [];
  for (let round = 0; round < rounds; round += 1) {
    const figures = [];
    for (const n of turns(round)) figures[n] = await thisLayout(services[n].files, load);
    layouts.push(figures);
    oneIndexes.push(await oneIndex(join(folder, 'one-index.db'), load));
  }
  const withoutCost = Array(6).fill('');
  return [
    ['SQLite', 'bare loop, this layout', ...ofBothIn(layouts), ...withoutCost],
    ['SQLite', 'bare loop, one index', number(median(oneIndexes), 0), '', '', ...withoutCost],
  ];
}

async function loadOn(service, workload) {
  if (workload in creates) return creates[workload];
  if (workload === 'W5') return list;
  if (workload === 'W9') return updates(service);
  const load = await loadOf(queries[workload], service);
  await post(service, '/graphql', { query: load.query, variables: load.variables[0] });
  return load;
}

/** Changes of a thousand assets, each to another name than before. */
async function updates(service) {
  const ids = await create(service, '/assets', 8_000, (n) => asset(n, 'updates'));
  const batch = (n) => ids.slice(1_000 * n, 1_000 * (n + 1));
  const inputs = Array.from({ length: 16 }, (_, n) => batch(n % 8).map((id) => ({ id, name: `Crane ${n}` })));
  return {
    kind: 'query',
    size: 1_000,
    connections: 4,
    query: 'mutation ($input: [AssetPatch!]!) { updateAssets(input: $input) { id name updatedAt } }',
    variables: inputs.map((input) => ({ input })),
    mark: '"updatedAt":',
    count: 1_000,
  };
}
