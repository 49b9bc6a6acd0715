/** The conditions of SQLite. */
import type { Knex } from 'knex';
import type { Filters, Pattern } from '../query/dialect.ts';

export const createFilters = (builder: Knex): Filters => ({
  isOneOf(column, type, values) {
    if (type !== 'number') {
      return builder.raw(`${column} in (select value from json_each(?))`, [JSON.stringify(values)]);
    }
    return builder.raw(`${column} in (select (value ->> 0) * pow(2, value ->> 1) from json_each(?))`, [
      JSON.stringify(values.map(binaryParts)),
    ]);
  },
  // Without a hint, SQLite assumes few nulls and prefers the wrong index; these likelihoods were chosen with explain.test.ts.
  isSet: (column, isSet) =>
    builder.raw(isSet ? `likelihood(${column} is not null, 0.1)` : `likelihood(${column} is null, 0.25)`),
  contains: (column, text) => builder.raw(`instr(${column}, ?) > 0`, [text]),
  endsWith: (column, text) =>
    text === ''
      ? builder.raw(`${column} is not null`)
      : builder.raw(`substr(${column}, ?) = ?`, [-Array.from(text).length, text]),
  // Not as one parameter, whose JSON would be parsed again for each row.
  matchesAny: (column, patterns) =>
    builder.raw(`(${patterns.map(() => `${column} glob ?`).join(' or ')})`, patterns.map(globOf)),
  // The table that triggers keep: see migration 0004.
  hasExternalId: ({ workspaceId, table, alias, column }, key, value) =>
    builder.raw(
      `${alias}.id in (select id from ${table}_${column} where workspace_id = ? and key = ?${
        value === undefined ? '' : ' and value = ?'
      })`,
      value === undefined ? [workspaceId, key] : [workspaceId, key, value],
    ),
  idsWithExternalId: ({ workspaceId, table, column }, key, value, limit) =>
    builder(`${table}_${column}`)
      .where('workspace_id', workspaceId)
      .whereRaw(`key = ${key} and value = ${value}`)
      .orderBy('id')
      .limit(limit)
      .select('id'),
  // Reads these rows once, by their own indexes. With `exists`, SQLite would look them up for every row of the outer table.
  isAmong: (column, rows) =>
    builder.raw(`${column} in (select ${rows.column} from ${rows.from} where ?)`, [rows.where]),
});

/** Returns a pattern for GLOB. Letters with several forms have no meaning of their own in it. */
function globOf({ characters, isAnchoredAtStart, isAnchoredAtEnd }: Pattern): string {
  const parts = characters.map((forms) => {
    const text = forms.join('');
    return forms.length > 1 || '*?['.includes(text) ? `[${text}]` : text;
  });
  return `${isAnchoredAtStart ? '' : '*'}${parts.join('')}${isAnchoredAtEnd ? '' : '*'}`;
}

/** Returns a number as an integer times a power of two: SQLite converts one decimal in ten thousand to a neighbouring number. */
export function binaryParts(value: unknown): [number | null, number] {
  if (typeof value !== 'number') return [null, 0];
  if (!Number.isFinite(value)) throw new Error('expected a finite number');
  let whole = value;
  let exponent = 0;
  for (; Math.abs(whole) > Number.MAX_SAFE_INTEGER; exponent += 1) whole /= 2;
  for (; !Number.isInteger(whole); exponent -= 1) whole *= 2;
  return [whole, exponent];
}
