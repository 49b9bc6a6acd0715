/** Stores the sort keys of names, references and numbers, to which their indexes move. */
import type { Knex } from 'knex';
import { sortKey } from '../src/model/sort-key.ts';
import { columnTypes, createIndex, isSqlite, readStatistics } from './kind-tables.ts';

const sortedColumns: Readonly<Record<string, readonly string[]>> = {
  assets: ['name'],
  work_orders: ['name', 'reference'],
  projects: ['name', 'reference'],
  locations: ['name'],
  transport_orders: ['name', 'reference', 'number'],
  asset_categories: ['name'],
  labels: ['name'],
};

const rowsPerSlice = 5_000;

export async function up(knex: Knex): Promise<void> {
  for (const [table, columns] of Object.entries(sortedColumns)) {
    for (const column of columns) {
      await dropIndex(knex, table, column);
      await knex.raw(`alter table ${table} add column ${column}_key ${columnTypes(knex).text}`);
    }
    // Workspace by workspace: a cluster rejects a statement on several.
    for (const { number } of await knex('workspaces').select('number')) await fillKeys(knex, table, columns, number);
    for (const column of columns) await createIndex(knex, table, column, 'text sorted');
  }
  await readStatistics(knex);
}

async function dropIndex(knex: Knex, table: string, column: string): Promise<void> {
  await knex.raw(`drop index ${table}_${column}`);
  if (isSqlite(knex)) await knex('sqlite_stat1').where('idx', `${table}_${column}`).delete();
}

async function fillKeys(knex: Knex, table: string, columns: readonly string[], workspace: number | string) {
  const elements = isSqlite(knex) ? 'json_each(?) as sent' : 'json_array_elements(?::json) as sent (value)';
  const keys = columns.map((column, index) => `value ->> ${index + 1} as ${column}_key`);
  const assignments = columns.map((column) => `${column}_key = keys.${column}_key`);
  let last: string | undefined = '';
  while (last !== undefined) {
    const rows: Readonly<Record<string, string | null>>[] = await knex(table)
      .select('id', ...columns)
      .where('workspace_id', workspace)
      .where('id', '>', last)
      .orderBy('id')
      .limit(rowsPerSlice);
    last = rows.at(-1)?.id ?? undefined;
    const sent = rows.map((row) => [row.id, ...columns.map((name) => (row[name] ? sortKey(row[name]) : row[name]))]);
    await knex.raw(
      `update ${table} set ${assignments.join(', ')}
        from (select value ->> 0 as record_id, ${keys.join(', ')} from ${elements}) as keys
        where workspace_id = ? and id = keys.record_id`,
      [JSON.stringify(sent), workspace],
    );
  }
}

export async function down(knex: Knex): Promise<void> {
  for (const [table, columns] of Object.entries(sortedColumns)) {
    for (const column of columns) {
      await dropIndex(knex, table, column);
      await knex.raw(`alter table ${table} drop column ${column}_key`);
      await createIndex(knex, table, column, 'text indexed');
    }
  }
  await readStatistics(knex);
}
