/** Inserts, updates and deletes thousands of records in one statement of SQLite. */
import type { Table } from '../../model/record-kind.ts';
import type { Row, Statement } from '../connections/driver.ts';
import { type Column, columnList, columnsOf, toColumnValue } from '../query/columns.ts';
import { slicesOf } from '../query/row-slices.ts';
import { binaryParts } from './filters.ts';

/** Building such a statement takes less than 10 ms. */
export const rowsPerStatement = 2_500;

export function* inserts(table: Table, records: readonly Row[]): Generator<Statement> {
  for (const slice of slicesOf(records, rowsPerStatement)) {
    const { sql, values } = rowsOf(columnsOf(table), slice);
    yield { sql: `insert into ${table.table} (${columnList(table)}) ${sql}`, values };
  }
}

/** Sets the fields in all of the records. */
export function* updates(
  table: Table,
  workspaceId: number,
  records: readonly Row[],
  fields: ReadonlySet<string>,
): Generator<Statement> {
  const columns = columnsOf(table).filter(({ field }) => field === 'id' || fields.has(field));
  const assignments = columns.filter(({ field }) => field !== 'id').map(({ name }) => `${name} = sent.${name}`);
  if (assignments.length === 0) return;
  for (const slice of slicesOf(records, rowsPerStatement)) {
    const { sql, values } = rowsOf(columns, slice);
    yield {
      sql: `update ${table.table} set ${assignments.join(', ')} from (${sql}) as sent
        where workspace_id = ? and ${table.table}.id = sent.id`,
      values: [...values, workspaceId],
    };
  }
}

export const deletions = ({ table }: Table, workspaceId: number, ids: readonly string[]): Statement[] => [
  {
    sql: `delete from ${table} where workspace_id = ? and id in (select value from json_each(?))`,
    values: [workspaceId, JSON.stringify(ids)],
  },
];

/**
 * Selects rows that are sent: one JSON parameter for the values that differ between records, and one parameter for each column whose
 * value is the same in all of them. With a parameter for every value, the main thread takes four times as long; with all values in
 * JSON, SQLite takes a third longer.
 */
function rowsOf(columns: readonly Column[], records: readonly Row[]): Statement {
  const isShared = ({ field }: Column) => records.every((record) => record[field] === records[0]?.[field]);
  const shared = new Set(columns.filter(isShared));
  const differing = elementsOf(columns.filter((column) => !shared.has(column)));
  const sources = columns.map((column) => `${differing.sources.get(column) ?? '?'} as ${column.name}`);
  return {
    sql: `select ${sources.join(', ')} from jsonb_each(?)`,
    values: [
      ...[...shared].map((column) => toColumnValue(column, records[0]?.[column.field])),
      JSON.stringify(records.map(differing.of)),
    ],
  };
}

/** Sends the values of columns as elements of a JSON array, and reads each column's value from the array `value` in SQL. */
export function elementsOf(columns: readonly Column[]) {
  const sources = new Map<Column, string>();
  /** A number takes two elements, everything else one. */
  let elements = 0;
  for (const column of columns) {
    const isNumber = column.type === 'number';
    elements += isNumber ? 2 : 1;
    const last = `value ->> ${elements - 1}`;
    sources.set(column, isNumber ? `(value ->> ${elements - 2}) * pow(2, ${last})` : last);
  }
  return {
    sources: sources as ReadonlyMap<Column, string>,
    of(record: Row): unknown[] {
      const values: unknown[] = [];
      for (const column of columns) {
        const value = toColumnValue(column, record[column.field]);
        if (column.type === 'number') values.push(...binaryParts(value));
        else values.push(value);
      }
      return values;
    },
  };
}
