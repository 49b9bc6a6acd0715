/**
 * Measures files: imports of CSV, beside plain batches of the same records, and exports, with what they do to the memory of the service
 * and to the requests of others.
 */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { runModule } from './processes.mjs';
import { asset } from './records.mjs';
import { count, create, here, post, startService } from './service.mjs';
import { percentile } from './table.mjs';

const cli = `${here}dist/src/cli.js`;

/** Imports the same records into new tables each time: over REST, and with the command, without its preview and with it. */
export async function measureImports(run) {
  const path = join(run.folder, 'assets.csv');
  await writeCsv(path, run.imported);
  for (let round = 0; round < run.rounds; round += 1) {
    const name = `import_${round}`;
    const batches = await timed(run, `${name}_batches`, (service) => createBatches(service, run.imported));
    for (const [workload, options] of Object.entries({
      import: ['--no-preview'],
      'import, with its preview': [],
    })) {
      const imported = await timed(run, `${name}_${options.length}`, async ({ url, key }) => {
        await runModule(cli, ['import', path, '--yes', ...options], { YARDGRAPH_URL: url, YARDGRAPH_API_KEY: key });
      });
      run.record(workload, { ...imported, ofBatches: imported.perSecond / batches.perSecond });
    }
  }
}

/** Measures the work on new tables, which stores the assets. */
async function timed(run, name, work) {
  const service = await startService(await run.createDatabase(name));
  const start = performance.now();
  await work(service);
  const perSecond = run.imported / ((performance.now() - start) / 1_000);
  const isComplete = (await count(service, 'assets')) === run.imported;
  await service.stop();
  return { perSecond, isComplete };
}

/** One batch after the other, as the import sends them. */
async function createBatches(service, total) {
  for (let sent = 0; sent < total; sent += 1_000) {
    const size = Math.min(1_000, total - sent);
    await post(
      service,
      '/assets',
      Array.from({ length: size }, (_, n) => row(sent + n)),
    );
  }
}

/** An asset without what a file has no column for: two external IDs of systems with names. */
const row = (n) => asset(n, 'file');

async function writeCsv(path, total) {
  const { externalIds, ...first } = row(0);
  const systems = Object.keys(externalIds);
  const fields = Object.keys(first);
  const file = createWriteStream(path);
  file.write(`${[...fields, ...systems.map((system) => `externalIds.${system}`)]}\n`);
  for (let n = 0; n < total; n += 1) {
    const record = row(n);
    const cells = [...fields.map((field) => record[field]), ...systems.map((system) => record.externalIds[system])];
    const line = `${cells.map((cell) => (cell === null ? '' : `"${String(cell).replaceAll('"', '""')}"`))}\n`;
    if (!file.write(line)) await new Promise((resolve) => file.once('drain', resolve));
  }
  file.end();
  await finished(file);
}

/** Exports a million assets, alone, and while another workspace reads pages of a long list, which are timed. */
export async function measureExports(run) {
  const database = await run.createDatabase('export');
  const filling = await startService(database);
  await create(filling, '/assets', run.million, (n) => asset(n, 'export'));
  await create({ ...filling, key: filling.otherKey }, '/assets', 1_000, (n) => asset(n, 'other'));
  await filling.stop();
  // Another process, whose peak of memory is that of exports.
  const service = await startService(database);
  const { residentBytes } = await service.cost();
  for (let round = 0; round < run.rounds; round += 1) {
    for (const format of ['csv', 'ndjson']) {
      await service.cost();
      const start = performance.now();
      const rows = await exportAll(service, format);
      const seconds = (performance.now() - start) / 1_000;
      const { peakBytes, blockedMilliseconds } = await service.cost();
      run.record(`export, ${format}`, {
        perSecond: rows / seconds,
        grownMegabytes: (peakBytes - residentBytes) / 1e6,
        blockedMilliseconds,
        isComplete: rows === run.million,
      });
    }
    run.record('reads beside an export', await readBeside(service, () => exportAll(service, 'csv')));
    run.record('reads beside long lists', await readBeside(service, () => readLongLists(service, run.million / 50)));
  }
  await service.stop();
}

/** Returns the number of rows, without the header. */
async function exportAll({ url, key }, format) {
  // Not compressed, as the client asks for it: decompressing would be measured.
  const headers = { authorization: `Bearer ${key}`, 'accept-encoding': 'identity' };
  const response = await fetch(`${url}/export/assets.${format}`, { headers });
  if (!response.ok) throw new Error(`export: ${response.status} ${await response.text()}`);
  let lines = 0;
  for await (const chunk of response.body) {
    const bytes = Buffer.from(chunk);
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines += 1;
  }
  return format === 'csv' ? lines - 1 : lines;
}

const page = (after) => ({
  query:
    'query ($after: String) { assets(first: 1000, after: $after) { nodes { name uid externalIds } pageInfo { endCursor } } }',
  variables: { after },
});

/** Reads pages of a thousand assets, one after the other. */
async function readLongLists(service, total) {
  let after = null;
  for (let read = 0; read < total; read += 1_000) {
    ({ endCursor: after } = (await post(service, '/graphql', page(after))).data.assets.pageInfo);
  }
}

/** How long another workspace waits for pages of a hundred assets during the work, one after the other. */
async function readBeside(service, work) {
  const others = { ...service, key: service.otherKey };
  let isDone = false;
  const done = work().finally(() => {
    isDone = true;
  });
  const times = [];
  const start = performance.now();
  for (let n = 0; !isDone; n += 1) {
    const sent = performance.now();
    // No page comes from the cache.
    await post(others, '/graphql', { query: `{ assets(first: ${50 + (n % 50)}) { nodes { n${n}: name } } }` });
    times.push(performance.now() - sent);
  }
  await done;
  return {
    perSecond: times.length / ((performance.now() - start) / 1_000),
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    isComplete: true,
  };
}
