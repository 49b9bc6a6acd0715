/** The tables of the six record kinds. Every key begins with workspace_id, so that the tables can be spread by it. */
import type { Knex } from 'knex';

const tables: Record<string, string> = {
  assets: `
    workspace_id text not null,
    id text not null,
    name text not null,
    uid text,
    status_id text,
    asset_type_id text,
    current_location_id text,
    track_utilization integer check (track_utilization in (0, 1)),
    manufactured_at text,
    acquired_at text,
    owner_id text,
    manufacturer_id text,
    purchase_order_id text,
    external_ids text,
    created_at text not null,
    updated_at text not null,
    updated_by text,
    primary key (workspace_id, id),
    unique (workspace_id, uid)`,

  work_orders: `
    workspace_id text not null,
    id text not null,
    name text,
    type_id text,
    reference text,
    project_id text,
    status_id text,
    location_id text,
    start_date text,
    end_date text,
    notes text,
    external_ids text,
    created_at text not null,
    updated_at text not null,
    created_by text,
    updated_by text,
    primary key (workspace_id, id)`,

  projects: `
    workspace_id text not null,
    id text not null,
    name text not null,
    reference text,
    start_date text,
    end_date text,
    notes text,
    status_id text,
    company_id text,
    location_id text,
    external_ids text,
    created_at text not null,
    updated_at text not null,
    created_by text,
    updated_by text,
    primary key (workspace_id, id)`,

  locations: `
    workspace_id text not null,
    id text not null,
    name text,
    latitude real,
    longitude real,
    address1 text,
    address2 text,
    city text,
    state text,
    postal_code text,
    country text,
    external_ids text,
    created_at text not null,
    updated_at text not null,
    primary key (workspace_id, id)`,

  transport_orders: `
    workspace_id text not null,
    id text not null,
    name text,
    reference text,
    number text,
    notes text,
    status_id text,
    project_id text,
    purchase_order_id text,
    allocation_order_id text,
    created_at text not null,
    updated_at text not null,
    created_by text,
    primary key (workspace_id, id)`,

  asset_categories: `
    workspace_id text not null,
    id text not null,
    name text,
    description text,
    parent_id text,
    created_at text not null,
    updated_at text not null,
    primary key (workspace_id, id),
    foreign key (workspace_id, parent_id) references asset_categories (workspace_id, id)`,
};

/** STRICT refuses values of the wrong type; WITHOUT ROWID keeps the rows in the order of their keys, without a second tree. */
export async function up(knex: Knex): Promise<void> {
  for (const [table, columns] of Object.entries(tables)) {
    await knex.raw(`create table ${table} (${columns}\n) strict, without rowid`);
  }
}

export async function down(knex: Knex): Promise<void> {
  for (const table of Object.keys(tables)) await knex.schema.dropTable(table);
}
