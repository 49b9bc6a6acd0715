/** What the store derives from the fields of a table. */
import { expect, test } from 'vitest';
import { location, project } from '../../src/records/index.ts';
import { columnList, columnsOf, partOf } from '../../src/store/query/columns.ts';

test('a part of a table has its columns in the order of the table', () => {
  expect(columnList(partOf(project, new Set(['startDate', 'id', 'none'])))).toBe('id, start_date');
});

test('equal sets of fields are the same part of a table, and of another table another one', () => {
  const part = partOf(project, new Set(['id', 'name']));

  expect(columnsOf(partOf(project, new Set(['name', 'id'])))).toBe(columnsOf(part));
  expect(partOf(location, new Set(['id', 'name'])).table).toBe('locations');
});
