/** Opens and migrates the database. Knows connections; knows nothing of workspaces. */
import { type Knex, knex } from 'knex';
import { StartError } from '../errors.ts';
import { reason } from './database-error.ts';
import { createDerivedCache, type DerivedCache } from './derived-cache.ts';
import type { DatabaseOptions, Engine } from './engine.ts';
import { migrate, missingMigrations } from './migrate.ts';
import { migrationSource } from './migrations.ts';
import { isPostgresUrl, postgresEngine } from './postgres/dialect.ts';
import { sqliteEngine, sqlitePath } from './sqlite/dialect.ts';
import { type Connections, createConnections, type Pools } from './transactions.ts';

export interface Database extends Connections {
  readonly engine: Engine;
  /** Values derived from its records. */
  readonly cache: DerivedCache;
  readonly knex: Knex;
  /** Brings the schema up to date, and returns the names of the migrations it took. Throws StartError when it cannot. */
  migrate(): Promise<readonly string[]>;
  /** The names of the migrations that migrate would take. Throws StartError when it cannot tell. */
  missingMigrations(): Promise<readonly string[]>;
  /** Resolves when the database answers; rejects with a 503 otherwise. */
  ping(): Promise<void>;
  /** Waits for running transactions, then closes. */
  close(): Promise<void>;
}

export const defaultOptions: DatabaseOptions = {
  poolSize: 10,
  connectionTimeout: 10_000,
  statementTimeout: 30_000,
};

export const isDatabaseUrl = (databaseUrl: string): boolean =>
  isPostgresUrl(databaseUrl) || sqlitePath(databaseUrl) !== undefined;

function engineOf(databaseUrl: string, options: DatabaseOptions): Engine {
  if (isPostgresUrl(databaseUrl)) return postgresEngine(databaseUrl, options);
  const path = sqlitePath(databaseUrl);
  if (path === undefined) throw new StartError('DATABASE_URL: expected sqlite:PATH or postgres://…');
  return sqliteEngine(path, options);
}

/** What Knex would print itself either holds SQL or says again what an error says. */
const silent: Knex.Logger = { debug() {}, deprecate() {}, error() {}, warn() {} };

/** Knex's settings for a database URL, for the service and for the knex command line. */
export const knexConfig = (databaseUrl: string): Knex.Config => configOf(engineOf(databaseUrl, defaultOptions));

const configOf = ({ knexConfig }: Engine): Knex.Config => ({
  ...knexConfig,
  // Knex would write all values of a failed statement into its error.
  compileSqlOnError: false,
  migrations: { migrationSource },
});

/** The database as it is. Throws StartError when it cannot be used. */
export async function connectDatabase(databaseUrl: string, options = defaultOptions): Promise<Database> {
  const engine = engineOf(databaseUrl, options);
  const pools = openPools(engine);
  const connected = pools.writes;
  const connections = createConnections(pools, engine, options);
  const database: Database = {
    ...connections,
    engine,
    cache: createDerivedCache(engine),
    knex: connected,
    migrate: () => explained(engine, () => migrate(connected, engine)),
    missingMigrations: () => explained(engine, () => missingMigrations(connected)),
    ping: async () => void (await connections.read('select 1')),
    close: async () => {
      for (const pool of new Set(Object.values(pools))) await pool.destroy();
    },
  };
  return closedOnFailure(database, () =>
    explained(engine, async () => {
      const problem = await engine.examine?.(async (sql) => engine.rowsOf(await connected.raw(sql)));
      if (problem !== undefined) throw new Error(problem);
    }),
  );
}

function openPools(engine: Engine): Pools {
  const open = (config: Knex.Config) => knex({ ...config, log: silent });
  const writes = open(configOf(engine));
  const { reads, watch } = engine.readPools ?? {};
  return { writes, reads: reads ? open(reads) : writes, watch: watch ? open(watch) : writes };
}

/** Opens the database and brings its schema up to date. Throws StartError when it cannot be used. */
export async function openDatabase(databaseUrl: string, options = defaultOptions): Promise<Database> {
  const database = await connectDatabase(databaseUrl, options);
  return closedOnFailure(database, database.migrate);
}

async function closedOnFailure(database: Database, start: () => Promise<unknown>): Promise<Database> {
  try {
    await start();
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Says in one line why a database cannot be used. */
async function explained<T>({ location }: Engine, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`cannot use the database ${location}: ${reason(error)}`);
  }
}
