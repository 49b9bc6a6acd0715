/** Reads rows as JSON arrays, which cost the driver less than columns. */
import { isJson, type SelectedColumn } from '../query/dialect.ts';

/**
 * Returns SQL for the columns of a row as a JSON array. A column with JSON becomes an element of the array, not a text in it, so
 * that it is parsed once.
 */
export const jsonArray = (columns: readonly SelectedColumn[]): string =>
  `json_array(${columns.map(elementOf).join(', ')})`;

function elementOf(column: SelectedColumn): string {
  if (column.type === 'number') return numberText(column.name);
  return isJson(column) ? `json(${column.name})` : column.name;
}

/** SQLite writes numbers into JSON with 15 digits. As texts of 18, they are read as exactly the same numbers. */
const numberText = (column: string): string => `iif(${column} is null, null, format('%!.18g', ${column}))`;

/** Returns the values of the columns in such an array. Changes the array. */
export function valuesIn(columns: readonly Pick<SelectedColumn, 'type'>[], array: unknown[]): unknown[] {
  columns.forEach(({ type }, index) => {
    if (type === 'number' && array[index] !== null) array[index] = Number(array[index]);
  });
  return array;
}
