/** Creates the rows that transactions lock to wait for each other, such as upserts of the same kind. */
import type { Knex } from 'knex';

/**
 * Rows, and not Postgres's advisory locks, which hold on one server only: the nodes of a cluster would not wait for each other. Not those
 * of `change_numbers`, either, for which every write of the workspace waits. SQLite has one writer, and needs no locks.
 */
export async function up(knex: Knex): Promise<void> {
  if (isSqlite(knex)) return;
  // With room on their pages, Postgres writes the new version of a row beside the old one.
  await knex.raw(`create table locks (
    workspace_id text collate "C" not null,
    name text collate "C" not null,
    primary key (workspace_id, name)
  ) with (fillfactor = 50)`);
}

export async function down(knex: Knex): Promise<void> {
  if (!isSqlite(knex)) await knex.schema.dropTable('locks');
}

const isSqlite = (knex: Knex): boolean => knex.client.dialect === 'sqlite3';
