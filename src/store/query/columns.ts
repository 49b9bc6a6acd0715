import { LRUCache } from 'lru-cache';
import { type StoredField, textLength } from '../../model/fields.ts';
import type { Table } from '../../model/record-kind.ts';
import type { Row } from '../connections/driver.ts';

export type ColumnType = StoredField['type'] | 'workspace';

export interface TableColumn {
  readonly field: string;
  readonly type: ColumnType;
  readonly name: string;
}

export interface SelectedColumn {
  /** Has the alias of the table in a join. */
  readonly name: string;
  readonly type: ColumnType;
}

export const isJson = ({ type }: Pick<SelectedColumn, 'type'>): boolean => type === 'externalIds' || type === 'json';

/** `created_at`, or `project__name` for a value of a linked record. */
export const columnName = (field: string): string =>
  field.replaceAll('.', '__').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Tables are immutable. */
const columnsByTable = new WeakMap<Table, readonly TableColumn[]>();

export function tableColumns(table: Table): readonly TableColumn[] {
  const cached = columnsByTable.get(table);
  if (cached) return cached;
  const columns = Object.entries(table.storedFields).map(([field, { type: typeOfField }]): TableColumn => {
    const type = field === 'workspaceId' ? 'workspace' : typeOfField;
    return { field, type, name: columnName(field) };
  });
  columnsByTable.set(table, columns);
  return columns;
}

const pickedTables = new LRUCache<string, Table>({ max: 1_000 });

export function pickFields(table: Table, fields: ReadonlySet<string> | undefined): Table {
  if (!fields) return table;
  const stored = Object.entries(table.storedFields).filter(([field]) => fields.has(field));
  const key = [table.table, ...stored.map(([field]) => field)].join(' ');
  const cached = pickedTables.get(key);
  if (cached) return cached;
  const picked = { table: table.table, label: table.label, storedFields: Object.fromEntries(stored) };
  pickedTables.set(key, picked);
  return picked;
}

export const columnList = (columns: readonly TableColumn[]): string => columns.map(({ name }) => name).join(', ');

export function recordFromValues(
  columns: readonly TableColumn[],
  values: readonly unknown[],
  workspaceName?: string,
  start = 0,
): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  let at = start;
  for (const column of columns) {
    const isNamed = column.type === 'workspace' && workspaceName !== undefined;
    record[column.field] = isNamed ? workspaceName : fromColumn(column, values[at]);
    at += 1;
  }
  return record;
}

/** The JSON of external IDs keeps the order sent. */
export function toColumn(column: Pick<TableColumn, 'type'>, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  return isJson(column) ? JSON.stringify(value) : value;
}

/** SQLite stores booleans as 0 and 1. */
export const fromColumn = ({ type }: Pick<TableColumn, 'type'>, value: unknown): unknown =>
  type === 'boolean' && value !== null ? Boolean(value) : value;

/** The most characters of a statement, unless a single row has more. */
const maxLength = 4_000_000;

export function* sliceRows(rows: readonly Row[], maxRows: number): Generator<readonly Row[]> {
  let start = 0;
  let length = 0;
  for (const [index, row] of rows.entries()) {
    const rowLength = textLength(row);
    if (index > start && (index - start >= maxRows || length + rowLength > maxLength)) {
      yield rows.slice(start, index);
      start = index;
      length = 0;
    }
    length += rowLength;
  }
  if (start < rows.length) yield start === 0 ? rows : rows.slice(start);
}

export function changedColumns(table: Table, changes: Row): Row {
  const changed = tableColumns(table).filter(({ field }) => changes[field] !== undefined);
  return Object.fromEntries(changed.map((column) => [column.name, toColumn(column, changes[column.field])]));
}
