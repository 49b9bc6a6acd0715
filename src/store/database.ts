/** Opens and migrates the database. Knows files and connections; knows nothing of workspaces or record kinds. */
import { accessSync, constants, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Knex, knex } from 'knex';
import { StartError } from '../errors.ts';
import { statement } from './database-error.ts';
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

/** The path in `sqlite:PATH`; undefined when the text has another form. */
export const sqlitePath = (databaseUrl: string): string | undefined => /^sqlite:(?!\/\/)(.+)$/.exec(databaseUrl)?.[1];

/** Knex's settings for a database URL, for the service and for the knex command line. Makes the folder of the file. */
export function knexConfig(databaseUrl: string): Knex.Config {
  const filename = sqlitePath(databaseUrl);
  if (filename === undefined) throw new StartError(`DATABASE_URL: expected sqlite:PATH, received ${databaseUrl}`);
  if (filename !== memory) requireFolder(filename);
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
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma foreign_keys = on;
  pragma busy_timeout = 5000;`;

interface SqliteConnection {
  exec(sql: string, done: (error: Error | null) => void): void;
}

const prepareConnection = (connection: SqliteConnection, done: (error: Error | null, connection: unknown) => void) =>
  connection.exec(pragmas, (error) => done(error, connection));

/** Opens the database and brings its schema up to date. Throws StartError when it cannot be used. */
export async function openDatabase(databaseUrl: string): Promise<Database> {
  const path = sqlitePath(databaseUrl) ?? memory;
  const connected = knex(knexConfig(databaseUrl));
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
    ping: async () => {
      await statement(connected.raw('select 1'));
    },
    close: () => connected.destroy(),
  };
}

function requireFolder(path: string): void {
  const folder = dirname(resolve(path));
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new StartError(`cannot write to the folder ${folder}: ${reason(error)}`);
  }
}

async function migrate(connected: Knex): Promise<void> {
  const applied: string[] = (await connected.schema.hasTable('knex_migrations'))
    ? await connected('knex_migrations').pluck('name')
    : [];
  const unknown = applied.filter((name) => !migrationNames.includes(name));
  if (unknown.length > 0) {
    throw new StartError(
      `the database is from a newer version of Yardgraph: it has the migration ${unknown.join(', ')}`,
    );
  }
  await connected.migrate.latest();
}

const reason = (error: unknown): string =>
  error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
