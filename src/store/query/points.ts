/**
 * Rows with a latitude and a longitude also store a point on the unit sphere, which orders them by distance. The
 * service computes it, because databases differ in the last bits of a sine. Records leave it out.
 */
import type { Knex } from 'knex';
import { hasPlace, type Point, unitVector } from '../../model/places.ts';
import type { Table } from '../../model/record-kind.ts';
import type { Row } from '../connections/driver.ts';
import { columnName, type TableColumn, tableColumns } from './columns.ts';

export const pointColumns = ['pointX', 'pointY', 'pointZ'].map(
  (field): TableColumn => ({ field, type: 'number', name: columnName(field) }),
);

export const writtenColumns = (table: Table): readonly TableColumn[] =>
  hasPlace(table) ? [...tableColumns(table), ...pointColumns] : tableColumns(table);

export function withPoints(table: Table, rows: readonly Row[]): readonly Row[] {
  if (!hasPlace(table)) return rows;
  return rows.map((row) => {
    const { latitude, longitude } = row;
    const isPlace = typeof latitude === 'number' && typeof longitude === 'number';
    const [pointX = null, pointY = null, pointZ = null] = isPlace ? unitVector({ latitude, longitude }) : [];
    return { ...row, pointX, pointY, pointZ };
  });
}

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
