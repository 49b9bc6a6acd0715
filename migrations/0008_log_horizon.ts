/** Adds the horizon of each workspace's log: the last change that was deleted from it. */
import type { Knex } from 'knex';
import { columnTypes } from './kind-tables.ts';

export async function up(knex: Knex): Promise<void> {
  const { time, whole } = columnTypes(knex);
  const columns = [`horizon ${whole} not null default 0`, `horizon_at ${time}`, `erasures ${whole} not null default 0`];
  for (const column of columns) await knex.raw(`alter table change_numbers add column ${column}`);
}

export async function down(knex: Knex): Promise<void> {
  for (const column of ['horizon', 'horizon_at', 'erasures'])
    await knex.raw(`alter table change_numbers drop column ${column}`);
}
