/** Comparisons of a column with values, as SQL. */
import type { Knex } from 'knex';
import type { Field } from '../../model/fields.ts';
import type { Table } from '../../model/record-kind.ts';
import type { Comparison, Value } from '../condition.ts';
import type { Dialect } from '../dialect.ts';
import { type Part, patternOf } from './letter-case.ts';

export function fieldOf(storedFields: Table['storedFields'], name: string): Field {
  const field = storedFields[name];
  if (!field) throw new Error(`there is no field ${name}`);
  return field;
}

/** What an index has of a column. */
export const keySql = ({ textKey }: Dialect, type: Field['type'], column: string): string =>
  type === 'text' && textKey ? textKey.sql(column) : column;

export function comparisonSql(dialect: Dialect, type: Field['type'], column: string, comparison: Comparison): Knex.Raw {
  const { builder, filters } = dialect;
  if ('compare' in comparison) {
    return comparedSql(dialect, type, column, operators[comparison.compare], comparison.value);
  }
  if ('in' in comparison) {
    const [value, ...others] = comparison.in;
    if (comparison.ignoreCase) return filters.matchesAny(column, patternsOf(comparison.in.map(String), 'all'));
    // So that an index that begins with the column has the order of its rest.
    if (value !== undefined && others.length === 0) return comparedSql(dialect, type, column, '=', value);
    return filters.isOneOf(column, type, comparison.in);
  }
  const { text, value, ignoreCase = false } = comparison;
  if (ignoreCase) return filters.matchesAny(column, patternsOf([value], text));
  if (text !== 'startsWith') return filters[text](column, value);
  // As a range, for which an index can be used.
  const start = comparedSql(dialect, type, column, '>=', value);
  const end = firstTextAfter(value);
  return end === undefined ? start : builder.raw('(? and ?)', [start, comparedSql(dialect, type, column, '<', end)]);
}

const operators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

const patternsOf = (texts: readonly string[], part: Part) => texts.map((text) => patternOf(text, part));

/** The operator is that of SQL. */
export function comparedSql(
  { builder, textKey }: Dialect,
  type: Field['type'],
  column: string,
  operator: '=' | '<' | '<=' | '>' | '>=',
  value: Value,
): Knex.Raw {
  if (type !== 'text' || !textKey) return builder.raw(`${column} ${operator} ?`, [value]);
  const keyOperator = operator === '<' || operator === '>' ? `${operator}=` : operator;
  return builder.raw(`(${textKey.sql(column)} ${keyOperator} ? and ${column} ${operator} ?)`, [
    textKey.of(String(value)),
    value,
  ]);
}

/** The first text, by code points, that follows all texts with this prefix; undefined if there is none. */
function firstTextAfter(prefix: string): string | undefined {
  const codePoints = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (codePoints.at(-1) === 0x10_ff_ff) codePoints.pop();
  const last = codePoints.pop();
  if (last === undefined) return undefined;
  // Surrogates are not characters.
  return String.fromCodePoint(...codePoints, last === 0xd7_ff ? 0xe0_00 : last + 1);
}
