/** Adds a row for each import. */
import type { Knex } from 'knex';
import { addStatistics, columnTypes, readStatistics, tableOptions } from './kind-tables.ts';

export async function up(knex: Knex): Promise<void> {
  const { text, time, whole } = columnTypes(knex);
  await knex.raw(`create table import_runs (
    workspace_id ${whole} not null,
    id ${text} not null,
    started_at ${time} not null,
    updated_at ${time} not null,
    user_id ${text},
    message ${text},
    first_change ${whole} not null,
    last_change ${whole} not null,
    created ${whole} not null,
    updated ${whole} not null,
    deleted ${whole} not null,
    primary key (workspace_id, id)
  ) ${tableOptions(knex)}`);
  await knex.raw('create index import_runs_first_change on import_runs (workspace_id, first_change)');
  await addStatistics(knex, 'import_runs', 'import_runs', 1);
  await addStatistics(knex, 'import_runs', 'import_runs_first_change', 1);
  await readStatistics(knex);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('import_runs');
}
