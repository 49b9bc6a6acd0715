/** How rows are read as JSON arrays, which cost the driver less than columns. */
import type { SelectedColumn } from '../dialect.ts';

/** The columns of a row as a JSON array, as SQL. */
export const jsonArray = (columns: readonly SelectedColumn[]): string =>
  `json_array(${columns.map(({ name, type }) => (type === 'number' ? numberText(name) : name)).join(', ')})`;

/** SQLite writes numbers into JSON with 15 digits. As texts of 18, they are read as exactly the same numbers. */
const numberText = (column: string): string => `iif(${column} is null, null, format('%!.18g', ${column}))`;

/** The values of the columns in such an array. Changes the array. */
export function valuesIn(columns: readonly Pick<SelectedColumn, 'type'>[], array: unknown[]): unknown[] {
  columns.forEach(({ type }, index) => {
    if (type === 'number' && array[index] !== null) array[index] = Number(array[index]);
  });
  return array;
}
