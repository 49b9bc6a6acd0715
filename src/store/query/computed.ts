/**
 * Columns computed from fields of a row, so that both databases sort and seek alike: sort keys of names, and points of
 * locations on the unit sphere, since databases differ in the last bits of a sine. Records leave them out.
 */
import type { Knex } from 'knex';
import { isSorted } from '../../model/fields.ts';
import { hasPlace, type Point, unitVector } from '../../model/places.ts';
import type { Table } from '../../model/record-kind.ts';
import { sortKey } from '../../model/sort-key.ts';
import type { Row } from '../connections/driver.ts';
import { columnName, type TableColumn, tableColumns } from './columns.ts';

interface ComputedColumn extends TableColumn {
  readonly from: readonly string[];
  compute(row: Row): unknown;
}

const pointColumns = ['pointX', 'pointY', 'pointZ'].map(
  (field, axis): ComputedColumn => ({
    field,
    type: 'number',
    name: columnName(field),
    from: ['latitude', 'longitude'],
    compute({ latitude, longitude }) {
      const isPlace = typeof latitude === 'number' && typeof longitude === 'number';
      return isPlace ? unitVector({ latitude, longitude })[axis] : null;
    },
  }),
);

/** `name` has its key in `name_key`. */
export const keyField = (field: string): string => `${field}Key`;

const keyColumn = (field: string): ComputedColumn => ({
  field: keyField(field),
  type: 'text',
  name: columnName(keyField(field)),
  from: [field],
  compute: ({ [field]: text }) => (typeof text === 'string' ? sortKey(text) : null),
});

/** Tables are immutable. */
const columnsByTable = new WeakMap<Table, readonly ComputedColumn[]>();

export function computedColumns(table: Table): readonly ComputedColumn[] {
  const cached = columnsByTable.get(table);
  if (cached) return cached;
  const keys = Object.entries(table.storedFields).flatMap(([name, field]) => (isSorted(field) ? keyColumn(name) : []));
  const columns = hasPlace(table) ? [...pointColumns, ...keys] : keys;
  columnsByTable.set(table, columns);
  return columns;
}

/** Fields that few records have stay last: SQLite is not sent their nulls. */
export const writtenColumns = (table: Table): readonly TableColumn[] => [
  ...computedColumns(table),
  ...tableColumns(table),
];

export function withComputed(table: Table, rows: readonly Row[]): readonly Row[] {
  const columns = computedColumns(table);
  if (columns.length === 0) return rows;
  return rows.map((row) => {
    const written: Record<string, unknown> = { ...row };
    for (const { field, compute } of columns) written[field] = compute(row);
    return written;
  });
}

/** The fields, and the computed ones that change with them. */
export const withDependent = (table: Table, fields: ReadonlySet<string>): ReadonlySet<string> => {
  const dependent = computedColumns(table).filter(({ from }) => from.some((field) => fields.has(field)));
  return new Set([...fields, ...dependent.map(({ field }) => field)]);
};

/**
 * From a row's point to this one: orders as the distance does. Both databases compute the same number by +, - and ×:
 * cursors and ties hold. Null without a point.
 */
export function squaredChord(builder: Knex, alias: string, point: Point): Knex.Raw {
  const squares = pointColumns.map(({ name }) => `(${alias}.${name} - ?) * (${alias}.${name} - ?)`);
  return builder.raw(
    squares.join(' + '),
    unitVector(point).flatMap((value) => [value, value]),
  );
}
