/**
 * Creates an index for each link followed backwards, for what lists are filtered and ordered by, and for external IDs. All text
 * is compared by its bytes, on every database alike.
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

const tablesWithExternalIds = ['assets', 'work_orders', 'projects', 'locations'];

export async function up(knex: Knex): Promise<void> {
  // Replaced below: on SQLite, its first column was not workspace_id.
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
  // Entries are hashes of the workspace, the key and the value together. Every lookup reads GIN's pending list, which is therefore
  // kept to an eighth of its default size, in kilobytes.
  for (const table of tablesWithExternalIds) {
    await knex.raw(`create index ${table}_external_ids on ${table}
      using gin (jsonb_set('{}', array[workspace_id], external_ids::jsonb) jsonb_path_ops)
      with (gin_pending_list_limit = 512) where external_ids is not null`);
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
  await knex.raw('analyze sqlite_schema');
  await deleteStatistics(knex);
  const addStatistics = (table: string, index: string, ...statistics: number[]) =>
    knex.raw('insert into sqlite_stat1 (tbl, idx, stat) values (?, ?, ?)', [table, index, statistics.join(' ')]);
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
  for (const table of tablesWithExternalIds) {
    await createExternalIds(knex, table);
    await addStatistics(`${table}_external_ids`, `${table}_external_ids`, rowsOfTable, rowsOfWorkspace, 50_000, 2, 1);
  }
  await addStatistics('assets', 'sqlite_autoindex_assets_2', rowsOfTable, rowsOfWorkspace, 1);
  // Makes this connection read the statistics. All others read them with the new schema.
  await knex.raw('analyze sqlite_schema');
}

/** Of our tables only: the file may have others. Older statistics know nothing of the new indexes. */
const deleteStatistics = (knex: Knex) => knex('sqlite_stat1').whereIn('tbl', Object.keys(tables)).delete();

/** SQLite has no index on what is inside of JSON text: a table has a row for each external ID, kept by triggers. */
async function createExternalIds(knex: Knex, table: string): Promise<void> {
  const name = `${table}_external_ids`;
  const add = (row: string, from: string) =>
    `insert into ${name} (workspace_id, key, value, id)
      select ${row}.workspace_id, external.key, external.value, ${row}.id from ${from}`;
  const addNew = add('new', 'json_each(new.external_ids) as external');
  const removeOld = `delete from ${name} where workspace_id = old.workspace_id and id = old.id
      and (key, value) in (select key, value from json_each(old.external_ids))`;
  await knex.raw(`create table ${name} (
    workspace_id text not null,
    key text not null,
    value text not null,
    id text not null,
    primary key (workspace_id, key, value, id)
  ) strict, without rowid`);
  await knex.raw(add('record', `${table} as record cross join json_each(record.external_ids) as external`));
  await knex.raw(`create trigger ${name}_insert after insert on ${table} when new.external_ids is not null
    begin ${addNew}; end`);
  await knex.raw(`create trigger ${name}_update after update of workspace_id, id, external_ids on ${table}
    begin ${removeOld}; ${addNew}; end`);
  await knex.raw(`create trigger ${name}_delete after delete on ${table} when old.external_ids is not null
    begin ${removeOld}; end`);
}

const rowsOfTable = 1_000_000;
const rowsOfWorkspace = 100_000;

export async function down(knex: Knex): Promise<void> {
  for (const [table, { references, texts, values }] of Object.entries(tables)) {
    for (const name of [...references, ...texts, ...values]) await knex.raw(`drop index ${table}_${name}`);
  }
  for (const name of tablesWithExternalIds.map((table) => `${table}_external_ids`)) {
    if (!isSqlite(knex)) await knex.raw(`drop index ${name}`);
    else {
      for (const event of ['insert', 'update', 'delete']) await knex.raw(`drop trigger ${name}_${event}`);
      await knex.raw(`drop table ${name}`);
    }
  }
  await (isSqlite(knex) ? deleteStatistics(knex) : collate(knex, '"default"'));
  const columns = isSqlite(knex) ? 'parent_id' : 'workspace_id, parent_id';
  await knex.raw(`create index asset_categories_parent on asset_categories (${columns})`);
}

const isSqlite = (knex: Knex): boolean => knex.client.dialect === 'sqlite3';
