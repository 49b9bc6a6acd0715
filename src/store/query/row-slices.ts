/** A statement has its rows in one JSON text, made at once: short enough for V8, and for other requests to be handled in between. */
import { textLength } from '../../model/fields.ts';
import type { Row } from '../connections/driver.ts';

/** Characters of the rows of a statement, unless a single row has more. Quotes and control characters can make the JSON longer. */
const maxLength = 4_000_000;

export function* slicesOf(rows: readonly Row[], maxRows: number): Generator<readonly Row[]> {
  let start = 0;
  let length = 0;
  for (const [index, row] of rows.entries()) {
    const own = textLength(row);
    if (index > start && (index - start >= maxRows || length + own > maxLength)) {
      yield rows.slice(start, index);
      start = index;
      length = 0;
    }
    length += own;
  }
  if (start < rows.length) yield start === 0 ? rows : rows.slice(start);
}
