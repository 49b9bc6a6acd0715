/** A pooler between the service and Postgres that hands out connections transaction by transaction. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { TestProject } from 'vitest/node';
import { freePort, provide, query, startServer } from './postgres.ts';

const pgbouncer = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer';

export default async function setup(project: TestProject) {
  const server = await startServer();
  const { hostname, port: serverPort, username, password } = new URL(server.url);
  const folder = mkdtempSync(join(tmpdir(), 'yardgraph-pgbouncer-'));
  // As root, it runs as another user.
  chmodSync(folder, 0o711);
  const port = await freePort();
  writeFileSync(join(folder, 'users.txt'), `"${username}" "${password}"\n`);
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=${hostname} port=${serverPort || 5432}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = 5
max_client_conn = 1000
${process.getuid?.() === 0 ? 'user = postgres' : ''}
`,
  );
  const bouncer = spawn(pgbouncer, ['-q', join(folder, 'pgbouncer.ini')], { stdio: 'ignore' });
  const url = Object.assign(new URL(server.url), { hostname: '127.0.0.1', port }).href;
  const isReady = () => query(url, 'select').then(Boolean, () => false);
  while (!(await isReady())) {
    if (bouncer.exitCode !== null) throw new Error(`${pgbouncer} did not start`);
    await pause(50);
  }
  provide(project, server.url, url);

  return async () => {
    bouncer.kill('SIGINT');
    await once(bouncer, 'exit');
    rmSync(folder, { recursive: true });
    await server.stop();
  };
}
