/**
 * Creates the tables of record kinds in the form of version 0.3: columns, keys, indexes, statistics and external IDs. Frozen, like the
 * migrations that call it: a later form is a new file.
 *
 * Every key begins with workspace_id, the number of a workspace, to allow distributing tables by it. All text of records is compared by its
 * bytes, on every database alike.
 */
import type { Knex } from 'knex';

type Type = 'text' | 'time' | 'double' | 'boolean';

/**
 * A column and its index, which begins with the workspace.
 * - A text with an index has at most 500 characters, also ordered by: an entry of an index is the text itself. Rows without one come last.
 * - A sorted text has a column for its sort key, and the index has the key.
 * - A time with an index is usually listed latest first, with the rows without one last. Postgres reads an index in one direction only, and
 *   back: so that of a time has this order, and that of a text the order from the start of the alphabet. SQLite reads any index in all of
 *   these orders.
 * - A reference is looked up by its value, so rows without one are not in the index. A stamp is a reference that the service sets; a parent
 *   is a row of the same table. Its foreign key is deferrable, although no statement of the service needs to defer it: copies set the
 *   parents when all rows are there.
 */
type Column =
  | `${Type}${'' | ' not null'}${'' | ' indexed' | ' unique'}`
  | `text${'' | ' not null'} sorted`
  | 'reference'
  | 'occupied not null'
  | 'stamp'
  | 'parent'
  | 'external IDs';

type Columns = Readonly<Record<string, Column>>;

export const isSqlite = (knex: Knex): boolean => knex.client.dialect === 'sqlite3';

/** Returns the database's names of column types. SQLite stores times as text in UTC with milliseconds, which sorts by time. */
export const columnTypes = (knex: Knex) =>
  isSqlite(knex)
    ? { text: 'text', time: 'text', double: 'real', boolean: 'integer', whole: 'integer', json: 'text' }
    : {
        text: 'text collate "C"',
        time: 'timestamptz(3)',
        double: 'double precision',
        boolean: 'boolean',
        whole: 'bigint',
        // Keeps the order of its keys.
        json: 'json',
      };

/** STRICT rejects values of the wrong type; WITHOUT ROWID stores rows in key order, in one tree instead of two. */
export const tableOptions = (knex: Knex): string => (isSqlite(knex) ? 'strict, without rowid' : '');

/** Returns the two functions of a migration, from the columns of each table other than the ID, the workspace and the times of changes. */
export const kindTables = (tables: Readonly<Record<string, Columns>>): Required<Knex.Migration> => ({
  async up(knex) {
    for (const [table, columns] of Object.entries(tables)) await createTable(knex, table, columns);
    await readStatistics(knex);
  },
  async down(knex) {
    for (const [table, columns] of Object.entries(tables)) {
      await knex.schema.dropTable(table);
      if (isSqlite(knex) && hasExternalIds(columns)) await knex.schema.dropTable(`${table}_external_ids`);
    }
  },
});

/** Returns the two functions of a migration that adds columns to tables. */
export const kindColumns = (
  tables: Readonly<Record<string, Readonly<Record<string, 'reference' | 'parent'>>>>,
): Required<Knex.Migration> => ({
  async up(knex) {
    for (const [table, columns] of Object.entries(tables)) {
      for (const [name, column] of Object.entries(columns)) await addColumn(knex, table, name, column);
    }
    await readStatistics(knex);
  },
  async down(knex) {
    for (const [table, columns] of Object.entries(tables)) {
      for (const name of Object.keys(columns)) {
        await knex.raw(`drop index ${table}_${name}`);
        await knex.raw(`alter table ${table} drop column ${name}`);
      }
    }
  },
});

/** SQLite adds no foreign key of two columns to a table: there, only the service checks that a parent exists. */
async function addColumn(knex: Knex, table: string, name: string, column: 'reference' | 'parent'): Promise<void> {
  await knex.raw(`alter table ${table} add column ${name} ${columnTypes(knex).text}`);
  if (column === 'parent' && !isSqlite(knex)) await knex.raw(`alter table ${table} add ${parentKey(table, name)}`);
  await createIndex(knex, table, name, column);
}

const parentKey = (table: string, name: string): string =>
  `foreign key (workspace_id, ${name}) references ${table} (workspace_id, id) deferrable initially immediate`;

const hasExternalIds = (columns: Columns): boolean => Object.values(columns).includes('external IDs');

async function createTable(knex: Knex, table: string, columns: Columns): Promise<void> {
  const { text, time, whole, json, ...others } = columnTypes(knex);
  const types = { text, time, ...others, reference: text, occupied: text, stamp: text, parent: text, external: json };
  const declared = Object.entries(columns);
  const unique = declared.flatMap(([name, column]) => (column.endsWith(' unique') ? [name] : []));
  const definition = ([name, column]: [string, Column]) => {
    const type = types[column.split(' ')[0] as keyof typeof types];
    return `${name} ${type}${column.includes(' not null') ? ' not null' : ''}`;
  };
  const definitions = [
    `workspace_id ${whole} not null`,
    `id ${text} not null`,
    ...declared.filter(([, column]) => column !== 'stamp').map(definition),
    `created_at ${time} not null`,
    `updated_at ${time} not null`,
    ...declared.filter(([, column]) => column === 'stamp').map(definition),
    ...declared.filter(([, column]) => column.endsWith(' sorted')).map(([name]) => `${name}_key ${text}`),
    'primary key (workspace_id, id)',
    ...unique.map((name) => `unique (workspace_id, ${name})`),
    ...declared.flatMap(([name, column]) => (column === 'parent' ? [parentKey(table, name)] : [])),
  ];
  await knex.raw(`create table ${table} (${definitions.join(', ')}) ${tableOptions(knex)}`);
  await addStatistics(knex, table, table, 1);
  // SQLite numbers the indexes of constraints; the first is that of the primary key.
  for (const at of unique.keys()) await addStatistics(knex, table, `sqlite_autoindex_${table}_${at + 2}`, 1);
  for (const [name, column] of declared) await createIndex(knex, table, name, column);
}

export async function createIndex(knex: Knex, table: string, name: string, column: Column): Promise<void> {
  const index = `${table}_${name}`;
  const create = async (rowsOfValue: number, key: string, { condition = '', first = name } = {}) => {
    // SQLite appends the ID, and reads the index in both directions.
    const columns = isSqlite(knex) ? first : key;
    await knex.raw(`create index ${index} on ${table} (workspace_id, ${columns})${condition}`);
    await addStatistics(knex, table, index, rowsOfValue);
  };
  if (column === 'external IDs') await indexExternalIds(knex, table);
  else if (column === 'reference' || column === 'stamp' || column === 'parent')
    await create(100, `${name}, id`, { condition: ` where ${name} is not null` });
  else if (column.endsWith(' sorted')) await create(4, `${name}_key, id`, { first: `${name}_key` });
  else if (column === 'occupied not null') {
    // Has all that tells whether rows overlap a time: without it, 5,000 rows took 10 s to be compared with 500 each.
    await knex.raw(`create index ${index} on ${table} (workspace_id, ${name}, start_date, id, end_date)`);
    await addStatistics(knex, table, index, 100, 2, 1, 1);
  } else if (!column.endsWith(' indexed')) return;
  else if (column.startsWith('time')) await create(10, `${name} desc nulls last, id desc`);
  else await create(4, `${name}, id`);
}

/**
 * On Postgres, entries are hashes of the workspace, the key and the value together. Without GIN's list of entries that are not sorted yet,
 * which every lookup reads: 1,000 lookups in a workspace of 10,000 new records took 850 ms with it, and 13 ms without. SQLite has no index on
 * what is inside of JSON text: a table has a row for each external ID, kept by triggers, which write only what differs.
 */
async function indexExternalIds(knex: Knex, table: string): Promise<void> {
  const name = `${table}_external_ids`;
  if (!isSqlite(knex)) {
    await knex.raw(`create index ${name} on ${table}
      using gin (jsonb_set('{}', array[workspace_id::text], external_ids::jsonb) jsonb_path_ops)
      with (fastupdate = off) where external_ids is not null`);
    return;
  }
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
  await addStatistics(knex, name, name, 50_000, 2, 1);
}

const rowsOfTable = 1_000_000;
const rowsOfWorkspace = 100_000;

/**
 * Without statistics, SQLite expects few rows in a workspace, and reads all of them instead of using an index that also begins
 * with workspace_id. So there are statistics from the start, which ANALYZE replaces with real ones.
 */
export async function addStatistics(knex: Knex, table: string, index: string, ...rows: number[]): Promise<void> {
  if (!isSqlite(knex)) return;
  await knex('sqlite_stat1').insert({
    tbl: table,
    idx: index,
    stat: [rowsOfTable, rowsOfWorkspace, ...rows].join(' '),
  });
}

/** Creates the table of statistics, and has this connection read it. All others read it with the new schema. */
export async function readStatistics(knex: Knex): Promise<void> {
  if (isSqlite(knex)) await knex.raw('analyze sqlite_schema');
}
