/** Faults amid writes: nothing acknowledged is lost, no batch is half, and the log names what refused a request. FAULTS_SEED repeats a run. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isPostgres } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { startLoad } from '../support/faulty-load.ts';
import { freePort, query, startPostgres } from '../support/postgres.ts';
import { linesOf, useSharedProcesses } from '../support/process.ts';
import { createRandom } from '../support/random.ts';

const processes = useSharedProcesses();
const seed = Number(process.env.FAULTS_SEED ?? Date.now());
const random = createRandom(seed);
const [kills = 0, pauseMs, faultMs] = byEffort({ small: [3, 2_000, 1_200], long: [200, 60_000, 10_000] });
/** Of its own, if tests may mount one: it can be full or read-only. */
const disk = mkdtempSync(join(tmpdir(), 'yardgraph-faults-'));
const mount = (options: string) => spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', disk]).status === 0;
const hasDisk = mount('size=4g,mode=711');

let postgres: Awaited<ReturnType<typeof startPostgres>> | undefined;
let settings: Record<string, string>;
let service: ReturnType<typeof processes.start>;
let load: Awaited<ReturnType<typeof startLoad>>;

const shiftedClock = `let passed = 0;
  process.on('SIGUSR2', () => { passed -= 3_600_000; });
  const { now } = Date;
  Date.now = () => now() + passed;
  globalThis.Date = class extends Date { constructor(...parts) { super(...(parts.length > 0 ? parts : [Date.now()])); } };`;

beforeAll(async () => {
  if (isPostgres) postgres = await startPostgres([], disk);
  const role = "create role yardgraph login password 'secret'; grant create on schema public to yardgraph";
  if (postgres) await query(postgres.url, role);
  const url = postgres?.url.replace('//postgres:', '//yardgraph:') ?? `sqlite:${join(disk, 'yardgraph.db')}`;
  settings = {
    ...{ DATABASE_URL: url, DATABASE_STATEMENT_TIMEOUT: '1000', DATABASE_CONNECTION_TIMEOUT: '1000' },
    ...{ NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(shiftedClock)}` },
    ...{ PORT: String(await freePort()), LOG_LEVEL: 'warn' },
  };
  service = processes.start(settings);
  load = await startLoad(await service.ready(), url, random);
});
afterAll(async () => {
  await load.verify({ fromStart: true });
  await load.stop();
  await postgres?.stop();
  if (hasDisk) spawnSync('umount', ['-l', disk]);
  rmSync(disk, { recursive: true });
});

test(`kill -9, ${kills} times`, async () => {
  for (let kill = 0; kill < kills; kill += 1) {
    if (random.chance(0.9)) await load.progress(1 + random.integer(20));
    await pause(random.integer(100));
    service.child.kill('SIGKILL');
    await service.exited;
    load.isHeld = true;
    service = processes.start(settings);
    await service.ready();
    await load.verify();
  }
}, 1_200_000);

/** A test of a fault that the service survives. `cause` is what its log says. */
function survives(fault: string, cause: RegExp | undefined, isPossible: boolean, happen: () => unknown) {
  test.runIf(isPossible)(fault, async () => {
    await load.progress(20);
    const [logged, before] = [service.said.err.length, load.counts.refused];
    await happen();
    await load.progress(20);
    const figures = await load.verify();
    const lines = linesOf(service.said.err.slice(logged));
    const causes = lines.flatMap(({ cause }) => cause ?? []);
    console.info(fault, JSON.stringify({ seed, ...figures }), new Set(causes));
    expect(service.child.exitCode).toBeNull();
    expect(lines.filter(({ level, cause }) => level > 40 || cause === 'unknown')).toEqual([]);
    expect(causes.length).toBeGreaterThanOrEqual(load.counts.refused - before);
    if (cause) expect(causes).toContainEqual(expect.stringMatching(cause));
  });
}

survives('a full disk', /^(53100|SQLITE_FULL)$/, hasDisk, async () => {
  const used = () => (statfsSync(disk).blocks - statfsSync(disk).bfree) * 4_096 + 65_536;
  // More may be used by then.
  while (!mount(`remount,size=${used()}`));
  await pause(faultMs);
  mount('remount,size=4g');
  // Its supervisor does, if it has stopped.
  await postgres?.start();
});

survives('a clock set back by an hour', undefined, true, () => service.child.kill('SIGUSR2'));

survives('a pause of the process', undefined, true, async () => {
  service.child.kill('SIGSTOP');
  await pause(pauseMs);
  service.child.kill('SIGCONT');
});

survives('a server without a free connection', /^53300$/, isPostgres, async () => {
  const cut = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'yardgraph'";
  await query(postgres?.url ?? '', `alter role yardgraph connection limit 0; ${cut}`);
  await pause(faultMs);
  await query(postgres?.url ?? '', 'alter role yardgraph connection limit -1');
});
