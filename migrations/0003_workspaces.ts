/**
 * Prepares renaming and deleting workspaces. The index finds the children of each category that is moved or deleted: without
 * it, the foreign key reads all categories of the workspace for each of them.
 */
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  const isSqlite = knex.client.dialect === 'sqlite3';
  await knex.raw(`alter table api_keys add column moved_to ${isSqlite ? 'text' : 'text collate "C"'}`);
  // SQLite appends the primary key. It does not use an index that begins with workspace_id: it takes the table itself.
  const columns = isSqlite ? 'parent_id' : 'workspace_id, parent_id';
  await knex.raw(`create index asset_categories_parent on asset_categories (${columns})`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index asset_categories_parent');
  await knex.raw('alter table api_keys drop column moved_to');
}
