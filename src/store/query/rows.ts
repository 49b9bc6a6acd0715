/** The rows of a workspace that a query finds, in its order. */
import type { Knex } from 'knex';
import type { Table } from '../../model/record-kind.ts';
import { columnList, partOf } from '../columns.ts';
import type { Comparison } from '../condition.ts';
import type { Dialect } from '../dialect.ts';
import { fieldOf, indexedComparisons, isIndexed } from './comparisons.ts';
import { conditionSql } from './conditions.ts';
import { beyondSql, orderSql, type Term, termsOf, valueAt } from './orders.ts';
import type { RecordQuery } from './record-query.ts';

/** Where the rows come from. */
export interface Source {
  readonly dialect: Dialect;
  readonly workspaceId: string;
  readonly table: Table;
  /** A subquery for rows of the table, if not all of them come into question. */
  readonly from?: Knex.QueryBuilder;
  /** What every row must satisfy. */
  readonly restriction?: Knex.Raw;
  /** Whether the database must not use an index for the filter. */
  readonly isFilterHidden?: boolean;
}

/** All rows of the query. The caller adds the columns to read, or a count, a lock or an update. */
export function selectRows(source: Source, query: RecordQuery): Knex.QueryBuilder {
  const terms = termsOf(source.dialect, source.table, query.orderBy ?? []);
  return ordered(matching(source, query, terms), terms, query);
}

/**
 * Like `selectRows`, for a list of a workspace. Where one index serves the filter and another one the order, the statement counts what
 * the filter finds, up to a bound: few records are read by the filter and sorted, many are read in the order until there are enough.
 */
export function selectList(source: Source, query: RecordQuery): Knex.QueryBuilder {
  const { dialect, table } = source;
  const comparisons = comparisonsToCount(table, query);
  if (comparisons.length === 0) return selectInOrder(source, query);
  const { builder } = dialect;
  const { where, limit = 0, fields, ...page } = query;
  const found = selectRows(source, { where, limit: maxSorted + 1 });
  const key = rangeKeyOf(source, comparisons);
  // Otherwise Postgres might read the table in its own order, other workspaces included.
  if (key) found.orderByRaw(`${key}, ${table.table}.id`);
  const few = selectRows({ ...source, from: found.clone().select('*') }, { ...page, limit });
  const many = selectInOrder({ ...source, isFilterHidden: true }, query);
  const columns = builder.raw(columnList(partOf(table, fields)));
  const limitIf = (operator: string) => `limit case when (select size from found) ${operator} ? then ? else 0 end`;
  // A limit of 0 keeps both databases from reading anything.
  const union = builder.raw(
    `(select * from (select * from ? as few ${limitIf('<=')}) as few_rows
      union all select * from (select * from ? as many ${limitIf('>')}) as many_rows) as ${table.table}`,
    [few.select(columns), maxSorted, limit, many.select(columns), maxSorted, limit],
  );
  const size = builder.from(found.select('id').as('first')).count({ size: '*' });
  return builder.withMaterialized('found', size).from(union).limit(requireWhole(limit));
}

/** The most records that a list reads and sorts, where it could read them in its order instead. */
const maxSorted = 5_000;

/** The comparisons of a filter that indexes serve, if other indexes serve the order; none if there is nothing to choose from. */
function comparisonsToCount(table: Table, { where, orderBy, limit }: RecordQuery): readonly Comparison[] {
  const field = orderBy?.[0]?.field;
  if (!where || !field || limit === undefined) return [];
  const comparisons = indexedComparisons(table, where) ?? [];
  if (comparisons.some((comparison) => comparison.field === field)) return [];
  // The IDs of equal values are in order in any index.
  if (field === 'id') return comparisons.every(isOfOneValue) ? [] : comparisons;
  return isIndexed(fieldOf(table.storedFields, field)) ? comparisons : [];
}

const isOfOneValue = (comparison: Comparison): boolean => 'in' in comparison && comparison.in.length === 1;

/** What the index is sorted by that finds all of the records from one value to another; undefined if there is no such index. */
function rangeKeyOf({ dialect, table }: Source, comparisons: readonly Comparison[]): string | undefined {
  const [field, ...others] = new Set(comparisons.map((comparison) => comparison.field));
  const hasGaps = comparisons.some((comparison) => 'in' in comparison && !isOfOneValue(comparison));
  if (field === undefined || others.length > 0 || hasGaps) return undefined;
  return termsOf(dialect, table, [{ field, direction: 'asc' }])[0]?.key;
}

/** For a list of which an index may have the order. */
function selectInOrder(source: Source, query: RecordQuery): Knex.QueryBuilder {
  const { dialect, table } = source;
  const { orderBy, limit, fields, fromEnd } = query;
  const terms = termsOf(dialect, table, orderBy ?? []);
  if (!orderBy || limit === undefined || !terms[0]?.mayBeNull) return selectRows(source, query);
  const parts = partsOf(source, query, terms);
  const [first, second] = fromEnd ? parts.toReversed() : parts;
  if (!first || !second) return first ?? matching(source, query, terms).whereRaw('false');
  const columns = dialect.builder.raw(columnList(partOf(table, fields)));
  // Both databases read the first part first, and the second only for as many rows as are still missing.
  const union = dialect.builder.raw(
    `(select * from ? as first_part union all select * from ? as second_part) as ${table.table}`,
    [first.select(columns), second.select(columns)],
  );
  return dialect.builder.from(union).limit(requireWhole(limit));
}

/**
 * The records with a value of the first term, and those without, as queries of their own: no index has the order of both together,
 * in which records without a value come last in either direction.
 */
function partsOf(source: Source, query: RecordQuery, terms: readonly Term[]): Knex.QueryBuilder[] {
  const [first, ...rest] = terms as [Term, ...Term[]];
  const { after, before } = query;
  const { filters } = source.dialect;
  const isUnset = (position: RecordQuery['after']) => position && valueAt(position, first) === null;
  const parts: Knex.QueryBuilder[] = [];
  if (!isUnset(after)) {
    const withValue = [{ ...first, mayBeNull: false }, ...rest];
    const range = { ...query, before: isUnset(before) ? undefined : before };
    const rows = matching(source, range, withValue);
    // Not beside a position, which only values are beyond: SQLite would begin at the first value instead.
    if (!range.after && !range.before) rows.where(filters.isSet(first.key, true));
    parts.push(ordered(rows, withValue, query));
  }
  if (!before || isUnset(before)) {
    // Postgres uses an index for its order only if that begins with the term, although it is null here.
    const inIndex = { ...first, column: first.key, mayBeNull: false, descending: rest[0]?.descending ?? false };
    const range = { ...query, after: isUnset(after) ? after : undefined };
    const rows = matching(source, range, rest).where(filters.isSet(first.key, false));
    parts.push(ordered(rows, [inIndex, ...rest], query));
  }
  return parts;
}

function matching(source: Source, { where, after, before }: RecordQuery, terms: readonly Term[]): Knex.QueryBuilder {
  const { dialect, workspaceId, table, from, restriction, isFilterHidden } = source;
  const { builder } = dialect;
  const alias = table.table;
  const rows = from ? builder.from(builder.raw(`? as ${alias}`, [from])) : builder(alias);
  rows.where('workspace_id', workspaceId);
  if (restriction) rows.where(restriction);
  if (where) {
    const filter = conditionSql({ dialect, workspaceId, table, alias, depth: 0 }, where);
    // Both databases expect enough rows of `case` to read them in order.
    rows.where(isFilterHidden ? builder.raw('case when ? then true else false end', [filter]) : filter);
  }
  if (after) rows.where(beyondSql(dialect, 'after', terms, after));
  if (before) rows.where(beyondSql(dialect, 'before', terms, before));
  return rows;
}

function ordered(rows: Knex.QueryBuilder, terms: readonly Term[], { orderBy, fromEnd = false, limit }: RecordQuery) {
  if (orderBy) rows.orderByRaw(orderSql(terms, fromEnd));
  if (limit !== undefined) rows.limit(requireWhole(limit));
  return rows;
}

/** Knex omits a limit that is not a number. */
export function requireWhole(limit: number): number {
  if (!Number.isSafeInteger(limit)) throw new Error(`expected a whole number as limit, received ${limit}`);
  return limit;
}
