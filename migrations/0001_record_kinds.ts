/** Creates the tables of the six record kinds. Every key begins with workspace_id, to allow distributing tables by it. */
import type { Knex } from 'knex';

/** The database's names of column types. */
interface Types {
  /** Text used to find or order rows, compared by its bytes regardless of the database's locale. */
  readonly key: string;
  readonly text: string;
  readonly time: string;
  readonly double: string;
  readonly boolean: string;
  /** JSON text that keeps the order of its keys. */
  readonly json: string;
}

/** SQLite stores times as text in UTC with milliseconds, which sorts by time. */
const sqlite: Types = { key: 'text', text: 'text', time: 'text', double: 'real', boolean: 'integer', json: 'text' };

const postgres: Types = {
  key: 'text collate "C"',
  text: 'text',
  time: 'timestamptz(3)',
  double: 'double precision',
  boolean: 'boolean',
  json: 'json',
};

const tables = ({ key, text, time, double, boolean, json }: Types): Readonly<Record<string, string>> => ({
  assets: `
    workspace_id ${key} not null,
    id ${key} not null,
    name ${text} not null,
    uid ${key},
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

  work_orders: `
    workspace_id ${key} not null,
    id ${key} not null,
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

  projects: `
    workspace_id ${key} not null,
    id ${key} not null,
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

  locations: `
    workspace_id ${key} not null,
    id ${key} not null,
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

  transport_orders: `
    workspace_id ${key} not null,
    id ${key} not null,
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

  // Deferrable, although no statement of the service needs to defer it: copies write a parent before its children.
  asset_categories: `
    workspace_id ${key} not null,
    id ${key} not null,
    name ${text},
    description ${text},
    parent_id ${key},
    created_at ${time} not null,
    updated_at ${time} not null,
    primary key (workspace_id, id),
    foreign key (workspace_id, parent_id) references asset_categories (workspace_id, id) deferrable initially immediate`,
});

/** STRICT rejects values of the wrong type; WITHOUT ROWID stores rows in key order, in one tree instead of two. */
export async function up(knex: Knex): Promise<void> {
  const [types, options] = isSqlite(knex) ? [sqlite, ' strict, without rowid'] : [postgres, ''];
  for (const [table, columns] of Object.entries(tables(types))) {
    await knex.raw(`create table ${table} (${columns}\n)${options}`);
  }
}

export async function down(knex: Knex): Promise<void> {
  for (const table of Object.keys(tables(postgres))) await knex.schema.dropTable(table);
}

const isSqlite = (knex: Knex): boolean => knex.client.dialect === 'sqlite3';
