/** The rows of a large import by their keys. */
import { expect, test } from 'vitest';
import { FirstRows } from '../../src/import/first-rows.ts';

test('knows the first row of each of many texts, however alike they are', () => {
  const rows = new FirstRows();
  const first = new Map<string, number>();
  for (let row = 1; row <= 50_000; row += 1) {
    const text = row % 3 === 0 ? `A-${row % 7_919}` : `ERP-${String(row).padStart(12, '0')}`;
    const found = rows.add(text, row);
    if (found !== first.get(text)) expect([row, found]).toEqual([row, first.get(text)]);
    if (!first.has(text)) first.set(text, row);
  }
  expect(first.size).toBeGreaterThan(33_000);
});
