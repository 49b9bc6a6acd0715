/**
 * Attacks the service, one attack after the other, each on a service of its own, and measures from outside what another
 * workspace notices of it: see the README. Names choose attacks by a part of their name.
 *
 *   --postgres    on a Postgres that it starts, instead of an SQLite file
 *   --json FILE   writes all figures
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { badSurroundings } from './attacks/bad-surroundings.mjs';
import { createClient } from './attacks/client.mjs';
import { createDatabase } from './attacks/database.mjs';
import { floods } from './attacks/floods.mjs';
import { largeResponses } from './attacks/large-responses.mjs';
import { brokenBounds, line, report } from './attacks/report.mjs';
import { startService } from './attacks/service.mjs';
import { singleRequests } from './attacks/single-requests.mjs';
import { startPostgres } from './postgres.mjs';

const { values: options, positionals: names } = parseArgs({
  options: { postgres: { type: 'boolean', default: false }, json: { type: 'string' } },
  allowPositionals: true,
});

/** Milliseconds after which an attack is cut off. */
const maxTime = 60_000;

const all = [...singleRequests, ...largeResponses, ...floods, ...badSurroundings];
for (const name of names) {
  if (!all.some((attack) => attack.name.includes(name))) {
    console.error(`no attack is called ${name}; there are: ${all.map((attack) => attack.name).join('; ')}`);
    process.exit(1);
  }
}
const attacks = all.filter(
  (attack) =>
    !(attack.isOnlySqlite && options.postgres) && (names.length === 0 || names.some((it) => attack.name.includes(it))),
);

const data = fileURLToPath(new URL('data/', import.meta.url));
mkdirSync(data, { recursive: true });
const folder = mkdtempSync(data);
const postgres = options.postgres ? await startPostgres(folder) : undefined;

const measured = [];
/** The database of the last attack; the next one keeps it when it needs the same in it. */
let kept;
try {
  for (const attack of attacks) {
    const figures = await measure(attack);
    measured.push(figures);
    console.error(line(figures));
  }
} finally {
  await postgres?.stop();
  rmSync(folder, { recursive: true });
}
console.log(report(measured));
if (options.json) writeFileSync(options.json, `${JSON.stringify(measured, null, 2)}\n`);
if (measured.some(({ problems }) => problems.length > 0)) process.exitCode = 1;

/** The figures of one attack, remarks, and what it has shown to be wrong: without figures, when it could not be made. */
async function measure(attack) {
  const notes = [];
  const problems = [];
  const remarks = { note: (text) => notes.push(text), problem: (text) => problems.push(text) };
  const known = { attack: attack.name, database: options.postgres ? 'Postgres' : 'SQLite', notes, problems };
  try {
    const { database, filled } = await databaseOf(attack, remarks);
    const prepared = await attack.prepare?.();
    const service = await startService(database.url, attack, openLog);
    const { key } = database;
    const context = { ...remarks, service, port: service.port, key, database, filled, prepared };
    const { acknowledged, ...figures } = await carryOut(attack, context).finally(async () => {
      service.kill('SIGKILL');
      await service.ended;
    });
    const missing = await database.missing('other', acknowledged);
    if (missing.length > 0) problems.push(`${missing.length} acknowledged creates of another workspace are not stored`);
    problems.push(...brokenBounds(attack, figures));
    return { ...known, ...figures, othersCreated: acknowledged.length };
  } catch (error) {
    problems.push(String(error));
    return known;
  }
}

/** The attack itself, between the start of the probes and their end, and what is to be looked at after it. */
async function carryOut(attack, context) {
  const { service, port, key, database, problem } = context;
  const stopProbes = await startProbes({ port, key: database.otherKey, run: attack.name, ...attack.probes });
  const cutOff = new AbortController();
  const { signal } = cutOff;
  const { send, count, statuses } = createClient({ port, key, signal, connections: attack.connections });
  const start = performance.now();
  const run = attack.run({ ...context, send, count, signal }).catch((error) => {
    if (!signal.aborted) problem(String(error));
  });
  const { isWhole, result } = await within(attack.limit ?? maxTime, run);
  const seconds = (performance.now() - start) / 1_000;
  const counted = { ...statuses };
  if (!isWhole) cutOff.abort();
  const { health, read, create, acknowledged, ownDelay } = await stopProbes();
  const peakMegabytes = service.peakMegabytes();
  if (service.end()) problem(`the service ended with ${service.end()}`);
  else if (attack.after) {
    const after = await within(maxTime, attack.after({ ...context, send, result }));
    if (!after.isWhole) problem('what is looked at after the attack took too long');
  }
  return {
    statuses: counted,
    isWhole,
    seconds,
    blockedMilliseconds: health.wait,
    readMilliseconds: read.wait,
    createMilliseconds: create?.wait ?? 0,
    failed: { health: health.failed, read: read.failed, create: create?.failed ?? {} },
    peakMegabytes,
    /** How long the measuring thread itself was kept waiting. */
    probeDelayMilliseconds: ownDelay,
    acknowledged,
  };
}

/** Filled as the attack needs it. Another service may fill it: `serve` runs work on one that is ended in order. */
async function databaseOf({ fill }, remarks) {
  if (kept && fill && kept.fill === fill) return kept;
  await kept?.database.drop();
  kept = { database: await createDatabase(folder, `attack_${measured.length}`, postgres) };
  const serve = async (work) => {
    const service = await startService(kept.database.url, {}, openLog);
    const done = await work(service.port);
    service.kill('SIGTERM');
    await service.ended;
    return done;
  };
  kept.filled = await fill?.({ database: kept.database, serve, ...remarks });
  kept.fill = fill;
  return kept;
}

/** Whether the work ended in time, and its result. What it does later is of no interest. */
async function within(milliseconds, work) {
  const done = work.then((result) => ({ isWhole: true, result }));
  return Promise.race([done, setTimeout(milliseconds, { isWhole: false }, { ref: false })]);
}

/** Where the log goes: a file, a full disk, or a pipe that is never read. */
function openLog(kind) {
  if (kind === 'full') return openSync('/dev/full', 'w');
  if (kind !== 'pipe') return openSync(join(folder, 'service.log'), 'a');
  const pipe = join(folder, `pipe_${measured.length}`);
  execFileSync('mkfifo', [pipe]);
  return openSync(pipe, 'r+');
}

/** Returns once they measure; the function it returns ends them, and returns what they have measured. */
async function startProbes(workerData) {
  const worker = new Worker(new URL('attacks/probes.mjs', import.meta.url), { workerData });
  await once(worker, 'message');
  return async () => {
    worker.postMessage('stop');
    const [figures] = await once(worker, 'message');
    await worker.terminate();
    return figures;
  };
}
