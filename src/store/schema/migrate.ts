/** Brings the schema up to date, even when several processes start at once. */
import { setTimeout } from 'node:timers/promises';
import type { Knex } from 'knex';
import { StartError } from '../../errors.ts';
import { reason } from '../connections/database-error.ts';
import type { Driver } from '../connections/driver.ts';
import { type Dialect, sortInFiles } from '../query/dialect.ts';
import { migrationNames } from './migrations.ts';

const maxAttempts = 50;
/** Milliseconds. */
const pauseBetweenAttempts = 100;

/**
 * Runs the pending migrations in one transaction, and returns their names. When several processes start on a new database, one
 * migrates and the others wait; a process that is killed leaves nothing behind, not even Knex's own lock. Throws StartError if
 * the database is from a newer version.
 */
export async function migrate(
  knex: Knex,
  dialect: Dialect,
  { requireSpaceToMigrate }: Driver,
): Promise<readonly string[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      if ((await pendingMigrations(knex)).length === 0) return [];
      requireSpaceToMigrate?.();
      const migrateOnce = async (transaction: Knex.Transaction) => {
        if (dialect.lockMaintenance) await transaction.raw(dialect.lockMaintenance);
        const pending = await pendingMigrations(transaction);
        if (pending.length > 0) await transaction.migrate.latest();
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

/** Returns the names of the migrations that the database lacks. Throws StartError if it has any that this version does not know. */
export async function pendingMigrations(knex: Knex): Promise<string[]> {
  const applied: string[] = (await knex.schema.hasTable('knex_migrations'))
    ? await knex('knex_migrations').pluck('name')
    : [];
  const unknown = applied.filter((name) => !migrationNames.includes(name));
  if (unknown.length === 0) return migrationNames.filter((name) => !applied.includes(name));
  throw new StartError(`the database is from a newer version of Yardgraph: it has the migration ${unknown.join(', ')}`);
}
