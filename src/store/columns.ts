/** Records to rows and back: snake_case columns, and for each type of field the value a column holds. */
import type { Field } from '../model/fields.ts';
import type { RecordKind, RecordOf, Table } from '../model/record-kind.ts';
import type { Row, Statement } from './engine.ts';

interface Column {
  readonly field: string;
  readonly type: Field['type'];
  readonly name: string;
  readonly toColumn: (value: unknown) => unknown;
  readonly fromColumn: (value: unknown) => unknown;
}

type Conversion = Pick<Column, 'toColumn' | 'fromColumn'>;

const asIs: Conversion = { toColumn: (value) => value, fromColumn: (value) => value };

/** For values that are not null. The drivers bind booleans and answer times as they are here. */
const conversions: Record<Field['type'], Conversion> = {
  id: asIs,
  text: asIs,
  number: asIs,
  dateTime: asIs,
  reference: asIs,
  foreignReference: asIs,
  // SQLite keeps them as 0 and 1.
  boolean: { toColumn: (value) => value, fromColumn: Boolean },
  // As the JSON they came as.
  externalIds: { toColumn: (value) => JSON.stringify(value), fromColumn: (value) => JSON.parse(String(value)) },
};

export const columnName = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const columnsByTable = new WeakMap<Table, readonly Column[]>();

export function columnsOf(table: Table): readonly Column[] {
  const known = columnsByTable.get(table);
  if (known) return known;
  const columns = Object.entries(table.storedFields).map(([field, { type }]) => ({
    field,
    type,
    name: columnName(field),
    ...conversions[type],
  }));
  columnsByTable.set(table, columns);
  return columns;
}

/** The names of all columns, for SQL, in the order of columnsOf. */
export const columnList = (table: Table): string =>
  columnsOf(table)
    .map(({ name }) => name)
    .join(', ');

/** The columns' values of a record, in the order of columnsOf. */
export const valuesOf = (table: Table, record: Row): unknown[] =>
  columnsOf(table).map(({ field, toColumn }) => toColumnValue(record[field], toColumn));

/** Sets the fields that are present in the row of a workspace. */
export function updateOf(table: Table, workspaceId: string, id: string, changes: Row): Statement {
  const changed = columnsOf(table).filter(({ field }) => changes[field] !== undefined);
  const assignments = changed.map(({ name }) => `${name} = ?`).join(', ');
  const values = changed.map(({ field, toColumn }) => toColumnValue(changes[field], toColumn));
  return {
    sql: `update ${table.table} set ${assignments} where workspace_id = ? and id = ?`,
    values: [...values, workspaceId, id],
  };
}

/** Sound because the columns are those of the kind's fields, and rows are written from its records only. */
export const recordOf = <K extends RecordKind>(kind: K, row: Row): RecordOf<K> => fieldsOf(kind, row) as RecordOf<K>;

/** The fields in a row, in the order they are declared. */
export function fieldsOf(table: Table, row: Row): Row {
  const fields: Record<string, unknown> = {};
  for (const { field, name, fromColumn } of columnsOf(table)) {
    const value = row[name];
    fields[field] = value === null ? null : fromColumn(value);
  }
  return fields;
}

const toColumnValue = (value: unknown, toColumn: (value: unknown) => unknown): unknown =>
  value === null || value === undefined ? null : toColumn(value);
