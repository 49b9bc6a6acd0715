/** Queries for the records of a workspace, built with Knex. Adds all their conditions and orders, and the workspace to each. */
import type { Knex } from 'knex';
import type { Table } from '../model/record-kind.ts';
import { columnName, columnsOf, toColumnValue } from './columns.ts';
import { DatabaseError } from './database-error.ts';
import type { Dialect } from './dialect.ts';
import type { Row, Run } from './driver.ts';

export interface RecordQuery {
  /** All of these conditions must hold. */
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

/** A query for rows of a workspace. The caller adds the columns to read, or a count, a lock or an update. */
export function rowsQuery(
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

/** Knex omits a limit that is not a number. */
function requireWhole(limit: number): number {
  if (!Number.isSafeInteger(limit)) throw new Error(`expected a whole number as limit, received ${limit}`);
  return limit;
}

/** Writes a limit into the statement: Citus rejects it as a parameter in statements on several workspaces. */
export const literally = { skipBinding: true } as const;

/** A query that sets the fields that are present in `changes`, in one record of a workspace. */
export function updateQuery(dialect: Dialect, table: Table, workspaceId: string, id: string, changes: Row) {
  const changed = columnsOf(table).filter(({ field }) => changes[field] !== undefined);
  const values = changed.map((column) => [column.name, toColumnValue(column, changes[column.field])]);
  return rowsQuery(dialect, table, workspaceId).where('id', id).update(Object.fromEntries(values));
}

/** Runs a query, in the database's own form. Knex's errors have the SQL in their messages, and must not leave the store. */
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
