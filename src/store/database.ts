import { type Knex, knex } from 'knex';
import { StartError } from '../errors.ts';
import { Connections, startWaiting } from './connections/connections.ts';
import { DatabaseError, failureReason, isTimeout } from './connections/database-error.ts';
import type { DatabaseOptions, Driver, Pools, Run } from './connections/driver.ts';
import { defaultOptions, isPostgresUrl, sqlitePath } from './database-settings.ts';
import { openPostgresDialect } from './postgres/dialect.ts';
import { createPostgresDriver } from './postgres/driver.ts';
import type { Dialect } from './query/dialect.ts';
import { migrate, migrationNames, migrationSource, pendingMigrations, schemaVersion } from './schema/migrations.ts';
import { sqliteDialect } from './sqlite/dialect.ts';
import { createSqliteDriver } from './sqlite/driver.ts';
import { type RunTransaction, WriteQueue } from './writes/queue.ts';

export { DatabaseError, isTimeout, migrationNames, type Run, schemaVersion, startWaiting };

export interface Database extends Omit<Connections, 'useToWrite'> {
  readonly transaction: RunTransaction;
  readonly dialect: Dialect;
  readonly driver: Driver;
  readonly options: DatabaseOptions;
  readonly knex: Knex;
  readonly pools: Pools<Knex>;
  /** Throws StartError. */
  migrate(): Promise<readonly string[]>;
  /** Throws StartError. */
  pendingMigrations(): Promise<readonly string[]>;
  /** Rejects with a 503 if the database does not respond or its disk is full. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

function createDriver(databaseUrl: string, options: DatabaseOptions): Driver {
  if (isPostgresUrl(databaseUrl)) return createPostgresDriver(databaseUrl, options);
  const path = sqlitePath(databaseUrl);
  if (path === undefined) throw new StartError('DATABASE_URL: expected sqlite:PATH or postgres://…');
  return createSqliteDriver(path, options);
}

/** Knex's own messages contain SQL, or repeat an error. */
const silent: Knex.Logger = { debug() {}, deprecate() {}, error() {}, warn() {} };

export const knexConfig = (databaseUrl: string): Knex.Config => writesConfig(createDriver(databaseUrl, defaultOptions));

const writesConfig = ({ pools }: Driver): Knex.Config => ({
  ...pools.writes,
  // Otherwise errors would contain all values of the statement.
  compileSqlOnError: false,
  migrations: { migrationSource },
});

export async function connectDatabase(databaseUrl: string, options = defaultOptions): Promise<Database> {
  const driver = createDriver(databaseUrl, options);
  const pools = openPools(driver);
  const { writes } = pools;
  const close = async () => {
    // One by one: otherwise SQLite would not merge its log into the file.
    for (const pool of [pools.reads, pools.longReads, writes]) await pool?.destroy();
  };
  const dialect = await explainFailure<Dialect>(driver, async () =>
    isPostgresUrl(databaseUrl) ? openPostgresDialect(async (sql) => (await writes.raw(sql)).rows) : sqliteDialect,
  ).catch(closeAndThrow(close));
  const { useToWrite, ...statements } = new Connections(pools, driver, dialect, options);
  return {
    ...statements,
    transaction: new WriteQueue({ useToWrite }, driver, dialect, options).transaction,
    dialect,
    driver,
    options,
    knex: writes,
    pools,
    migrate: () => explainFailure(driver, () => migrate(writes, dialect)),
    pendingMigrations: () => explainFailure(driver, () => pendingMigrations(writes)),
    ping: async () => {
      statements.requireRoom();
      await statements.read('select 1');
    },
    close,
  };
}

function openPools(driver: Driver): Pools<Knex> {
  const open = (config: Knex.Config) => {
    try {
      return knex({ ...config, log: silent });
    } catch (error) {
      // Knex's message is for its own users.
      if (!(error instanceof Error && error.message.startsWith('Knex: run'))) throw error;
      throw new StartError(
        `the driver of ${driver.name} is missing, or not compiled for this machine: install Yardgraph again, and let npm run the driver's script (--allow-scripts=sqlite3, see docs/install.md)`,
      );
    }
  };
  const { reads, longReads } = driver.pools;
  return {
    writes: open(writesConfig(driver)),
    ...(reads && { reads: open(reads) }),
    ...(longReads && { longReads: open(longReads) }),
  };
}

/** `isNew` is true if the database had no tables. */
export async function openDatabase(databaseUrl: string, options = defaultOptions) {
  const database = await connectDatabase(databaseUrl, options);
  const applied = await database.migrate().catch(closeAndThrow(database.close));
  return { ...database, isNew: applied.length === migrationNames.length };
}

const closeAndThrow = (close: () => Promise<void>) => async (error: unknown) => {
  await close();
  throw error;
};

const explainFailure = <T>({ location }: Driver, work: () => Promise<T>): Promise<T> =>
  work().catch((error: unknown) => {
    if (error instanceof StartError) throw error;
    throw new StartError(`cannot use the database ${location}: ${failureReason(error)}`);
  });
