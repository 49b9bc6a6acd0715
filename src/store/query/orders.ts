/** Orders and positions in them, as SQL. Records without a value come last, and no two records have the same place. */
import type { Knex } from 'knex';
import type { Table } from '../../model/record-kind.ts';
import { columnName } from '../columns.ts';
import type { Order, Position } from '../query.ts';

/** A column by which records are ordered. */
export interface Term {
  readonly column: string;
  readonly descending: boolean;
  readonly mayBeNull: boolean;
  /** The place of its value in a position; undefined for the ID. */
  readonly index: number | undefined;
}

/** The terms of an order. The ID is always the last: nothing can follow it. */
export function termsOf({ storedFields }: Table, alias: string, orderBy: readonly Order[]): Term[] {
  const terms: Term[] = [];
  let descending = false;
  let index = 0;
  for (const order of orderBy) {
    descending = order.direction === 'desc';
    if (order.field === 'id') break;
    const column = `${alias}.${columnName(order.field)}`;
    const mayBeNull = storedFields[order.field]?.required !== true;
    if (!terms.some((term) => term.column === column)) terms.push({ column, descending, mayBeNull, index });
    index += 1;
  }
  return [...terms, { column: `${alias}.id`, descending, mayBeNull: false, index: undefined }];
}

/** What follows `order by`. */
export function orderSql(terms: readonly Term[], fromEnd: boolean): string {
  const directed = (expression: string, descending: boolean) => (descending ? `${expression} desc` : expression);
  return terms
    .flatMap(({ column, descending, mayBeNull }) => [
      ...(mayBeNull ? [directed(`(${column} is null)`, fromEnd)] : []),
      directed(column, descending !== fromEnd),
    ])
    .join(', ');
}

/** Whether a record comes after or before a position. */
export function beyondSql(
  builder: Knex,
  side: 'after' | 'before',
  terms: readonly Term[],
  position: Position,
): Knex.Raw {
  const [term, ...rest] = terms;
  if (!term) return builder.raw('false');
  const { column, descending } = term;
  const operator = (side === 'after') === descending ? '<' : '>';
  if (terms.every((other) => !other.mayBeNull && other.descending === descending)) {
    return comparedTogether(builder, operator, terms, position);
  }
  const value = valueAt(position, term);
  const beyondRest = beyondSql(builder, side, rest, position);
  if (value === null) {
    return builder.raw(side === 'after' ? `(${column} is null and ?)` : `(${column} is not null or ?)`, [beyondRest]);
  }
  const orNull = term.mayBeNull && side === 'after' ? ` or ${column} is null` : '';
  return builder.raw(`(${column} ${operator} ? or ${column} = ? and ?${orNull})`, [value, value, beyondRest]);
}

/** As one comparison of rows, for which the databases use all columns of an index. */
function comparedTogether(builder: Knex, operator: string, terms: readonly Term[], position: Position): Knex.Raw {
  const row = (items: readonly string[]) => (items.length === 1 ? items[0] : `(${items.join(', ')})`);
  return builder.raw(
    `${row(terms.map(({ column }) => column))} ${operator} ${row(terms.map(() => '?'))}`,
    terms.map((term) => valueAt(position, term)),
  );
}

export const valueAt = ({ values, id }: Position, { index }: Term) =>
  index === undefined ? id : (values[index] ?? null);
