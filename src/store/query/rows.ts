/** The rows of a workspace that a query finds, in its order. */
import type { Knex } from 'knex';
import type { Table } from '../../model/record-kind.ts';
import { columnList, partOf } from './columns.ts';
import { comparisonsIn, isIndexed } from './comparisons.ts';
import type { Comparison } from './condition.ts';
import { conditionSql } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import { beyondSql, orderSql, type Term, termsOf, valueAt } from './orders.ts';
import type { RecordQuery } from './record-query.ts';

/** The table and the workspace of the rows. */
export interface Source {
  readonly dialect: Dialect;
  readonly workspaceId: number;
  readonly table: Table;
  /** A subquery for rows of the table, if only some of them can match. */
  readonly from?: Knex.QueryBuilder;
  /** A condition on every row. */
  readonly restriction?: Knex.Raw;
  /** True if the database must not use an index for the filter. */
  readonly isFilterHidden?: boolean;
}

/** Selects all rows of the query. The caller adds the columns to read, or a count, a lock or an update. */
export function selectRows(source: Source, query: RecordQuery): Knex.QueryBuilder {
  const terms = termsOf(source.table, query.orderBy ?? []);
  return ordered(matching(source, query, terms), terms, query);
}

/**
 * Like `selectRows`, for a list of a workspace. Unless one index serves the filter and the order, the statement first finds what the
 * filter matches, up to a bound: few records are sorted, many are read in the order until there are enough.
 */
export function selectList(source: Source, query: RecordQuery): Knex.QueryBuilder {
  const { dialect, table } = source;
  const comparisons = comparisonsToCount(source, query);
  if (!comparisons) return selectInOrder(source, query);
  const { builder } = dialect;
  const { where, limit = 0, fields, ...page } = query;
  const found = selectRows(source, { where, limit: maxSorted + 1 });
  const key = rangeKeyOf(source, comparisons);
  // Otherwise Postgres might read the table in its own order, other workspaces included.
  if (key) found.orderByRaw([...new Set([key, `${table.table}.id`])].join(', '));
  const orders = (page.orderBy ?? []).map(({ field }) => field);
  // Counting reads indexes only, unless a field has none. Then it reads rows, and each of them only once.
  const isInIndexes = [...comparisons.map(({ field }) => field), orders[0] ?? 'id'].every((field) =>
    isServed(source, field),
  );
  const few = isInIndexes
    ? selectRows({ ...source, from: found.clone().select('*') }, { ...page, limit })
    : selectSorted({ ...source, from: builder.from('found') }, { ...page, limit });
  const many = selectInOrder({ ...source, isFilterHidden: true }, query);
  const columns = builder.raw(columnList(partOf(table, fields)));
  const limitIf = (operator: string) => `limit case when (select count(*) from found) ${operator} ? then ? else 0 end`;
  // A limit of 0 keeps both databases from reading anything.
  const union = builder.raw(
    `(select * from (select * from ? as few ${limitIf('<=')}) as few_rows
      union all select * from (select * from ? as many ${limitIf('>')}) as many_rows) as ${table.table}`,
    [few.select(columns), maxSorted, limit, many.select(columns), maxSorted, limit],
  );
  const foundFields = new Set(isInIndexes ? ['id'] : ['workspaceId', 'id', ...orders]);
  found.select(builder.raw(columnList(partOf(table, foundFields))));
  return builder.withMaterialized('found', found).from(union).limit(requireWhole(limit));
}

/** The most records that a list reads and sorts, where it could read them in its order instead. */
const maxSorted = 5_000;

/** Returns the comparisons of a filter; undefined if it has other conditions, or if there is nothing to choose from. */
function comparisonsToCount(source: Source, { where, orderBy, limit }: RecordQuery): readonly Comparison[] | undefined {
  const order = orderBy?.[0]?.field;
  if (!where || !order || limit === undefined) return undefined;
  const comparisons = comparisonsIn(where);
  if (!comparisons || comparisons.some(({ field }) => field === order)) return undefined;
  const served = comparisons.filter(({ field }) => isServed(source, field));
  // In any index, records with equal values are in the order of their IDs.
  if (order === 'id') return served.every(isOfOneValue) ? undefined : comparisons;
  return served.length > 0 || isServed(source, order) ? comparisons : undefined;
}

/** True if an index has the values of the field. */
const isServed = ({ dialect, table }: Source, field: string): boolean =>
  field === 'id' || isIndexed(dialect, table, field);

const isOfOneValue = (comparison: Comparison): boolean => 'in' in comparison && comparison.in.length === 1;

/**
 * Returns the order of the index that finds all of the records from one value to another, or all of the workspace; undefined if
 * there is no such index.
 */
function rangeKeyOf(source: Source, comparisons: readonly Comparison[]): string | undefined {
  const served = comparisons.filter(({ field }) => isServed(source, field));
  const [field = 'id', ...others] = new Set(served.map((comparison) => comparison.field));
  const hasGaps = served.some((comparison) => 'in' in comparison && !isOfOneValue(comparison));
  if (others.length > 0 || hasGaps) return undefined;
  return termsOf(source.table, [{ field, direction: 'asc' }])[0]?.column;
}

/** Reads in the order of an index, if there is one. */
function selectInOrder(source: Source, query: RecordQuery): Knex.QueryBuilder {
  const { dialect, table } = source;
  const { orderBy, limit, fields, fromEnd } = query;
  const terms = termsOf(table, orderBy ?? []);
  const [first] = orderBy ?? [];
  if (!first || limit === undefined) return selectRows(source, query);
  if (!isServed(source, first.field)) return selectSorted(source, query);
  if (!terms[0]?.mayBeNull) return selectRows(source, query);
  const parts = partsOf(source, query, terms);
  const [firstPart, secondPart] = fromEnd ? parts.toReversed() : parts;
  if (!firstPart || !secondPart) return firstPart ?? matching(source, query, terms).whereRaw('false');
  const columns = dialect.builder.raw(columnList(partOf(table, fields)));
  // Both databases read the first part first, and the second only for as many rows as are still missing.
  const union = dialect.builder.raw(
    `(select * from ? as first_part union all select * from ? as second_part) as ${table.table}`,
    [firstPart.select(columns), secondPart.select(columns)],
  );
  return dialect.builder.from(union).limit(requireWhole(limit));
}

/** Finds the IDs of the page in one pass over the rows, and then its rows: SQLite would keep all their columns while it sorts. */
function selectSorted(source: Source, query: RecordQuery): Knex.QueryBuilder {
  const { dialect, workspaceId, table } = source;
  const terms = termsOf(table, query.orderBy ?? []);
  const ids = ordered(matching(source, query, terms), terms, query).select(`${table.table}.id as page_id`);
  const page = dialect.builder.from(ids.as('page'));
  dialect.joinById(page, { table, alias: table.table }, { workspaceId, reference: 'page_id' });
  // With a limit, SQLite keeps the order where this is a part of another statement.
  return ordered(page, terms, query);
}

/**
 * Returns the records with a value of the first term, and those without, as queries of their own: no index has the order of both
 * together, in which records without a value come last in either direction.
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

/** Throws unless the number is whole: Knex omits a limit that is not a number. */
export function requireWhole(limit: number): number {
  if (!Number.isSafeInteger(limit)) throw new Error(`expected a whole number as limit, received ${limit}`);
  return limit;
}
