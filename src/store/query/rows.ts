/** Records without a value come last, and no two records have the same place. */
import type { Knex } from 'knex';
import type { Table } from '../../model/record-kind.ts';
import { columnList, columnName, partOf } from './columns.ts';
import { conditionSql, fieldOf } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import type { Order, Position, RecordQuery } from './record-query.ts';

export interface Source {
  readonly dialect: Dialect;
  readonly workspaceId: number;
  readonly table: Table;
  /** A subquery for rows of the table, if only some of them can match. */
  readonly from?: Knex.QueryBuilder;
  readonly restriction?: Knex.Raw;
}

/** Selects all rows of the query. The caller adds the columns to read, or a count, a lock or an update. */
export function selectRows(source: Source, query: RecordQuery): Knex.QueryBuilder {
  const terms = termsOf(source.table, query.orderBy ?? []);
  return ordered(matching(source, query, terms), terms, query);
}

/** Records with and without a first value have a query each, the second read only for missing rows: no index has the order of both. */
export function selectList(source: Source, query: RecordQuery): Knex.QueryBuilder {
  const { dialect, table } = source;
  const { orderBy = [], limit, fields, fromEnd } = query;
  const terms = termsOf(table, orderBy);
  if (orderBy.length === 0 || limit === undefined || !terms[0]?.mayBeNull) return selectRows(source, query);
  const parts = partsOf(source, query, terms);
  const [firstPart, secondPart] = fromEnd ? parts.toReversed() : parts;
  if (!firstPart || !secondPart) return firstPart ?? matching(source, query, terms).whereRaw('false');
  const columns = dialect.builder.raw(columnList(partOf(table, fields)));
  const union = dialect.builder.raw(
    `(select * from ? as first_part union all select * from ? as second_part) as ${table.table}`,
    [firstPart.select(columns), secondPart.select(columns)],
  );
  return dialect.builder.from(union).limit(requireWhole(limit));
}

function partsOf(source: Source, query: RecordQuery, terms: readonly Term[]): Knex.QueryBuilder[] {
  const [first, ...rest] = terms as [Term, ...Term[]];
  const { after, before } = query;
  const { filters } = source.dialect;
  const isUnset = (position: Position | undefined) => position && valueAt(position, first) === null;
  const parts: Knex.QueryBuilder[] = [];
  if (!isUnset(after)) {
    const withValue = [{ ...first, mayBeNull: false }, ...rest];
    const range = { ...query, before: isUnset(before) ? undefined : before };
    const rows = matching(source, range, withValue);
    // A position excludes records without a value by itself; with this condition too, SQLite would begin at the first value.
    if (!range.after && !range.before) rows.where(filters.isSet(first.column, true));
    parts.push(ordered(rows, withValue, query));
  }
  if (!before || isUnset(before)) {
    // Postgres uses an index for its order only if that begins with the term, although it is null here.
    const inIndex = { ...first, mayBeNull: false, descending: rest[0]?.descending ?? false };
    const range = { ...query, after: isUnset(after) ? after : undefined };
    const rows = matching(source, range, rest).where(filters.isSet(first.column, false));
    parts.push(ordered(rows, [inIndex, ...rest], query));
  }
  return parts;
}

function matching(source: Source, { where, after, before }: RecordQuery, terms: readonly Term[]): Knex.QueryBuilder {
  const { dialect, workspaceId, table, from, restriction } = source;
  const { builder } = dialect;
  const alias = table.table;
  const rows = from ? builder.from(builder.raw(`? as ${alias}`, [from])) : builder(alias);
  rows.where('workspace_id', workspaceId);
  if (restriction) rows.where(restriction);
  if (where) rows.where(conditionSql({ dialect, workspaceId, table, alias, depth: 0 }, where));
  if (after) rows.where(beyondSql(dialect, 'after', terms, after));
  if (before) rows.where(beyondSql(dialect, 'before', terms, before));
  return rows;
}

function ordered(rows: Knex.QueryBuilder, terms: readonly Term[], { orderBy, fromEnd = false, limit }: RecordQuery) {
  if (orderBy) rows.orderByRaw(orderSql(terms, fromEnd));
  if (limit !== undefined) rows.limit(requireWhole(limit));
  return rows;
}

/** Throws unless the number is whole: Knex omits a limit that is not a number. */
export function requireWhole(limit: number): number {
  if (!Number.isSafeInteger(limit)) throw new Error(`expected a whole number as limit, received ${limit}`);
  return limit;
}

interface Term {
  readonly column: string;
  readonly descending: boolean;
  readonly mayBeNull: boolean;
  /** The place of its value in a position; undefined for the ID. */
  readonly index: number | undefined;
}

/** Returns the terms of an order. The ID is always the last. */
function termsOf({ storedFields, table }: Table, orderBy: readonly Order[]): Term[] {
  const terms = orderBy
    .filter(({ field }) => field !== 'id')
    .map(({ field, direction }, index): Term => {
      const { required = false } = fieldOf(storedFields, field);
      return { column: `${table}.${columnName(field)}`, descending: direction === 'desc', mayBeNull: !required, index };
    });
  const descending = orderBy.at(-1)?.direction === 'desc';
  return [...terms, { column: `${table}.id`, descending, mayBeNull: false, index: undefined }];
}

function orderSql(terms: readonly Term[], fromEnd: boolean): string {
  const directed = (expression: string, descending: boolean) => (descending ? `${expression} desc` : expression);
  return terms
    .flatMap(({ column, descending, mayBeNull }) => [
      ...(mayBeNull ? [directed(`(${column} is null)`, fromEnd)] : []),
      directed(column, descending !== fromEnd),
    ])
    .join(', ');
}

function beyondSql(dialect: Dialect, side: 'after' | 'before', terms: readonly Term[], position: Position): Knex.Raw {
  const { builder } = dialect;
  const [term, ...rest] = terms;
  if (!term) return builder.raw('false');
  const { column, descending, mayBeNull } = term;
  const operator = (side === 'after') === descending ? '<' : '>';
  if (terms.every((other) => !other.mayBeNull && other.descending === descending)) {
    // As one row, for which the databases use all columns of an index.
    const row = (items: readonly string[]) => (items.length === 1 ? items[0] : `(${items.join(', ')})`);
    return builder.raw(
      `${row(terms.map((other) => other.column))} ${operator} ${row(terms.map(() => '?'))}`,
      terms.map((other) => valueAt(position, other)) as Knex.Value[],
    );
  }
  const value = valueAt(position, term);
  const beyondRest = beyondSql(dialect, side, rest, position);
  if (value === null) {
    return builder.raw(side === 'after' ? `(${column} is null and ?)` : `(${column} is not null or ?)`, [beyondRest]);
  }
  const beyond = builder.raw(`(${column} ${operator} ? or ${column} = ? and ?)`, [value, value, beyondRest]);
  if (mayBeNull && side === 'after') return builder.raw(`(? or ${column} is null)`, [beyond]);
  // Where to begin in an index.
  return builder.raw(`(${column} ${operator}= ? and ?)`, [value, beyond]);
}

const valueAt = ({ values, id }: Position, { index }: Term) => (index === undefined ? id : (values[index] ?? null));
