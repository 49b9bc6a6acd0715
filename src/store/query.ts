/** Queries for the records of a workspace, built with Knex: see the folder query/ for their conditions and orders. */
import type { Knex } from 'knex';
import type { Table } from '../model/record-kind.ts';
import { columnsOf, toColumnValue } from './columns.ts';
import type { Condition, Value } from './condition.ts';
import { DatabaseError } from './database-error.ts';
import type { Dialect } from './dialect.ts';
import type { Row, Run } from './driver.ts';
import { selectList } from './query/rows.ts';

export interface RecordQuery {
  readonly where?: Condition | undefined;
  /**
   * Each field once, and none after the ID. Records without a value come last, in either direction; ties are broken by the ID, in
   * the direction of the last order. If absent, the rows come in any order.
   */
  readonly orderBy?: readonly Order[];
  /** Reads from the end: the last records of the order, which come last first. */
  readonly fromEnd?: boolean;
  /** Only records after this position of the order. */
  readonly after?: Position | undefined;
  /** Only records before this position of the order. */
  readonly before?: Position | undefined;
  readonly limit?: number;
  /** The stored fields to read; if absent, all. */
  readonly fields?: ReadonlySet<string> | undefined;
}

export interface Order {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

/** The place of a record in an order, whether it is still stored or not. */
export interface Position {
  /** The record's values of the fields of the order, except the ID. */
  readonly values: readonly (Value | null)[];
  readonly id: string;
}

/** The position of a record in the order of IDs. */
export const positionOfId = (id: string): Position => ({ values: [], id });

/** What to read of the records that a reverse link leads to, for each of many parents. */
export interface PagesQuery extends RecordQuery {
  /** If absent, no records are read. */
  readonly limit?: number;
  /** Whether to count the records of each parent that match `where`, on all its pages. */
  readonly withCount: boolean;
}

/** The counts of groups of records that have the same values, the largest group first, then by their values. */
export interface SummaryQuery {
  readonly where?: Condition | undefined;
  /** At least one. */
  readonly groupBy: readonly Grouping[];
  /** The most groups to return. */
  readonly limit: number;
}

/** By a field's value, or by the month of a time in UTC: `2026-03`. */
export interface Grouping {
  readonly field: string;
  readonly by: 'value' | 'month';
}

export interface Summary {
  /** The number of all records that match. */
  readonly totalCount: number;
  /** In each, one value for each grouping. One group more than the limit shows that there are others. */
  readonly groups: readonly { readonly count: number; readonly values: readonly (Value | null)[] }[];
}

/** IDs sort by the time of creation. */
export const oldestFirst: readonly Order[] = [{ field: 'id', direction: 'asc' }];

/** A query for rows of a workspace. The caller adds the columns to read, or a count, a lock or an update. */
export const rowsQuery = (
  dialect: Dialect,
  table: Table,
  workspaceId: string,
  query: RecordQuery = {},
): Knex.QueryBuilder => selectList({ dialect, table, workspaceId }, query);

/** Writes a limit into the statement: Citus rejects it as a parameter in statements on several workspaces. */
export const literally = { skipBinding: true } as const;

/** A query that sets the fields that are present in `changes`, in one record of a workspace. */
export function updateQuery(dialect: Dialect, table: Table, workspaceId: string, id: string, changes: Row) {
  const changed = columnsOf(table).filter(({ field }) => changes[field] !== undefined);
  const values = changed.map((column) => [column.name, toColumnValue(column, changes[column.field])]);
  return rowsQuery(dialect, table, workspaceId).where('id', id).update(Object.fromEntries(values));
}

/** Runs a query, in the database's own form. Knex's errors have the SQL in their messages, and must not leave the store. */
export function runQuery(run: Run, query: Knex.QueryBuilder | Knex.Raw): ReturnType<Run> {
  const { sql, bindings } = compiled(query);
  return run(sql, bindings);
}

function compiled(query: Knex.QueryBuilder | Knex.Raw): Knex.SqlNative {
  try {
    return query.toSQL().toNative();
  } catch {
    throw new DatabaseError('a query could not be built');
  }
}
