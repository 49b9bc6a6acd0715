import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Knex } from 'knex';
import { StartError } from '../../errors.ts';
import { failureReason } from '../connections/database-error.ts';
import type { Dialect } from '../query/dialect.ts';

/** Names have no extension: `.ts` and compiled `.js` files use the same databases. */
export const migrationNames: readonly string[] = readdirSync(join(__dirname, '../../../migrations'))
  .flatMap((file) => /^(\d{4}_\w+)\.[jt]s$/.exec(file)?.[1] ?? [])
  .toSorted();

export const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: async () => [...migrationNames],
  getMigrationName: (name) => name,
  getMigration: (name) => import(`../../../migrations/${name}.ts`),
};

export const schemaVersion = migrationNames.at(-1) ?? '';

/** Databases of versions before 0.3.0 are not migrated: see docs/install.md. */
const earlierSchema = '0001_record_kinds';

const maxAttempts = 50;
const pauseBetweenAttemptsMs = 100;

const inUseMessage =
  'the database was not updated, because another process is using it: stop all processes of the earlier version, or wait until another process has updated it';

/** One transaction: a killed process leaves nothing, not even Knex's lock. Throws StartError. */
export async function migrate(knex: Knex, { lockMaintenance }: Dialect): Promise<readonly string[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      if ((await pendingMigrations(knex)).length === 0) return [];
      return await knex.transaction(async (transaction) => {
        if (lockMaintenance) {
          await transaction.raw(`set local lock_timeout = 0; ${lockMaintenance}`);
          // Requests of other processes wait behind a migration that waits.
          await transaction.raw("set local lock_timeout = '10s'");
        }
        const pending = await pendingMigrations(transaction);
        if (pending.length > 0) await transaction.migrate.latest({ migrationSource });
        return pending;
      });
    } catch (error) {
      // SQLite waits for no lock to switch to WAL, nor between a transaction's read and write.
      const reason = failureReason(error);
      if (!/SQLITE_BUSY|55P03/.test(reason)) throw error;
      if (attempt === maxAttempts || reason.includes('55P03')) throw new StartError(inUseMessage);
      await setTimeout(pauseBetweenAttemptsMs);
    }
  }
}

/** Throws StartError if the database has an unknown migration. */
export async function pendingMigrations(knex: Knex): Promise<string[]> {
  const applied: string[] = (await knex.schema.hasTable('knex_migrations'))
    ? await knex('knex_migrations').pluck('name')
    : [];
  if (applied.includes(earlierSchema)) {
    throw new StartError(
      'the database is from a version of Yardgraph before 0.3.0, and was not changed: export all records with that version, and import them with this one into a new database (see docs/install.md)',
    );
  }
  const unknown = applied.filter((name) => !migrationNames.includes(name));
  if (unknown.length === 0) return migrationNames.filter((name) => !applied.includes(name));
  throw new StartError(`the database is from a newer version of Yardgraph: it has the migration ${unknown.join(', ')}`);
}
