import type { Knex } from 'knex';
import type { Table } from '../../model/record-kind.ts';
import { DatabaseError } from '../connections/database-error.ts';
import type { Row, Run } from '../connections/driver.ts';
import { columnsOf, toColumnValue } from './columns.ts';
import type { Dialect } from './dialect.ts';
import type { RecordQuery } from './record-query.ts';
import { selectList } from './rows.ts';

export const rowsQuery = (
  dialect: Dialect,
  table: Table,
  workspaceId: number,
  query: RecordQuery = {},
): Knex.QueryBuilder => selectList({ dialect, table, workspaceId }, query);

/** Writes a limit into the statement: Citus rejects it as a parameter in statements on several workspaces. */
export const literally = { skipBinding: true } as const;

export function changedColumns(table: Table, changes: Row): Row {
  const changed = columnsOf(table).filter(({ field }) => changes[field] !== undefined);
  return Object.fromEntries(changed.map((column) => [column.name, toColumnValue(column, changes[column.field])]));
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
