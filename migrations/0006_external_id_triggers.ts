/**
 * Makes the triggers that keep SQLite's tables of external IDs write only what differs. An update wrote all external IDs of its records
 * again, while every other write waited. Postgres has an index instead.
 */
import type { Knex } from 'knex';

const tables = ['assets', 'work_orders', 'projects', 'locations'];

/** The condition and the body of a table's trigger. `or ignore` skips rows that exist. */
const trigger = (name: string): string =>
  `when (old.external_ids, old.workspace_id, old.id) is not (new.external_ids, new.workspace_id, new.id)
    begin
      delete from ${name} where workspace_id = old.workspace_id and id = old.id and (key, value) in (
        select key, value from (
          select key, value from json_each(old.external_ids)
          except
          select key, value from json_each(new.external_ids)
            where (new.workspace_id, new.id) is (old.workspace_id, old.id)
        )
      );
      insert or ignore into ${name} (workspace_id, key, value, id)
        select new.workspace_id, key, value, new.id from json_each(new.external_ids);
    end`;

/** As in migration 0004. */
const previousTrigger = (name: string): string =>
  `begin
      delete from ${name} where workspace_id = old.workspace_id and id = old.id
        and (key, value) in (select key, value from json_each(old.external_ids));
      insert into ${name} (workspace_id, key, value, id)
        select new.workspace_id, key, value, new.id from json_each(new.external_ids);
    end`;

export const up = (knex: Knex): Promise<void> => replaceTriggers(knex, trigger);

export const down = (knex: Knex): Promise<void> => replaceTriggers(knex, previousTrigger);

async function replaceTriggers(knex: Knex, actionOf: (name: string) => string): Promise<void> {
  if (knex.client.dialect !== 'sqlite3') return;
  for (const table of tables) {
    const name = `${table}_external_ids`;
    await knex.raw(`drop trigger ${name}_update`);
    await knex.raw(`create trigger ${name}_update after update of workspace_id, id, external_ids on ${table}
      ${actionOf(name)}`);
  }
}
