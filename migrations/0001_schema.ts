/**
 * Creates all tables and indexes. Every key begins with workspace_id, the number of a workspace, to allow distributing tables by it. All
 * text of records is compared by its bytes, on every database alike.
 */
import type { Knex } from 'knex';

/** The database's names of column types. */
interface Types {
  readonly text: string;
  readonly time: string;
  readonly double: string;
  readonly boolean: string;
  readonly whole: string;
  /** JSON text that keeps the order of its keys. */
  readonly json: string;
}

/** SQLite stores times as text in UTC with milliseconds, which sorts by time. */
const sqlite: Types = {
  text: 'text',
  time: 'text',
  double: 'real',
  boolean: 'integer',
  whole: 'integer',
  json: 'text',
};

const postgres: Types = {
  text: 'text collate "C"',
  time: 'timestamptz(3)',
  double: 'double precision',
  boolean: 'boolean',
  whole: 'bigint',
  json: 'json',
};

/** The columns and keys of a table, and the columns that have an index after the workspace. */
interface Table {
  readonly columns: string;
  /** Looked up by their value, so rows without one are not in the index. */
  readonly references?: readonly string[];
  /** Of at most 500 characters, also ordered by: an entry of an index is the text itself. Rows without one come last. */
  readonly texts?: readonly string[];
  /**
   * Usually listed latest first, with the rows without one last. Postgres reads an index in one direction only, and back: so that of a time
   * has this order, and that of a text the order from the start of the alphabet. SQLite reads any index in all of these orders.
   */
  readonly times?: readonly string[];
  readonly hasExternalIds?: true;
}

const kindTables = ({ text, time, double, boolean, whole, json }: Types): Readonly<Record<string, Table>> => ({
  assets: {
    columns: `
      workspace_id ${whole} not null,
      id ${text} not null,
      name ${text} not null,
      uid ${text},
      status_id ${text},
      asset_type_id ${text},
      current_location_id ${text},
      track_utilization ${boolean},
      manufactured_at ${time},
      acquired_at ${time},
      owner_id ${text},
      manufacturer_id ${text},
      purchase_order_id ${text},
      external_ids ${json},
      created_at ${time} not null,
      updated_at ${time} not null,
      updated_by ${text},
      primary key (workspace_id, id),
      unique (workspace_id, uid)`,
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
    hasExternalIds: true,
  },

  work_orders: {
    columns: `
      workspace_id ${whole} not null,
      id ${text} not null,
      name ${text},
      type_id ${text},
      reference ${text},
      project_id ${text},
      status_id ${text},
      location_id ${text},
      start_date ${time},
      end_date ${time},
      notes ${text},
      external_ids ${json},
      created_at ${time} not null,
      updated_at ${time} not null,
      created_by ${text},
      updated_by ${text},
      primary key (workspace_id, id)`,
    references: ['type_id', 'project_id', 'status_id', 'location_id', 'created_by', 'updated_by'],
    texts: ['name', 'reference'],
    times: ['start_date'],
    hasExternalIds: true,
  },

  projects: {
    columns: `
      workspace_id ${whole} not null,
      id ${text} not null,
      name ${text} not null,
      reference ${text},
      start_date ${time},
      end_date ${time},
      notes ${text},
      status_id ${text},
      company_id ${text},
      location_id ${text},
      external_ids ${json},
      created_at ${time} not null,
      updated_at ${time} not null,
      created_by ${text},
      updated_by ${text},
      primary key (workspace_id, id)`,
    references: ['status_id', 'company_id', 'location_id', 'created_by', 'updated_by'],
    texts: ['name', 'reference'],
    times: ['start_date'],
    hasExternalIds: true,
  },

  locations: {
    columns: `
      workspace_id ${whole} not null,
      id ${text} not null,
      name ${text},
      latitude ${double},
      longitude ${double},
      address1 ${text},
      address2 ${text},
      city ${text},
      state ${text},
      postal_code ${text},
      country ${text},
      external_ids ${json},
      created_at ${time} not null,
      updated_at ${time} not null,
      primary key (workspace_id, id)`,
    texts: ['name'],
    hasExternalIds: true,
  },

  transport_orders: {
    columns: `
      workspace_id ${whole} not null,
      id ${text} not null,
      name ${text},
      reference ${text},
      number ${text},
      notes ${text},
      status_id ${text},
      project_id ${text},
      purchase_order_id ${text},
      allocation_order_id ${text},
      created_at ${time} not null,
      updated_at ${time} not null,
      created_by ${text},
      primary key (workspace_id, id)`,
    references: ['status_id', 'project_id', 'purchase_order_id', 'allocation_order_id', 'created_by'],
    texts: ['name', 'reference', 'number'],
  },

  // Deferrable, although no statement of the service needs to defer it: copies set the parents when all categories are there.
  asset_categories: {
    columns: `
      workspace_id ${whole} not null,
      id ${text} not null,
      name ${text},
      description ${text},
      parent_id ${text},
      created_at ${time} not null,
      updated_at ${time} not null,
      primary key (workspace_id, id),
      foreign key (workspace_id, parent_id) references asset_categories (workspace_id, id) deferrable initially immediate`,
    references: ['parent_id'],
    texts: ['name'],
  },

  labels: {
    columns: `
      workspace_id ${whole} not null,
      id ${text} not null,
      key ${text},
      name ${text},
      color ${text},
      created_at ${time} not null,
      updated_at ${time} not null,
      primary key (workspace_id, id),
      unique (workspace_id, key)`,
    texts: ['name'],
  },
});

const otherTables = ({ text, time, boolean, whole, json }: Types): Readonly<Record<string, string>> => ({
  api_keys: `
    workspace_id ${whole} not null,
    id ${text} not null,
    user_id text not null,
    read_only ${boolean} not null,
    label text,
    secret_hash text not null,
    created_at ${time} not null,
    expires_at ${time},
    revoked_at ${time},
    last_used_at ${time},
    primary key (id)`,

  // The number of each workspace's last change. A workspace that is deleted leaves a final number: whatever is still written to it fails,
  // because each write takes a number.
  change_numbers: `
    workspace_id ${whole} primary key,
    number ${whole} not null,
    final_number ${whole},
    constraint change_numbers_open check (number = final_number)`,

  // The log: a row for each record that was created, changed or deleted.
  changes: `
    workspace_id ${whole} not null,
    number ${whole} not null,
    kind ${text} not null,
    action ${text} not null,
    record_id ${text} not null,
    at ${time} not null,
    user_id ${text},
    request_id ${text},
    message ${text},
    before ${json},
    primary key (workspace_id, number)`,

  idempotency_keys: `
    workspace_id ${whole} not null,
    operation ${text} not null,
    key ${text} not null,
    request_hash ${text} not null,
    created_at ${time} not null,
    result ${text} not null,
    primary key (workspace_id, key, operation)`,
});

const otherIndexes = [
  'create index changes_record_id on changes (workspace_id, record_id, number)',
  'create index idempotency_keys_created_at on idempotency_keys (created_at)',
];

export async function up(knex: Knex): Promise<void> {
  await (isSqlite(knex) ? upSqlite : upPostgres)(knex);
  // That of requests without a key has its number from the beginning.
  await knex.raw("insert into workspaces (name) values ('default')");
}

async function upPostgres(knex: Knex): Promise<void> {
  // Numbers are never used again, not even those of workspaces that were deleted.
  await knex.raw(`create table workspaces (
    number bigint generated by default as identity primary key,
    name text collate "C" unique
  )`);
  // Rows that transactions lock to wait for each other, such as upserts of the same kind. (Advisory locks hold on one server only: the
  // nodes of a cluster would not wait for each other. For the rows of change_numbers, every write of the workspace waits.)
  await knex.raw(`create table locks (
    workspace_id bigint not null,
    name text collate "C" not null,
    primary key (workspace_id, name)
  ) ${roomOnPages}`);
  for (const [table, columns] of Object.entries(otherTables(postgres))) {
    await knex.raw(`create table ${table} (${columns}\n) ${table === 'change_numbers' ? roomOnPages : ''}`);
  }
  for (const sql of otherIndexes) await knex.raw(sql);
  for (const [table, { columns, ...indexed }] of Object.entries(kindTables(postgres))) {
    await knex.raw(`create table ${table} (${columns}\n)`);
    const create = (name: string, columns: string, condition = '') =>
      knex.raw(`create index ${table}_${name} on ${table} (workspace_id, ${columns})${condition}`);
    for (const name of indexed.references ?? []) await create(name, `${name}, id`, ` where ${name} is not null`);
    for (const name of indexed.texts ?? []) await create(name, `${name}, id`);
    for (const name of indexed.times ?? []) await create(name, `${name} desc nulls last, id desc`);
    // Entries are hashes of the workspace, the key and the value together. Without GIN's list of entries that are not sorted yet, which
    // every lookup reads: 1,000 lookups in a workspace of 10,000 new records took 850 ms with it, and 13 ms without.
    if (indexed.hasExternalIds) {
      await knex.raw(`create index ${table}_external_ids on ${table}
        using gin (jsonb_set('{}', array[workspace_id::text], external_ids::jsonb) jsonb_path_ops)
        with (fastupdate = off) where external_ids is not null`);
    }
  }
}

/** For rows that are updated all the time: Postgres writes the new version of a row beside the old one. */
const roomOnPages = 'with (fillfactor = 50)';

/**
 * STRICT rejects values of the wrong type; WITHOUT ROWID stores rows in key order, in one tree instead of two.
 *
 * Without statistics, SQLite expects few rows in a workspace, and reads all of them instead of using an index that also begins
 * with workspace_id. So there are statistics from the start, which ANALYZE replaces with real ones.
 */
async function upSqlite(knex: Knex): Promise<void> {
  const inKeyOrder = 'strict, without rowid';
  const readStatistics = 'analyze sqlite_schema';
  await knex.raw(readStatistics);
  const addStatistics = (table: string, index: string, ...statistics: number[]) =>
    knex('sqlite_stat1').insert({
      tbl: table,
      idx: index,
      stat: [rowsOfTable, rowsOfWorkspace, ...statistics].join(' '),
    });

  // Numbers are never used again, not even those of workspaces that were deleted.
  await knex.raw('create table workspaces (number integer primary key autoincrement, name text unique) strict');
  for (const [table, columns] of Object.entries(otherTables(sqlite))) {
    await knex.raw(`create table ${table} (${columns}\n) ${inKeyOrder}`);
  }
  for (const sql of otherIndexes) await knex.raw(sql);
  await addStatistics('changes', 'changes', 1);
  await addStatistics('changes', 'changes_record_id', 10, 1);
  await addStatistics('idempotency_keys', 'idempotency_keys', 1, 1);

  for (const [table, { columns, ...indexed }] of Object.entries(kindTables(sqlite))) {
    await knex.raw(`create table ${table} (${columns}\n) ${inKeyOrder}`);
    await addStatistics(table, table, 1);
    // SQLite appends the ID.
    const create = async (name: string, rowsOfValue: number, condition = '') => {
      await knex.raw(`create index ${table}_${name} on ${table} (workspace_id, ${name})${condition}`);
      await addStatistics(table, `${table}_${name}`, rowsOfValue);
    };
    for (const name of indexed.references ?? []) await create(name, 100, ` where ${name} is not null`);
    for (const name of indexed.texts ?? []) await create(name, 4);
    for (const name of indexed.times ?? []) await create(name, 10);
    if (indexed.hasExternalIds) {
      await createExternalIds(knex, table);
      await addStatistics(`${table}_external_ids`, `${table}_external_ids`, 50_000, 2, 1);
    }
  }
  await addStatistics('assets', 'sqlite_autoindex_assets_2', 1);
  await addStatistics('labels', 'sqlite_autoindex_labels_2', 1);
  // Makes this connection read the statistics. All others read them with the new schema.
  await knex.raw(readStatistics);
}

const rowsOfTable = 1_000_000;
const rowsOfWorkspace = 100_000;

/**
 * SQLite has no index on what is inside of JSON text: a table has a row for each external ID, kept by triggers, which write only what
 * differs.
 */
async function createExternalIds(knex: Knex, table: string): Promise<void> {
  const name = `${table}_external_ids`;
  const columns = 'workspace_id, key, value, id';
  await knex.raw(`create table ${name} (
    workspace_id integer not null,
    key text not null,
    value text not null,
    id text not null,
    primary key (workspace_id, key, value, id)
  ) strict, without rowid`);
  await knex.raw(`create trigger ${name}_insert after insert on ${table} when new.external_ids is not null
    begin
      insert into ${name} (${columns})
        select new.workspace_id, external.key, external.value, new.id from json_each(new.external_ids) as external;
    end`);
  await knex.raw(`create trigger ${name}_update after update of workspace_id, id, external_ids on ${table}
    when (old.external_ids, old.workspace_id, old.id) is not (new.external_ids, new.workspace_id, new.id)
    begin
      delete from ${name} where workspace_id = old.workspace_id and id = old.id and (key, value) in (
        select key, value from (
          select key, value from json_each(old.external_ids)
          except
          select key, value from json_each(new.external_ids)
            where (new.workspace_id, new.id) is (old.workspace_id, old.id)
        )
      );
      insert or ignore into ${name} (${columns})
        select new.workspace_id, key, value, new.id from json_each(new.external_ids);
    end`);
  await knex.raw(`create trigger ${name}_delete after delete on ${table} when old.external_ids is not null
    begin
      delete from ${name} where workspace_id = old.workspace_id and id = old.id
        and (key, value) in (select key, value from json_each(old.external_ids));
    end`);
}

export async function down(knex: Knex): Promise<void> {
  for (const [table, { hasExternalIds }] of Object.entries(kindTables(postgres))) {
    await knex.schema.dropTable(table);
    if (isSqlite(knex) && hasExternalIds) await knex.schema.dropTable(`${table}_external_ids`);
  }
  for (const table of [...Object.keys(otherTables(postgres)), 'workspaces']) await knex.schema.dropTable(table);
  if (!isSqlite(knex)) await knex.schema.dropTable('locks');
}

const isSqlite = (knex: Knex): boolean => knex.client.dialect === 'sqlite3';
