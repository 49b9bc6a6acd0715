/** Creates the table of API keys, with which callers authenticate for a workspace. */
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  const [key, time, boolean, options] =
    knex.client.dialect === 'sqlite3'
      ? ['text', 'text', 'integer', ' strict, without rowid']
      : ['text collate "C"', 'timestamptz(3)', 'boolean', ''];
  await knex.raw(`create table api_keys (
    workspace_id ${key} not null,
    id ${key} not null,
    user_id text not null,
    read_only ${boolean} not null,
    label text,
    secret_hash text not null,
    previous_hash text,
    previous_expires_at ${time},
    created_at ${time} not null,
    expires_at ${time},
    revoked_at ${time},
    last_used_at ${time},
    primary key (workspace_id, id)
  )${options}`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('api_keys');
}
