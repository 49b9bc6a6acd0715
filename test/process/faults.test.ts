/** Faults amid writes: nothing acknowledged is lost, no batch is half, and the log names what refused a request. FAULTS_SEED repeats a run. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { runCommand } from '../support/command.ts';
import { isPostgres } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { startLoad } from '../support/faulty-load.ts';
import { freePort, query, startGateway, startPostgres } from '../support/postgres.ts';
import { linesOf, useSharedProcesses } from '../support/process.ts';
import { createRandom } from '../support/random.ts';

const processes = useSharedProcesses();
const seed = Number(process.env.FAULTS_SEED ?? Date.now());
const random = createRandom(seed);
const kills = byEffort({ small: 1, long: 200 });
const restarts = byEffort({ small: 1, long: 10 });
const [pauseMs = 0, faultMs] = byEffort({ small: [1_000, 0], long: [60_000, 10_000] });
const writes = byEffort({ small: 5, long: 20 });
/** Of its own, if tests may mount one: it can be full or read-only. */
const disk = mkdtempSync(join(tmpdir(), 'yardgraph-faults-'));
const mount = (options: string) => spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', disk]).status === 0;
const hasDisk = mount('size=4g,mode=711');

let postgres: Awaited<ReturnType<typeof startPostgres>>;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let settings: Record<string, string>;
let service: ReturnType<typeof processes.start>;
let load: Awaited<ReturnType<typeof startLoad>>;

const shiftedClock = `let passed = 0;
  process.on('SIGUSR2', () => { passed -= 3_600_000; });
  const { now } = Date;
  Date.now = () => now() + passed;
  globalThis.Date = class extends Date { constructor(...parts) { super(...(parts.length > 0 ? parts : [Date.now()])); } };`;

async function makeDatabase() {
  if (!isPostgres) return `sqlite:${join(disk, 'yardgraph.db')}`;
  postgres = await startPostgres([], { parent: disk });
  gateway = await startGateway(postgres.port);
  await sql("create role yardgraph login password 'secret'; grant create on schema public to yardgraph");
  return `postgres://yardgraph:secret@127.0.0.1:${gateway.port}/postgres`;
}

const sql = (statement: string) => query(postgres.url, statement);

beforeAll(async () => {
  settings = {
    ...{ DATABASE_URL: await makeDatabase(), DATABASE_STATEMENT_TIMEOUT: '1000', DATABASE_CONNECTION_TIMEOUT: '1000' },
    ...{ NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(shiftedClock)}` },
    ...{ PORT: String(await freePort()), LOG_LEVEL: 'warn' },
  };
  service = processes.start(settings);
  load = await startLoad([await service.ready()], settings.DATABASE_URL ?? '', random);
});
afterAll(async () => {
  await load.verify({ fromStart: true });
  await load.stop();
  await postgres?.stop();
  gateway?.stop();
  if (hasDisk) spawnSync('umount', ['-l', disk]);
  rmSync(disk, { recursive: true });
}, 1_200_000);

/** Ends the service, starts it as a supervisor does, and verifies what there is before anything else is written. */
async function restart(signal: 'SIGKILL' | 'SIGTERM', between?: () => Promise<unknown>) {
  service.child.kill(signal);
  expect(await service.exited).toBe(signal === 'SIGTERM' ? 0 : null);
  await between?.();
  load.isHeld = true;
  service = processes.start(settings);
  await service.ready();
  await load.verify({ isDrained: signal === 'SIGTERM' });
}

/** The service starts only once it can write. */
async function refuseReadOnlyFile() {
  if (isPostgres || !hasDisk) return;
  mount('remount,ro');
  const refusal = { code: 1, err: expect.stringMatching(/^cannot write to the folder .*EROFS/) };
  expect(await runCommand(settings, 'serve')).toMatchObject(refusal);
  mount('remount,rw');
}

/** Waits until the log has the cause of the fault. */
type UntilLogged = () => Promise<unknown>;

async function haltPostgres(signal: Parameters<typeof postgres.halt>[0], untilLogged: UntilLogged) {
  for (let n = 0; n < restarts; n += 1) {
    await load.progress(writes);
    await postgres.halt(signal);
    await untilLogged();
    await postgres.start();
  }
}

/** The standby is cut off some time before the primary crashes: nothing may be acknowledged meanwhile. */
async function failOver(untilLogged: UntilLogged) {
  for (let n = 0; n < restarts; n += 1) {
    const replication = await startGateway(postgres.port);
    await postgres.halt('SIGINT');
    const url = postgres.url.replace(`:${postgres.port}/`, `:${replication.port}/`);
    const standby = await startPostgres([], { parent: disk, primary: { ...postgres, url } });
    await postgres.start();
    await sql("alter system set synchronous_standby_names = '*'");
    await sql('select pg_reload_conf()');
    const synchronous = "select from pg_stat_replication where sync_state = 'sync'";
    await expect.poll(() => sql(synchronous)).toHaveLength(1);
    await load.progress(writes);
    replication.target = 0;
    replication.cut();
    // Longer than a statement may take.
    await pause(1_500);
    await postgres.halt('SIGKILL');
    gateway.target = standby.port;
    await untilLogged();
    await postgres.stop();
    replication.stop();
    postgres = standby;
    await sql('select pg_promote()');
  }
}

interface Fault {
  /** What the log says of it. */
  readonly cause?: RegExp;
  readonly isPossible?: boolean;
  readonly happen: (untilLogged: UntilLogged) => unknown;
}

const onPostgres = { isPossible: isPostgres };
/** Without a connection, or while the server shuts down or starts. */
const away = { ...onPostgres, cause: /^(57P0[123]|CONNECTION_LOST|ECONNRE\w+)$/ };

const faults: Record<string, Fault> = {
  [`kill -9, ${kills} times`]: {
    async happen() {
      for (let kill = 0; kill < kills; kill += 1) {
        if (random.chance(0.9)) await load.progress(1 + random.integer(writes));
        await pause(random.integer(100));
        await restart('SIGKILL', kill === 0 ? refuseReadOnlyFile : undefined);
      }
    },
  },
  'a full disk': {
    isPossible: hasDisk,
    cause: /^(53100|SQLITE_FULL)$/,
    async happen(untilLogged) {
      const used = () => (statfsSync(disk).blocks - statfsSync(disk).bfree) * 4_096 + 65_536;
      // More may be used by then.
      while (!mount(`remount,size=${used()}`));
      await untilLogged();
      mount('remount,size=4g');
      await postgres?.start();
    },
  },
  'locks of another process': {
    cause: /^(55P03|57014|SQLITE_BUSY)$/,
    async happen(untilLogged) {
      const other = await openDatabase(settings.DATABASE_URL ?? '');
      await other.transaction(async (run) => {
        await run(isPostgres ? 'lock table assets' : 'delete from assets where false');
        await untilLogged();
      });
      await other.close();
    },
  },
  'a clock set back by an hour': { happen: () => service.child.kill('SIGUSR2') },
  'a pause of the process': {
    async happen() {
      service.child.kill('SIGSTOP');
      await pause(pauseMs);
      service.child.kill('SIGCONT');
    },
  },
  'a read-only server': {
    ...onPostgres,
    cause: /^25006$/,
    async happen(untilLogged) {
      const set = async (value: string) => {
        await sql(`alter system set default_transaction_read_only = ${value}`);
        await sql('select pg_reload_conf()');
      };
      await set('on');
      await untilLogged();
      await set('off');
    },
  },
  'a server without a free connection': {
    ...onPostgres,
    cause: /^53300$/,
    async happen(untilLogged) {
      const cut = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'yardgraph'";
      await sql(`alter role yardgraph connection limit 0; ${cut}`);
      await untilLogged();
      await sql('alter role yardgraph connection limit -1');
    },
  },
  'lost connections': {
    ...away,
    async happen() {
      for (let cut = 0; cut < 5 * restarts; cut += 1) {
        await pause(20);
        gateway.cut();
      }
    },
  },
  'restarts of Postgres': { ...away, happen: (untilLogged) => haltPostgres('SIGINT', untilLogged) },
  'crashes of Postgres': { ...away, happen: (untilLogged) => haltPostgres('SIGKILL', untilLogged) },
  'failover to a synchronous standby': { ...onPostgres, cause: /^25006$/, happen: failOver },
  'SIGTERM, before which all that was carried out got its response': {
    async happen() {
      load.endDrops();
      for (let n = 0; n < restarts; n += 1) {
        await load.progress(writes);
        await pause(random.integer(100));
        await restart('SIGTERM');
      }
    },
  },
};

for (const [name, { happen, cause, isPossible = true }] of Object.entries(faults)) {
  test.runIf(isPossible)(
    name,
    async () => {
      await load.progress(writes);
      const [survivor, logged, before] = [service, service.said.err.length, load.counts.refused];
      const lines = () => linesOf(service.said.err.slice(service === survivor ? logged : 0));
      const causes = () => lines().flatMap(({ cause }) => cause ?? []);
      const expected = cause ? [expect.stringMatching(cause)] : [];
      await happen(async () => {
        await expect.poll(causes).toEqual(expect.arrayContaining(expected));
        await pause(faultMs);
      });
      await load.progress(writes);
      const figures = await load.verify();
      console.info(name, JSON.stringify({ seed, ...figures }), new Set(causes()));
      expect(service.child.exitCode).toBeNull();
      expect(lines().filter(({ level, cause }) => level > 40 || cause === 'unknown')).toEqual([]);
      if (service === survivor) expect(causes().length).toBeGreaterThanOrEqual(load.counts.refused - before);
      expect(causes()).toEqual(expect.arrayContaining(expected));
    },
    3_000_000,
  );
}
