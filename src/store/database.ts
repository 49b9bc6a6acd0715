/** Opens and migrates the database. Knows files and connections; knows nothing of workspaces or record kinds. */
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Knex, knex } from 'knex';
import { StartError, unavailable } from '../errors.ts';
import { migrationNames, migrationSource } from './migrations.ts';
import { SqliteClient } from './sqlite-client.ts';

export interface Database {
  readonly knex: Knex;
  /** Where the data lies, for people. */
  readonly location: string;
  /** Resolves when the database answers; rejects with a 503 otherwise. */
  ping(): Promise<void>;
  /** Waits for running transactions, then closes. */
  close(): Promise<void>;
}

const memory = ':memory:';

/** The path in `sqlite:PATH`; undefined when the text has another form, such as a mistyped `sqlite::memory:`. */
export const sqlitePath = (databaseUrl: string): string | undefined =>
  /^sqlite:(?!\/\/)(:memory:|[^:\s].*)$/.exec(databaseUrl)?.[1];

/** Knex's settings for a database URL, for the service and for the knex command line. */
export function knexConfig(databaseUrl: string): Knex.Config {
  const filename = sqlitePath(databaseUrl);
  if (filename === undefined) throw new StartError(`DATABASE_URL: expected sqlite:PATH, received ${databaseUrl}`);
  return {
    client: SqliteClient,
    connection: { filename },
    useNullAsDefault: true,
    // SQLite has one writer. A second connection could only wait for it, in one of the four threads all share.
    pool: { min: 1, max: 1, afterCreate: prepareConnection },
    acquireConnectionTimeout: 10_000,
    migrations: { migrationSource },
  };
}

/** FULL: an acknowledged write survives a power cut, at one fsync a commit. The busy timeout is for other processes. */
const pragmas = `
  pragma busy_timeout = 5000;
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma foreign_keys = on;`;

interface SqliteConnection {
  exec(sql: string, done: (error: Error | null) => void): void;
}

const prepareConnection = (connection: SqliteConnection, done: (error: Error | null, connection: unknown) => void) =>
  connection.exec(pragmas, (error) => done(error, connection));

/** What Knex would print itself either holds SQL or says again what an error says. */
const silent: Knex.Logger = { debug() {}, deprecate() {}, error() {}, warn() {} };

/** Opens the database and brings its schema up to date. Throws StartError when it cannot be used. */
export async function openDatabase(databaseUrl: string): Promise<Database> {
  const path = sqlitePath(databaseUrl) ?? memory;
  requireFolder(path);
  const connected = knex({ ...knexConfig(databaseUrl), log: silent });
  try {
    await migrate(connected);
  } catch (error) {
    await connected.destroy();
    if (error instanceof StartError) throw error;
    throw new StartError(`cannot use the database ${path}: ${reason(error)}`);
  }
  return {
    knex: connected,
    location: path === memory ? 'memory only, gone when the process ends' : resolve(path),
    ping: () => ping(connected),
    close: () => connected.destroy(),
  };
}

async function ping(connected: Knex): Promise<void> {
  try {
    await connected.raw('select 1');
  } catch (error) {
    throw unavailable('the database does not answer', reason(error));
  }
}

/** Makes the folder of a database file. Throws StartError when it cannot be written. */
export function requireFolder(path: string): void {
  if (path === memory) return;
  const folder = dirname(resolve(path));
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    if (existsSync(path)) accessSync(path, constants.W_OK);
  } catch (error) {
    throw new StartError(`cannot write to the folder ${folder}: ${reason(error)}`);
  }
}

/**
 * In one transaction with the write lock: of several processes that start on a new file one migrates and the others wait,
 * and a process that is killed meanwhile leaves nothing behind, Knex's own lock included.
 */
async function migrate(connected: Knex): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (!(await isBehind(connected))) return;
      return await connected.transaction(async (transaction) => {
        if (await isBehind(transaction)) await transaction.migrate.latest();
      });
    } catch (error) {
      // SQLite does not wait for a lock when it turns a new file to WAL.
      if (attempt === maxAttempts || !reason(error).includes('SQLITE_BUSY')) throw error;
      await setTimeout(pauseBetweenAttempts);
    }
  }
}

const maxAttempts = 50;
const pauseBetweenAttempts = 100;

async function isBehind(connected: Knex): Promise<boolean> {
  const applied: string[] = (await connected.schema.hasTable('knex_migrations'))
    ? await connected('knex_migrations').pluck('name')
    : [];
  const unknown = applied.filter((name) => !migrationNames.includes(name));
  if (unknown.length === 0) return applied.length < migrationNames.length;
  throw new StartError(`the database is from a newer version of Yardgraph: it has the migration ${unknown.join(', ')}`);
}

/** One line; of Knex's messages what the driver says, without the SQL in front of it. */
const reason = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  return /SQLITE_.*/.exec(message)?.[0] ?? message.split('\n')[0] ?? '';
};
