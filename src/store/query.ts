/** Queries for records, turned into SQL by Knex's query builder. Every condition and order is written here. */
import type { Knex } from 'knex';
import type { Table } from '../model/record-kind.ts';
import { columnName, columnsOf, toColumnValue } from './columns.ts';
import { DatabaseError } from './database-error.ts';
import type { Dialect } from './dialect.ts';
import type { Row, Run } from './driver.ts';

export interface RecordQuery {
  /** Conditions that all hold. */
  readonly where?: readonly Condition[];
  /** If absent, the rows come in any order. */
  readonly orderBy?: readonly Order[];
  /** Only records with a greater ID. */
  readonly after?: string | undefined;
  /** Only records with a smaller ID. */
  readonly before?: string | undefined;
  readonly limit?: number;
  /** The stored fields to read; if absent, all. */
  readonly fields?: ReadonlySet<string> | undefined;
}

/** The field has one of these values. */
interface Condition {
  readonly field: string;
  readonly in: readonly string[];
}

interface Order {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

/** IDs sort by the time of creation. */
export const oldestFirst: readonly Order[] = [{ field: 'id', direction: 'asc' }];
export const newestFirst: readonly Order[] = [{ field: 'id', direction: 'desc' }];

/** The rows of a workspace that a query finds. Which columns are read is up to the caller. */
export function rowsOf(
  dialect: Dialect,
  { table }: Table,
  workspaceId: string,
  { where = [], orderBy = [], after, before, limit }: RecordQuery = {},
): Knex.QueryBuilder {
  const rows = dialect.builder(table).where('workspace_id', workspaceId);
  for (const { field, in: values } of where) dialect.whereIn(rows, columnName(field), values);
  if (after !== undefined) rows.where('id', '>', after);
  if (before !== undefined) rows.where('id', '<', before);
  for (const { field, direction } of orderBy) rows.orderBy(columnName(field), direction);
  if (limit !== undefined) rows.limit(requireWhole(limit));
  return rows;
}

/** Knex leaves a limit out that is not a number. */
function requireWhole(limit: number): number {
  if (!Number.isSafeInteger(limit)) throw new Error(`expected a whole number as limit, received ${limit}`);
  return limit;
}

/** Writes a limit into the statement. Citus refuses parameters there in statements on several workspaces. */
export const literally = { skipBinding: true } as const;

/** Sets the fields that are present in a record of a workspace. */
export function updateOf(dialect: Dialect, table: Table, workspaceId: string, id: string, changes: Row) {
  const changed = columnsOf(table).filter(({ field }) => changes[field] !== undefined);
  const values = changed.map((column) => [column.name, toColumnValue(column, changes[column.field])]);
  return rowsOf(dialect, table, workspaceId).where('id', id).update(Object.fromEntries(values));
}

/** Runs what the builder has built. Knex's errors have the SQL in their messages: they must not leave the store. */
export function runQuery(run: Run, query: Knex.QueryBuilder): ReturnType<Run> {
  const { sql, bindings } = compiled(query);
  return run(sql, bindings);
}

function compiled(query: Knex.QueryBuilder): Knex.SqlNative {
  try {
    return query.toSQL().toNative();
  } catch {
    throw new DatabaseError('a query could not be built');
  }
}
