import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../config.ts';
import { StartError } from '../errors.ts';
import { program } from '../program.ts';
import { connectDatabase, type Database, migrationNames } from '../store/database.ts';
import { inMemory, sqlitePath } from '../store/database-settings.ts';

/** For statements on millions of records, for which no request waits. */
export const longStatementTimeoutMs = 24 * 3_600_000;

/** Throws a StartError for another version: commands that only read do not update it. */
export async function requireUpToDate(database: Database): Promise<void> {
  const pending = await database.pendingMigrations();
  if (pending.length > 0) throw new StartError(`the database is not up to date, run ${program} migrate`);
}

/** Creates the tables of a new database. Throws a StartError for an earlier schema, which a service may use. */
export async function createTablesIfNew(database: Database): Promise<void> {
  const pending = await database.pendingMigrations();
  if (pending.length === migrationNames.length) await database.migrate();
  else await requireUpToDate(database);
}

export async function withDatabase(
  { databaseUrl, databaseOptions }: Config,
  { mayCreate = false, ...options }: { readonly mayCreate?: boolean; readonly statementTimeout?: number },
  work: (database: Database) => Promise<void>,
): Promise<void> {
  const path = sqlitePath(databaseUrl);
  if (path === inMemory) {
    throw new StartError(
      'DATABASE_URL: sqlite::memory: is lost when the command ends, use a file or a Postgres database',
    );
  }
  const isMissing = path !== undefined && !existsSync(path);
  if (isMissing && !mayCreate) {
    throw new StartError(`there is no database file ${resolve(path)}: check DATABASE_URL and the current folder`);
  }
  const database = await connectDatabase(databaseUrl, { ...databaseOptions, ...options });
  try {
    console.error(isMissing ? `created ${path}` : `database: ${path ?? database.driver.location}`);
    await work(database);
  } finally {
    await database.close();
  }
}

export const migrateDatabase = (config: Config) =>
  withDatabase(config, { mayCreate: true }, async (database) => {
    const applied = await database.migrate();
    console.log(applied.length > 0 ? `migrated: ${applied.join(', ')}` : 'already up to date');
  });
