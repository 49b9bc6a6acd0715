/**
 * Columns that the service computes from fields of a row, so that both databases sort and seek alike: the sort keys of
 * names, and the points of locations on the unit sphere, because databases differ in the last bits of a sine. Records
 * leave them out.
 */
import type { Knex } from 'knex';
import { isSorted } from '../../model/fields.ts';
import { hasPlace, type Point, unitVector } from '../../model/places.ts';
import type { Table } from '../../model/record-kind.ts';
import { sortKey } from '../../model/sort-key.ts';
import type { Row } from '../connections/driver.ts';
import { columnName, type TableColumn, tableColumns } from './columns.ts';

interface Computation {
  readonly from: readonly string[];
  readonly columns: readonly TableColumn[];
  compute(row: Row): readonly unknown[];
}

const pointColumns = ['pointX', 'pointY', 'pointZ'].map(
  (field): TableColumn => ({ field, type: 'number', name: columnName(field) }),
);

const pointOfPlace: Computation = {
  from: ['latitude', 'longitude'],
  columns: pointColumns,
  compute({ latitude, longitude }) {
    const isPlace = typeof latitude === 'number' && typeof longitude === 'number';
    return isPlace ? unitVector({ latitude, longitude }) : [null, null, null];
  },
};

/** `name` has its key in `name_key`. */
export const keyField = (field: string): string => `${field}Key`;

const keyOfText = (field: string): Computation => ({
  from: [field],
  columns: [{ field: keyField(field), type: 'text', name: columnName(keyField(field)) }],
  compute: ({ [field]: text }) => [typeof text === 'string' ? sortKey(text) : null],
});

/** Tables are immutable. */
const computationsByTable = new WeakMap<Table, readonly Computation[]>();

function computationsOf(table: Table): readonly Computation[] {
  const cached = computationsByTable.get(table);
  if (cached) return cached;
  const sorted = Object.entries(table.storedFields).flatMap(([name, field]) =>
    isSorted(field) ? [keyOfText(name)] : [],
  );
  const computations = hasPlace(table) ? [pointOfPlace, ...sorted] : sorted;
  computationsByTable.set(table, computations);
  return computations;
}

export const writtenColumns = (table: Table): readonly TableColumn[] => [
  ...tableColumns(table),
  ...computationsOf(table).flatMap(({ columns }) => columns),
];

export function withComputed(table: Table, rows: readonly Row[]): readonly Row[] {
  const computations = computationsOf(table);
  if (computations.length === 0) return rows;
  return rows.map((row) => {
    const written: Record<string, unknown> = { ...row };
    for (const { columns, compute } of computations) {
      const values = compute(row);
      for (const [index, { field }] of columns.entries()) written[field] = values[index];
    }
    return written;
  });
}

/** Returns the fields, and the computed ones that change with them. */
export const withDependent = (table: Table, fields: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([
    ...fields,
    ...computationsOf(table).flatMap(({ from, columns }) =>
      from.some((field) => fields.has(field)) ? columns.map(({ field }) => field) : [],
    ),
  ]);

/**
 * The square of the chord from a row's point to this one, which orders as the distance does. Both databases compute the
 * same number by +, - and ×, so that cursors and ties hold. Null without a point.
 */
export function squaredChord(builder: Knex, alias: string, point: Point): Knex.Raw {
  const squares = pointColumns.map(({ name }) => `(${alias}.${name} - ?) * (${alias}.${name} - ?)`);
  return builder.raw(
    squares.join(' + '),
    unitVector(point).flatMap((value) => [value, value]),
  );
}
