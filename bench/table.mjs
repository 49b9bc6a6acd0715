/** Prints figures as columns. */

/** The value below which a part of the values are. */
export const percentile = (values, part) => values.toSorted((a, b) => a - b)[Math.floor(values.length * part)];

export const median = (values) => percentile(values, 0.5);

/** Nothing where there is no figure. */
export const number = (value, digits) =>
  Number.isFinite(value)
    ? value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: 0 })
    : '';

/** The lines of a table, whose first column is aligned left. */
export function columns(rows) {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column].length))) ?? [];
  return rows.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join('  '),
  );
}
