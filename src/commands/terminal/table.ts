/** Prints rows as a table on standard output, with columns as wide as their longest cell. */
import { count } from '../../model/issues.ts';

/** Numbers are aligned to the right. */
export function printTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const texts = [head, ...rows.map((row) => row.map((cell) => (typeof cell === 'number' ? count(cell) : cell)))];
  const widths = head.map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)));
  const isNumber = head.map((_, column) => typeof rows[0]?.[column] === 'number');
  for (const row of texts) {
    const cells = row.map((cell, column) =>
      isNumber[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    );
    console.log(cells.join('  ').trimEnd());
  }
}
