/** Brings the schema up to date, even when several processes start at once. */
import { setTimeout } from 'node:timers/promises';
import type { Knex } from 'knex';
import { StartError } from '../../errors.ts';
import { reason } from '../connections/database-error.ts';
import type { Driver } from '../connections/driver.ts';
import { type Dialect, sortInFiles } from '../query/dialect.ts';
import { migrationNames, migrationSource } from './migrations.ts';

const maxAttempts = 50;
/** Milliseconds. */
const pauseBetweenAttempts = 100;

/** Receives what a migration does, as fields and a message of a log line. */
export type Report = (fields: object, message: string) => void;

/**
 * Runs the pending migrations in one transaction, and returns their names. Reports each with its duration, unless the database is new.
 * When several processes start on a new database, one migrates and the others wait; a process that is killed leaves nothing behind, not
 * even Knex's own lock. Throws StartError if the database is from a newer version.
 */
export async function migrate(
  knex: Knex,
  dialect: Dialect,
  { requireSpaceToMigrate }: Driver,
  report: Report = () => {},
): Promise<readonly string[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const names = await pendingMigrations(knex);
      if (names.length === 0) return [];
      const isNew = names.length === migrationNames.length;
      const bytes = requireSpaceToMigrate?.() ?? (await postgresSize(knex));
      const megabytes = Math.ceil(bytes / 1e6);
      if (!isNew)
        report({ migrations: names, megabytes }, `migrating, which may need up to ${megabytes} MB of disk space`);
      const migrateOnce = async (transaction: Knex.Transaction) => {
        if (dialect.lockMaintenance) await transaction.raw(dialect.lockMaintenance);
        const pending = await pendingMigrations(transaction);
        const source = isNew ? migrationSource : timed(report);
        if (pending.length > 0) await transaction.migrate.latest({ migrationSource: source });
        return pending;
      };
      return await sortInFiles(
        dialect,
        async (sql) => knex.raw(sql),
        () => knex.transaction(migrateOnce),
      );
    } catch (error) {
      // SQLite does not wait for a lock when it switches a new file to WAL, nor between a transaction's read and its write.
      if (attempt === maxAttempts || !reason(error).includes('SQLITE_BUSY')) throw error;
      await setTimeout(pauseBetweenAttempts);
    }
  }
}

/** The migrations, each of which reports how long it has taken. */
const timed = (report: Report): Knex.MigrationSource<string> => ({
  ...migrationSource,
  async getMigration(name) {
    const { up, ...migration } = await migrationSource.getMigration(name);
    return {
      ...migration,
      async up(knex) {
        const start = performance.now();
        await up(knex);
        const milliseconds = Math.round(performance.now() - start);
        report({ migration: name, milliseconds }, `migrated ${name} in ${milliseconds} ms`);
      },
    };
  },
});

/** Returns how many bytes a migration may write, which may make all tables anew beside the old ones. */
async function postgresSize(knex: Knex): Promise<number> {
  const { rows } = await knex.raw('select pg_database_size(current_database()) as bytes');
  return 2 * Number(rows[0].bytes);
}

/** Returns the names of the migrations that the database lacks. Throws StartError if it has any that this version does not know. */
export async function pendingMigrations(knex: Knex): Promise<string[]> {
  const applied: string[] = (await knex.schema.hasTable('knex_migrations'))
    ? await knex('knex_migrations').pluck('name')
    : [];
  const unknown = applied.filter((name) => !migrationNames.includes(name));
  if (unknown.length === 0) return migrationNames.filter((name) => !applied.includes(name));
  throw new StartError(`the database is from a newer version of Yardgraph: it has the migration ${unknown.join(', ')}`);
}
