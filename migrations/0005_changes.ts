/** Creates the log of changes, from which history, the feed and the results of repeated requests are read. */
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  const isSqlite = knex.client.dialect === 'sqlite3';
  const [key, time, whole, json, options] = isSqlite
    ? ['text', 'text', 'integer', 'text', ' strict, without rowid']
    : ['text collate "C"', 'timestamptz(3)', 'bigint', 'json', ''];

  // The number of each workspace's last change. Its rows are updated all the time: with room on their pages, Postgres writes the new
  // version of a row beside the old one. A workspace that is renamed or deleted leaves its name with a final number: whatever is still
  // written under it fails, because each write takes a number.
  await knex.raw(`create table change_numbers (
    workspace_id ${key} primary key,
    number ${whole} not null,
    final_number ${whole},
    constraint change_numbers_open check (number = final_number)
  )${options}${isSqlite ? '' : ' with (fillfactor = 50)'}`);

  // A row for each record that was changed or deleted, and one for all records that were created together: their IDs are successive,
  // and so are the numbers of their changes, of which the row has the last.
  await knex.raw(`create table changes (
    workspace_id ${key} not null,
    number ${whole} not null,
    kind ${key} not null,
    action ${key} not null,
    first_id ${key} not null,
    records ${whole} not null,
    at ${time} not null,
    user_id ${key},
    request_id ${key},
    message ${key},
    before ${json},
    primary key (workspace_id, number)
  )${options}`);
  await knex.raw(`create index changes_creations on changes (workspace_id, first_id) where action = 'created'`);
  await knex.raw(`create index changes_records on changes (workspace_id, first_id, number) where action <> 'created'`);

  await knex.raw(`create table idempotency_keys (
    workspace_id ${key} not null,
    operation ${key} not null,
    key ${key} not null,
    request_hash ${key} not null,
    created_at ${time} not null,
    result ${json} not null,
    primary key (workspace_id, key, operation)
  )${options}`);
  await knex.raw('create index idempotency_keys_created_at on idempotency_keys (created_at)');

  if (!isSqlite) return;
  // Otherwise SQLite expects few rows in a workspace, and reads all of them instead of using the index.
  await knex.raw(`insert into sqlite_stat1 (tbl, idx, stat) values
    ('changes', 'changes', '1000000 100000 1'),
    ('changes', 'changes_creations', '1000000 100000 1'),
    ('changes', 'changes_records', '1000000 100000 10 1'),
    ('idempotency_keys', 'idempotency_keys', '1000000 100000 1 1')`);
  await knex.raw('analyze sqlite_schema');
}

export async function down(knex: Knex): Promise<void> {
  for (const table of ['idempotency_keys', 'changes', 'change_numbers']) await knex.schema.dropTable(table);
}
