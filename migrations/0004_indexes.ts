/**
 * Creates an index for each link followed backwards, and for what lists are filtered and ordered by. All text is compared by its
 * bytes, on every database alike.
 */
import type { Knex } from 'knex';

interface Indexed {
  /** Looked up by their value, so rows without one are not in the index. */
  readonly references: readonly string[];
  /** Texts of any length, also ordered by: rows without a value come last. */
  readonly texts: readonly string[];
  /** Times and numbers, also ordered by. */
  readonly values: readonly string[];
  /** All other texts, which have no index. */
  readonly otherTexts: readonly string[];
}

const tables: Readonly<Record<string, Indexed>> = {
  assets: {
    references: [
      'status_id',
      'asset_type_id',
      'current_location_id',
      'owner_id',
      'manufacturer_id',
      'purchase_order_id',
      'updated_by',
    ],
    texts: ['name'],
    values: ['manufactured_at', 'acquired_at', 'created_at', 'updated_at'],
    otherTexts: [],
  },
  work_orders: {
    references: ['type_id', 'project_id', 'status_id', 'location_id', 'created_by', 'updated_by'],
    texts: ['name', 'reference'],
    values: ['start_date', 'end_date', 'created_at', 'updated_at'],
    otherTexts: ['notes'],
  },
  projects: {
    references: ['status_id', 'company_id', 'location_id', 'created_by', 'updated_by'],
    texts: ['name', 'reference'],
    values: ['start_date', 'end_date', 'created_at', 'updated_at'],
    otherTexts: ['notes'],
  },
  locations: {
    references: [],
    texts: ['name', 'city', 'postal_code', 'country'],
    values: ['latitude', 'created_at', 'updated_at'],
    otherTexts: ['address1', 'address2', 'state'],
  },
  transport_orders: {
    references: ['status_id', 'project_id', 'purchase_order_id', 'allocation_order_id', 'created_by'],
    texts: ['name', 'reference', 'number'],
    values: ['created_at', 'updated_at'],
    otherTexts: ['notes'],
  },
  asset_categories: {
    references: ['parent_id'],
    texts: ['name'],
    values: ['created_at', 'updated_at'],
    otherTexts: ['description'],
  },
};

export async function up(knex: Knex): Promise<void> {
  // It did not begin with workspace_id on SQLite.
  await knex.raw('drop index asset_categories_parent');
  await (isSqlite(knex) ? upSqlite : upPostgres)(knex);
}

async function upPostgres(knex: Knex): Promise<void> {
  await collate(knex, '"C"');
  for (const [table, { references, texts, values }] of Object.entries(tables)) {
    const create = (name: string, key: string, condition = '') =>
      knex.raw(`create index ${table}_${name} on ${table} (workspace_id, ${key}, id)${condition}`);
    for (const name of references) await create(name, name, ` where ${name} is not null`);
    // Of a long text only the beginning, because a key of an index has at most 2,704 bytes.
    for (const name of texts) await create(name, `left(${name}, 100)`);
    for (const name of values) await create(name, name);
  }
}

/** Rewrites no table. */
async function collate(knex: Knex, collation: string): Promise<void> {
  for (const [table, { references, texts, otherTexts }] of Object.entries(tables)) {
    // parent_id is collated as its primary key is.
    const columns = [...references, ...texts, ...otherTexts].filter((name) => name !== 'parent_id');
    const changes = columns.map((name) => `alter column ${name} type text collate ${collation}`);
    await knex.raw(`alter table ${table} ${changes.join(', ')}`);
  }
}

/**
 * Without statistics, SQLite expects few rows in a workspace, and reads all of them instead of using an index that also begins
 * with workspace_id. So there are statistics from the start, which ANALYZE replaces with real ones.
 */
async function upSqlite(knex: Knex): Promise<void> {
  await knex.raw('analyze');
  const addStatistics = (table: string, index: string, ...statistics: number[]) =>
    knex.raw('insert into sqlite_stat1 (tbl, idx, stat) values (?, ?, ?)', [table, index, statistics.join(' ')]);
  await knex.raw('delete from sqlite_stat1');
  for (const [table, { references, texts, values }] of Object.entries(tables)) {
    await addStatistics(table, table, rowsOfTable, rowsOfWorkspace, 1);
    // SQLite appends the ID.
    const create = async (name: string, rowsOfValue: number, condition = '') => {
      await knex.raw(`create index ${table}_${name} on ${table} (workspace_id, ${name})${condition}`);
      await addStatistics(table, `${table}_${name}`, rowsOfTable, rowsOfWorkspace, rowsOfValue);
    };
    for (const name of references) await create(name, 100, ` where ${name} is not null`);
    for (const name of texts) await create(name, 4);
    for (const name of values) await create(name, 10);
  }
  await addStatistics('assets', 'sqlite_autoindex_assets_2', rowsOfTable, rowsOfWorkspace, 1);
  // Makes this connection read the statistics. All others read them with the new schema.
  await knex.raw('analyze sqlite_schema');
}

const rowsOfTable = 1_000_000;
const rowsOfWorkspace = 100_000;

export async function down(knex: Knex): Promise<void> {
  for (const [table, { references, texts, values }] of Object.entries(tables)) {
    for (const name of [...references, ...texts, ...values]) await knex.raw(`drop index ${table}_${name}`);
  }
  await (isSqlite(knex) ? knex.raw('drop table sqlite_stat1') : collate(knex, '"default"'));
  const columns = isSqlite(knex) ? 'parent_id' : 'workspace_id, parent_id';
  await knex.raw(`create index asset_categories_parent on asset_categories (${columns})`);
}

const isSqlite = (knex: Knex): boolean => knex.client.dialect === 'sqlite3';
