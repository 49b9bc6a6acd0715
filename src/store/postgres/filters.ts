/** The conditions of Postgres. */
import type { Knex } from 'knex';
import type { Filters } from '../dialect.ts';
import type { Pattern } from '../query/letter-case.ts';

export const createFilters = (builder: Knex): Filters => ({
  isOneOf: (column, _type, values) =>
    values.length === 1
      ? builder.raw(`${column} = ?`, [values[0] as Knex.Value])
      : builder.raw(`${column} = any(?)`, [values as string[]]),
  contains: (column, text) => builder.raw(`strpos(${column}, ?) > 0`, [text]),
  endsWith: (column, text) => builder.raw(`right(${column}, ?) = ?`, [Array.from(text).length, text]),
  matchesAny: (column, patterns) => builder.raw(`${column} ~ any(?)`, [patterns.map(regularExpressionOf)]),
  hasExternalId: (column, key, value) =>
    value === undefined
      ? builder.raw(`(${column} ->> ?::text) is not null`, [key])
      : builder.raw(`(${column} ->> ?::text) = ?`, [key, value]),
  // Postgres makes a join of `exists`. Within `or` and `not` it would compare each row with all of the values of an `in`.
  isAmong: (column, rows) =>
    builder.raw(`exists (select 1 from ${rows.from} where ${rows.column} = ${column} and ?)`, [rows.where]),
});

function regularExpressionOf({ characters, isAnchoredAtStart, isAnchoredAtEnd }: Pattern): string {
  const parts = characters.map((forms) => {
    const escaped = forms.map(escapedCharacter).join('');
    return forms.length > 1 ? `[${escaped}]` : escaped;
  });
  return `${isAnchoredAtStart ? '^' : ''}${parts.join('')}${isAnchoredAtEnd ? '$' : ''}`;
}

const escapedCharacter = (character: string): string =>
  /^[A-Za-z0-9]$/.test(character) ? character : `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`;
