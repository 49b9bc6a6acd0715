/**
 * Drops the indexes of fields that few lists are filtered or ordered by: each of them cost every write, and the lists are read without
 * them in one pass over the records of a workspace. An operator can add them again: see docs/commands.md.
 */
import type { Knex } from 'knex';

const tables: Readonly<Record<string, { readonly texts: readonly string[]; readonly values: readonly string[] }>> = {
  assets: { texts: [], values: ['manufactured_at', 'acquired_at', 'created_at', 'updated_at'] },
  work_orders: { texts: [], values: ['end_date', 'created_at', 'updated_at'] },
  projects: { texts: [], values: ['end_date', 'created_at', 'updated_at'] },
  locations: { texts: ['city', 'postal_code', 'country'], values: ['latitude', 'created_at', 'updated_at'] },
  transport_orders: { texts: [], values: ['created_at', 'updated_at'] },
  asset_categories: { texts: [], values: ['created_at', 'updated_at'] },
};

/** On SQLite, their statistics are deleted with them. */
export async function up(knex: Knex): Promise<void> {
  for (const [table, { texts, values }] of Object.entries(tables)) {
    for (const name of [...texts, ...values]) await knex.raw(`drop index if exists ${table}_${name}`);
  }
}

/** Creates them as migration 0004 did, also where an operator has added one meanwhile. */
export async function down(knex: Knex): Promise<void> {
  await up(knex);
  const isSqlite = knex.client.dialect === 'sqlite3';
  for (const [table, { texts, values }] of Object.entries(tables)) {
    const create = async (name: string, key: string, rowsOfValue: number) => {
      const columns = isSqlite ? `workspace_id, ${name}` : `workspace_id, ${key}, id`;
      await knex.raw(`create index ${table}_${name} on ${table} (${columns})`);
      if (!isSqlite) return;
      const statistics = `1000000 100000 ${rowsOfValue}`;
      await knex('sqlite_stat1').insert({ tbl: table, idx: `${table}_${name}`, stat: statistics });
    };
    for (const name of texts) await create(name, `left(${name}, 100)`, 4);
    for (const name of values) await create(name, name, 10);
  }
  if (isSqlite) await knex.raw('analyze sqlite_schema');
}
