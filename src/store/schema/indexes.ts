/**
 * The indexes of the tables of records: those that the fields declare, which migrations create, and those that an operator adds. Both
 * have the name `table_column` and the same form, so that a field can later be declared as indexed without building its index again.
 */
import type { RecordKind } from '../../model/record-kind.ts';
import type { Driver, Run } from '../connections/driver.ts';
import type { Statements } from '../connections/transactions.ts';
import { columnName, columnsOf } from '../query/columns.ts';
import type { Dialect } from '../query/dialect.ts';

/** The part of a database that is used here. */
type Database = Pick<Statements, 'run' | 'read' | 'transaction'> & {
  readonly dialect: Dialect;
  readonly driver: Pick<Driver, 'name'>;
};

interface Index {
  readonly name: string;
  readonly kind: RecordKind;
  /** The field that it begins with, after the workspace. */
  readonly field: string;
  readonly bytes: number;
  /** True for the service's own indexes, false for those that an operator has added. */
  readonly isOwn: boolean;
  /** False after an attempt of Postgres to create it has failed: writes maintain it, but no query uses it. */
  readonly isValid: boolean;
}

/** Returns the fields of which an operator can add an index: all others have one, or are never compared. */
export const fieldsToIndex = ({ storedFields }: RecordKind): string[] =>
  Object.entries(storedFields).flatMap(([name, { type, indexed }]) =>
    !indexed && ['text', 'number', 'boolean', 'dateTime'].includes(type) ? [name] : [],
  );

const isPostgres = ({ driver }: Database): boolean => driver.name === 'Postgres';

/** Returns the name of the index of a field, whether it exists or not. */
export const indexName = ({ table }: RecordKind, field: string): string => `${table}_${columnName(field)}`;

/**
 * Returns the indexes of the kinds, with the table that SQLite has for each kind's external IDs. Reads all pages of an index in
 * SQLite.
 */
export async function listIndexes(database: Database, kinds: readonly RecordKind[]): Promise<Index[]> {
  const rows = await database.read(isPostgres(database) ? postgresIndexes : sqliteIndexes);
  return kinds.flatMap((kind) =>
    rows.flatMap((row): Index[] => {
      const name = String(row.name);
      const isOfExternalIds = name === indexName(kind, 'externalIds');
      const column = columnsOf(kind).find((other) => other.name === row.column);
      const field = isOfExternalIds ? 'externalIds' : column?.field;
      if ((row.table !== kind.table && !isOfExternalIds) || field === undefined) return [];
      const isDeclared = kind.storedFields[field]?.indexed === true && name === indexName(kind, field);
      const isOwn = isDeclared || Boolean(row.is_unique);
      return [{ name, kind, field, bytes: Number(row.bytes), isOwn, isValid: Boolean(row.is_valid) }];
    }),
  );
}

/** The column is the one after `workspace_id`, */
const postgresIndexes = `select i.relname as name, t.relname as "table", pg_relation_size(i.oid) as bytes,
    indisunique as is_unique, indisvalid as is_valid,
    pg_get_indexdef(i.oid, 2, true) as "column"
  from pg_index join pg_class i on i.oid = indexrelid join pg_class t on t.oid = indrelid
  where t.relnamespace = current_schema()::regnamespace
  order by i.relname`;

const sqliteIndexes = `select name, tbl_name as "table", 1 as is_valid,
    (select pgsize from dbstat where aggregate = true and dbstat.name = sqlite_schema.name) as bytes,
    (select "unique" from pragma_index_list(tbl_name) as list where list.name = sqlite_schema.name) as is_unique,
    (select info.name from pragma_index_info(sqlite_schema.name) as info where seqno = 1) as "column"
  from sqlite_schema
  where type = 'index' or name like '%\\_external\\_ids' escape '\\' and type = 'table'
  order by name`;

/** Tells the dialect which indexes there are. Indexes that are added later are not used before the next start. */
export async function readIndexes(database: Database): Promise<void> {
  const rows = await database.read(
    isPostgres(database)
      ? `select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
          where indisvalid and relnamespace = current_schema()::regnamespace`
      : `select name from sqlite_schema where type = 'index'`,
  );
  for (const { name } of rows) database.dialect.indexes.add(String(name));
}

/** Creates an index of a field that has none. On Postgres, what others write meanwhile does not wait for it. */
export async function addIndex(database: Database, kind: RecordKind, field: string): Promise<void> {
  const name = indexName(kind, field);
  const column = columnName(field);
  const { type } = kind.storedFields[field] ?? {};
  if (!type) throw new Error(`there is no field ${field}`);
  if (isPostgres(database)) {
    await dropIndex(database, kind, field);
    await database.run(`create index concurrently ${name} on ${kind.table} (workspace_id, ${column}, id)`);
    return;
  }
  const create = async (run: Run) => {
    await run(`create index ${name} on ${kind.table} (workspace_id, ${column})`);
    // Without statistics, SQLite expects few rows in a workspace, and reads all of them instead.
    const rowsOfValue = type === 'boolean' ? 50_000 : 10;
    const statistics = `1000000 100000 ${rowsOfValue}`;
    await run('insert into sqlite_stat1 (tbl, idx, stat) values (?, ?, ?)', [kind.table, name, statistics]);
    // Makes this connection read the statistics. All others read them with the new schema.
    await run('analyze sqlite_schema');
  };
  await database.transaction(create);
}

/** Drops the index of a field, even an incomplete one that a failed attempt left. SQLite deletes its statistics, too. */
export async function dropIndex(database: Database, kind: RecordKind, field: string): Promise<void> {
  const concurrently = isPostgres(database) ? ' concurrently' : '';
  await database.run(`drop index${concurrently} if exists ${indexName(kind, field)}`);
}
