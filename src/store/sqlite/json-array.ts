/** Reads rows as JSON arrays, which cost the driver less than columns. */
import { mapTextsInSlices } from '../../slices.ts';
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

/**
 * Returns SQL for the same array as bytes, for rows that may be long: from texts, the driver makes the strings of all rows at
 * once, and other requests would wait for it.
 */
export const jsonArrayBytes = (columns: readonly SelectedColumn[]): string => `cast(${jsonArray(columns)} as blob)`;

/** Returns the values of the columns in each of these arrays; null for null. */
export const valuesInBytes = (
  columns: readonly SelectedColumn[],
  arrays: readonly (Buffer | null)[],
): Promise<(unknown[] | null)[]> =>
  mapTextsInSlices(
    arrays,
    (bytes) => bytes?.length ?? 0,
    (bytes) => bytes && valuesIn(columns, JSON.parse(bytes.toString())),
  );

/** Returns the values of the columns in such an array. Changes the array. */
export function valuesIn(columns: readonly Pick<SelectedColumn, 'type'>[], array: unknown[]): unknown[] {
  columns.forEach(({ type }, index) => {
    if (type === 'number' && array[index] !== null) array[index] = Number(array[index]);
  });
  return array;
}
