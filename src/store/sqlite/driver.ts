/** The driver for SQLite: its connections to a file, or to a database in memory. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Knex } from 'knex';
import { StartError } from '../../errors.ts';
import { reason } from '../connections/database-error.ts';
import type { DatabaseOptions, Driver, Row } from '../connections/driver.ts';
import { isIdle, prepareConnection, type SqliteConnection, statementsOf } from './connection.ts';
import { defaultPath, inMemory } from './url.ts';

/** Throws StartError if the file's folder does not exist, unless that is the default's, or if the folder or the file cannot be written to. */
export function createSqliteDriver(path: string, { connectionTimeout, statementTimeout }: DatabaseOptions): Driver {
  requireFolder(path);
  const pool = ({ min = 1, max, readOnly }: { min?: number; max: number; readOnly: boolean }): Knex.Config => ({
    client: 'sqlite3',
    connection: { filename: path },
    useNullAsDefault: true,
    pool: {
      min,
      max,
      afterCreate: (connection: SqliteConnection, done: Parameters<typeof prepareConnection>[2]) =>
        prepareConnection(connection, { statementTimeout, readOnly }, done),
    },
    acquireConnectionTimeout: connectionTimeout,
  });
  return {
    name: 'SQLite',
    location: path === inMemory ? 'in memory only, lost when the process ends' : resolve(path),
    pools: {
      // SQLite has one writer: a second connection would only wait for the first, and block one of libuv's threads.
      writes: pool({ max: 1, readOnly: false }),
      // A database in memory has one connection only. Three connections read: a workspace may hold two of them for long.
      ...(path !== inMemory && {
        reads: pool({ max: 3, readOnly: true }),
        // One: while long reads overlap, SQLite's log of writes only grows. Each waits longer for the others than for a connection.
        longReads: { ...pool({ min: 0, max: 1, readOnly: true }), acquireConnectionTimeout: 6 * connectionTimeout },
      }),
    },
    // Without readers, the log is written back to the file, and begins again.
    afterLongRead: 'pragma wal_checkpoint(truncate)',
    hasGroupsByWorkspace: false,
    query: async (connection, sql, values) =>
      (await statementsOf(connection as SqliteConnection).run(sql, values)) as Row[],
    isIdle: (connection) => isIdle(connection as SqliteConnection),
    cancel: (connection) => statementsOf(connection as SqliteConnection).cancel(),
    destroy: (connection) => (connection as SqliteConnection).close(() => {}),
  };
}

function requireFolder(path: string): void {
  if (path === inMemory) return;
  const folder = dirname(resolve(path));
  const isDefault = folder === resolve(dirname(defaultPath));
  if (!isDefault && !statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new StartError(`DATABASE_URL: there is no folder ${folder}: create it first, or correct the path`);
  }
  try {
    if (isDefault) mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    if (existsSync(path)) accessSync(path, constants.W_OK);
  } catch (error) {
    throw new StartError(`cannot write to the folder ${folder}: ${reason(error)}`);
  }
}
