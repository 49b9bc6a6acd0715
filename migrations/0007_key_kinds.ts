/** Adds the kinds that an API key may write, and the address that used it last. */
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  for (const column of ['writes', 'last_used_from']) await knex.raw(`alter table api_keys add column ${column} text`);
}

export async function down(knex: Knex): Promise<void> {
  for (const column of ['writes', 'last_used_from']) await knex.raw(`alter table api_keys drop column ${column}`);
}
