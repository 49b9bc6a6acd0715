/** Orders and positions in them, as SQL. Records without a value come last, and no two records have the same place. */
import type { Knex } from 'knex';
import type { Table } from '../../model/record-kind.ts';
import { columnName } from './columns.ts';
import { fieldOf } from './comparisons.ts';
import type { Dialect } from './dialect.ts';
import type { Order, Position } from './record-query.ts';

/** A column by which records are ordered. */
export interface Term {
  readonly column: string;
  readonly descending: boolean;
  readonly mayBeNull: boolean;
  /** The place of its value in a position; undefined for the ID. */
  readonly index: number | undefined;
}

/** Returns the terms of an order. The ID is always the last. */
export function termsOf({ storedFields, table }: Table, orderBy: readonly Order[]): Term[] {
  const terms = orderBy
    .filter(({ field }) => field !== 'id')
    .map(({ field, direction }, index): Term => {
      const column = `${table}.${columnName(field)}`;
      const { required = false } = fieldOf(storedFields, field);
      return { column, descending: direction === 'desc', mayBeNull: !required, index };
    });
  const column = `${table}.id`;
  const descending = orderBy.at(-1)?.direction === 'desc';
  return [...terms, { column, descending, mayBeNull: false, index: undefined }];
}

/** Returns the SQL after `order by`. */
export function orderSql(terms: readonly Term[], fromEnd: boolean): string {
  const directed = (expression: string, descending: boolean) => (descending ? `${expression} desc` : expression);
  return terms
    .flatMap(({ column, descending, mayBeNull }) => [
      ...(mayBeNull ? [directed(`(${column} is null)`, fromEnd)] : []),
      directed(column, descending !== fromEnd),
    ])
    .join(', ');
}

/** True for records after or before a position. */
export function beyondSql(
  dialect: Dialect,
  side: 'after' | 'before',
  terms: readonly Term[],
  position: Position,
): Knex.Raw {
  const { builder } = dialect;
  const [term, ...rest] = terms;
  if (!term) return builder.raw('false');
  const { column, descending, mayBeNull } = term;
  const operator = (side === 'after') === descending ? '<' : '>';
  if (terms.every((other) => !other.mayBeNull && other.descending === descending)) {
    return comparedTogether(dialect, operator, terms, position);
  }
  const value = valueAt(position, term);
  const beyondRest = beyondSql(dialect, side, rest, position);
  if (value === null) {
    return builder.raw(side === 'after' ? `(${column} is null and ?)` : `(${column} is not null or ?)`, [beyondRest]);
  }
  const beyond = builder.raw(`(${column} ${operator} ? or ${column} = ? and ?)`, [value, value, beyondRest]);
  if (mayBeNull && side === 'after') return builder.raw(`(? or ${column} is null)`, [beyond]);
  // Where to begin in an index.
  return builder.raw('(? and ?)', [builder.raw(`${column} ${operator}= ?`, [value]), beyond]);
}

/** Compares the terms as one row, for which the databases use all columns of an index. */
function comparedTogether(
  { builder }: Dialect,
  operator: '<' | '>',
  terms: readonly Term[],
  position: Position,
): Knex.Raw {
  const row = (items: readonly string[]) => (items.length === 1 ? items[0] : `(${items.join(', ')})`);
  return builder.raw(
    `${row(terms.map(({ column }) => column))} ${operator} ${row(terms.map(() => '?'))}`,
    terms.map((term) => valueAt(position, term)) as Knex.Value[],
  );
}

export const valueAt = ({ values, id }: Position, { index }: Term) =>
  index === undefined ? id : (values[index] ?? null);
