/** Prepares renaming and deleting workspaces. */
import type { Knex } from 'knex';

/** The index finds the children of each category that is deleted or moved: without it, the foreign key reads all categories for each. */
export async function up(knex: Knex): Promise<void> {
  const key = knex.client.dialect === 'sqlite3' ? 'text' : 'text collate "C"';
  await knex.raw(`alter table api_keys add column moved_to ${key}`);
  await knex.raw('create index asset_categories_parent on asset_categories (workspace_id, parent_id)');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index asset_categories_parent');
  await knex.raw('alter table api_keys drop column moved_to');
}
