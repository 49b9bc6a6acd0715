/** Prints figures as columns. */

export const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

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
