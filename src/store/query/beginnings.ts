/**
 * The beginnings of texts, which indexes have on Postgres. A condition or an order of a text begins with one on its beginning, for
 * which the index is used.
 */
import type { Table } from '../../model/record-kind.ts';
import type { Dialect } from '../dialect.ts';

export interface Beginning {
  /** The beginning of a column's text, as SQL. */
  of(column: string): string;
  /** The beginning of a value. */
  cut(value: string): string;
}

/** Undefined if indexes have all of the field's text. */
export function beginningOf({ indexedLength }: Dialect, table: Table, name: string): Beginning | undefined {
  const field = table.storedFields[name];
  // Unique texts are short.
  if (indexedLength === undefined || field?.type !== 'text' || field.unique) return undefined;
  return {
    of: (column) => `left(${column}, ${indexedLength})`,
    cut: (value) => (value.length > indexedLength ? Array.from(value).slice(0, indexedLength).join('') : value),
  };
}
