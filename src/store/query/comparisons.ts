/** Comparisons of a column with values, as SQL. */
import type { Knex } from 'knex';
import { isAscii } from '../../model/characters.ts';
import type { StoredField } from '../../model/fields.ts';
import type { Table } from '../../model/record-kind.ts';
import { columnName } from './columns.ts';
import type { Comparison, Condition } from './condition.ts';
import type { Dialect } from './dialect.ts';
import { patternOf } from './letter-case.ts';

export function fieldOf(storedFields: Table['storedFields'], name: string): StoredField {
  const field = storedFields[name];
  if (!field) throw new Error(`there is no field ${name}`);
  return field;
}

/**
 * Returns the comparisons that a condition consists of, if an index can serve each of them and all must hold; undefined if it has
 * any other conditions.
 */
export function comparisonsIn(condition: Condition): Comparison[] | undefined {
  if ('all' in condition) {
    const parts = condition.all.map(comparisonsIn);
    return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
  }
  const isComparison = 'in' in condition || 'compare' in condition || 'text' in condition;
  if (!isComparison || ('ignoreCase' in condition && condition.ignoreCase)) return undefined;
  return 'text' in condition && condition.text !== 'startsWith' ? undefined : [condition];
}

/** True if there is an index of the field's values: one of the service's own, or one that an operator has added. */
export const isIndexed = ({ indexes }: Dialect, { table, storedFields }: Table, field: string): boolean =>
  fieldOf(storedFields, field).indexed === true || indexes.has(`${table}_${columnName(field)}`);

export function comparisonSql(
  dialect: Dialect,
  type: StoredField['type'],
  column: string,
  comparison: Comparison,
): Knex.Raw {
  const { builder, filters } = dialect;
  if ('ignoreCase' in comparison && comparison.ignoreCase) return ignoringCase(dialect, column, comparison);
  if ('compare' in comparison) {
    return builder.raw(`${column} ${operators[comparison.compare]} ?`, [comparison.value]);
  }
  if ('in' in comparison) {
    const [value, ...others] = comparison.in;
    // With `=`, an index that begins with the column can serve an order by the columns after it.
    if (value !== undefined && others.length === 0) return builder.raw(`${column} = ?`, [value]);
    return filters.isOneOf(column, type, comparison.in);
  }
  const { text, value } = comparison;
  if (text !== 'startsWith') return filters[text](column, value);
  // A range can use an index.
  const end = firstTextAfter(value);
  return end === undefined
    ? builder.raw(`${column} >= ?`, [value])
    : builder.raw(`(${column} >= ? and ${column} < ?)`, [value, end]);
}

const operators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/**
 * Both databases have a function that changes the letters A to Z to lower case and no others. It suffices for texts without other
 * letters, and takes far less time than patterns.
 */
function ignoringCase(
  dialect: Dialect,
  column: string,
  comparison: Exclude<Comparison, { compare: string }>,
): Knex.Raw {
  const { builder, filters } = dialect;
  const texts = 'in' in comparison ? comparison.in.map(String) : [comparison.value];
  const part = 'in' in comparison ? 'all' : comparison.text;
  const patterns = texts.filter((text) => !isAscii(text)).map((text) => patternOf(text, part));
  const plain = texts.filter(isAscii).map((text) => text.toLowerCase());
  const matchesPlain = () => {
    const [value = ''] = plain;
    const { field } = comparison;
    return comparisonSql(
      dialect,
      'reference',
      `lower(${column})`,
      part === 'all' ? { field, in: plain } : { field, text: part, value },
    );
  };
  if (patterns.length === 0) return matchesPlain();
  const matchesPattern = filters.matchesAny(column, patterns);
  return plain.length === 0 ? matchesPattern : builder.raw('(? or ?)', [matchesPlain(), matchesPattern]);
}

/** Returns the first text, by code points, that follows all texts with this prefix; undefined if there is none. */
function firstTextAfter(prefix: string): string | undefined {
  const codePoints = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (codePoints.at(-1) === 0x10_ff_ff) codePoints.pop();
  const last = codePoints.pop();
  if (last === undefined) return undefined;
  // Surrogates are not characters.
  return String.fromCodePoint(...codePoints, last === 0xd7_ff ? 0xe0_00 : last + 1);
}
