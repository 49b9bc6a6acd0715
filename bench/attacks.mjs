/**
 * Runs attacks one after the other, each on its own instance of the service, and measures from outside that the process stays alive and
 * small, is well again when the attack is over, and loses nothing that it has acknowledged: see docs/contributing.md. Arguments select attacks by a part of their name.
 *
 *   --postgres    uses a temporary Postgres server instead of an SQLite file
 *   --json FILE   writes all figures to a file
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { createClient } from './attacks/client.mjs';
import { createDatabase } from './attacks/database.mjs';
import { environment } from './attacks/environment.mjs';
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

/**
 * @typedef {object} Attack
 * @property {string} name
 * @property {boolean} [isSqliteOnly] Whether it does not apply to Postgres.
 * @property {Record<string, string>} [settings] Settings of the service.
 * @property {'full' | 'pipe'} [log] The destination of the service's log, unless a file: a full disk, or an unread pipe.
 * @property {number} [connections] The maximum number of connections of the attacker; unlimited unless set.
 * @property {number} [timeout] Milliseconds after which it is aborted.
 * @property {{ creates?: boolean, newConnections?: boolean }} [probes] Whether the other workspace also creates records
 *   (default: true), and whether it opens a connection for each request.
 * @property {boolean} [mayBeUnreachable] Whether requests of the other workspace may fail.
 * @property {(context: object) => Promise<unknown>} [fill] Fills the database. Attacks with the same function share it.
 * @property {() => unknown} [prepare] Returns what `run` gets as `prepared`, before the service starts.
 * @property {(context: object) => Promise<unknown>} run Attacks.
 * @property {(context: object) => Promise<unknown>} [after] Checks the service, or what is stored, after the attack.
 */

/** Milliseconds within which a service that is well responds to a small request, on two cores that the attacker has used, too. */
const usual = 500;

/** Milliseconds after which an attack is aborted, unless it sets its own. */
const defaultTimeout = 60_000;

const all = [...singleRequests, ...largeResponses, ...floods, ...environment];
for (const name of names) {
  if (!all.some((attack) => attack.name.includes(name))) {
    console.error(`unknown attack ${name}; expected a part of one of: ${all.map((attack) => attack.name).join('; ')}`);
    process.exit(1);
  }
}
const attacks = all.filter(
  (attack) =>
    !(attack.isSqliteOnly && options.postgres) &&
    (names.length === 0 || names.some((name) => attack.name.includes(name))),
);

const data = fileURLToPath(new URL('data/', import.meta.url));
mkdirSync(data, { recursive: true });
const folder = mkdtempSync(data);
const postgres = options.postgres ? await startPostgres(folder) : undefined;

const measured = [];
/** The database of the last attack; the next attack reuses it if it needs the same content. */
let current;
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

/** Returns the figures, notes and problems of one attack; only notes and problems if the attack could not run. */
async function measure(attack) {
  const notes = [];
  const problems = [];
  const remarks = { note: (text) => notes.push(text), problem: (text) => problems.push(text) };
  const outcome = { attack: attack.name, database: options.postgres ? 'Postgres' : 'SQLite', notes, problems };
  try {
    const { database, filled } = await databaseOf(attack, remarks);
    const prepared = await attack.prepare?.();
    const service = await startService(database.url, attack, openLog);
    const { key } = database;
    const context = { ...remarks, service, port: service.port, key, database, filled, prepared };
    const { acknowledged, ...figures } = await execute(attack, context).finally(async () => {
      service.kill('SIGKILL');
      await service.ended;
    });
    const missing = await database.missing('other', acknowledged);
    if (missing.length > 0) problems.push(`${missing.length} acknowledged creates of another workspace are not stored`);
    problems.push(...brokenBounds(attack, figures));
    return { ...outcome, ...figures, othersCreated: acknowledged.length };
  } catch (error) {
    problems.push(String(error));
    return outcome;
  }
}

/** Runs the attack while the probes measure, and then its checks. */
async function execute(attack, context) {
  const { service, port, key, database, problem } = context;
  const stopProbes = await startProbes({ port, key: database.otherKey, run: attack.name, ...attack.probes });
  const controller = new AbortController();
  const { signal } = controller;
  const { send, count, statuses } = createClient({ port, key, signal, connections: attack.connections });
  const start = performance.now();
  const run = attack.run({ ...context, send, count, signal }).catch((error) => {
    if (!signal.aborted) problem(String(error));
  });
  const { isFinished, result } = await within(attack.timeout ?? defaultTimeout, run);
  const seconds = (performance.now() - start) / 1_000;
  const counted = { ...statuses };
  if (!isFinished) controller.abort();
  const recovery = await recoverySeconds(port, database.otherKey);
  const { read, create, acknowledged } = await stopProbes();
  const peakMegabytes = service.peakMegabytes();
  if (service.end()) problem(`the service ended with ${service.end()}`);
  else if (attack.after) {
    const after = await within(defaultTimeout, attack.after({ ...context, send, result }));
    if (!after.isFinished) problem('the checks after the attack took too long');
  }
  return {
    statuses: counted,
    isFinished,
    seconds,
    recovery,
    waitMilliseconds: Math.max(read.wait, create?.wait ?? 0),
    failed: { read: read.failed, create: create?.failed ?? {} },
    peakMegabytes,
    acknowledged,
  };
}

/** The seconds after an attack until the service responds to another workspace as usual, five times in a row. */
async function recoverySeconds(port, key) {
  const start = performance.now();
  const { send } = createClient({ port, key, signal: new AbortController().signal });
  const query = JSON.stringify({ query: '{ assets(first: 1) { nodes { id } } }' });
  for (let inARow = 0; inARow < 5 && performance.now() - start < 60_000; ) {
    const since = performance.now();
    const { status } = await Promise.race([send('POST', '/graphql', query), setTimeout(usual, {}, { ref: false })]);
    inARow = status === '200' && performance.now() - since < usual ? inARow + 1 : 0;
    await setTimeout(50);
  }
  return (performance.now() - start) / 1_000;
}

/** Returns a database with the content that the attack needs. `serve` starts a service, runs work on it, and ends it. */
async function databaseOf({ fill }, remarks) {
  if (current && fill && current.fill === fill) return current;
  await current?.database.drop();
  current = { database: await createDatabase(folder, `attack_${measured.length}`, postgres) };
  const serve = async (work) => {
    const service = await startService(current.database.url, {}, openLog);
    const result = await work(service.port);
    service.kill('SIGTERM');
    await service.ended;
    return result;
  };
  current.filled = await fill?.({ database: current.database, serve, ...remarks });
  current.fill = fill;
  return current;
}

/** Whether the work finished in time, and its result. Work that takes longer goes on, but its outcome is ignored. */
async function within(milliseconds, work) {
  const finished = work.then((result) => ({ isFinished: true, result }));
  return Promise.race([finished, setTimeout(milliseconds, { isFinished: false }, { ref: false })]);
}

/** Opens the destination of the log: a file, a full disk, or a pipe that is never read. */
function openLog(kind) {
  if (kind === 'full') return openSync('/dev/full', 'w');
  if (kind !== 'pipe') return openSync(join(folder, 'service.log'), 'a');
  const pipe = join(folder, `pipe_${measured.length}`);
  execFileSync('mkfifo', [pipe]);
  return openSync(pipe, 'r+');
}

/** Resolves when the probes are measuring, to a function that stops them and returns their figures. */
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
