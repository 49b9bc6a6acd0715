/** Queries for records, as SQL. */
import { expect, test } from 'vitest';
import { location } from '../../src/records/index.ts';
import { DatabaseError } from '../../src/store/connections/database-error.ts';
import { createPostgresDialect } from '../../src/store/postgres/dialect.ts';
import type { Dialect } from '../../src/store/query/dialect.ts';
import { oldestFirst, positionOfId, type RecordQuery } from '../../src/store/query/record-query.ts';
import { rowsQuery, runQuery } from '../../src/store/query/run-query.ts';
import { sqliteDialect } from '../../src/store/sqlite/dialect.ts';

const postgresDialect = createPostgresDialect({ isCitus: false });

async function compiled(dialect: Dialect, query: RecordQuery) {
  const statements: unknown[] = [];
  await runQuery(
    async (sql, values) => {
      statements.push(sql, values);
      return [];
    },
    rowsQuery(dialect, location, 1, query).select('id'),
  );
  return statements;
}

const everything: RecordQuery = {
  where: { field: 'id', in: ['a', 'b'] },
  orderBy: oldestFirst,
  fromEnd: true,
  after: positionOfId('location_1'),
  before: positionOfId('location_9'),
  limit: 5,
};

test('every part of a query is a condition, an order or a limit, with its values as parameters', async () => {
  expect(await compiled(sqliteDialect, everything)).toEqual([
    'select id from locations where workspace_id = ? and locations.id in (select value from json_each(?)) and locations.id > ? and locations.id < ? order by locations.id desc limit ?',
    [1, '["a","b"]', 'location_1', 'location_9', 5],
  ]);
  expect(await compiled(postgresDialect, everything)).toEqual([
    'select id from locations where workspace_id = $1 and locations.id = any($2) and locations.id > $3 and locations.id < $4 order by locations.id desc limit $5',
    [1, ['a', 'b'], 'location_1', 'location_9', 5],
  ]);
});

test.each([
  ['SQLite', sqliteDialect],
  ['Postgres', postgresDialect],
])('%s compares one value, and gets the same statement for any number of others', async (_, dialect) => {
  const forValues = (count: number) => compiled(dialect, { where: { field: 'id', in: Array(count).fill('a') } });
  const [one] = await forValues(1);
  const [few] = await forValues(2);
  const [many] = await forValues(5_000);

  expect(many).toBe(few);
  expect(one).toMatch(/locations.id = (\?|\$2)$/);
});

test.each([Number.NaN, 1.5, Number.POSITIVE_INFINITY])('a limit of %d is rejected, not omitted', async (limit) => {
  await expect(compiled(sqliteDialect, { limit })).rejects.toThrow('expected a whole number as limit');
});

test('a query that cannot be built is an error without its SQL', () => {
  const query = sqliteDialect
    .builder('locations')
    .where('id', undefined as never)
    .select('id');

  expect(() => runQuery(async () => [], query)).toThrow(new DatabaseError('a query could not be built'));
});
