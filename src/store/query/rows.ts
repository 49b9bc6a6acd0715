/** The rows of a workspace that a query finds, in its order. */
import type { Knex } from 'knex';
import type { Table } from '../../model/record-kind.ts';
import { columnList, partOf } from '../columns.ts';
import type { Dialect } from '../dialect.ts';
import type { RecordQuery } from '../query.ts';
import { conditionSql } from './conditions.ts';
import { beyondSql, orderSql, type Term, termsOf, valueAt } from './orders.ts';

/** Where the rows come from. */
export interface Source {
  readonly dialect: Dialect;
  readonly workspaceId: string;
  readonly table: Table;
  /** A subquery for rows of the table, if not all of them come into question. */
  readonly from?: Knex.Raw;
  /** What every row must satisfy. */
  readonly restriction?: Knex.Raw;
  /** What to select. Unless set, the caller adds columns of the query's fields, or a count, a lock or an update. */
  readonly columns?: string;
}

export function selectRows(source: Source, query: RecordQuery): Knex.QueryBuilder {
  const { builder } = source.dialect;
  const { table, columns } = source;
  const terms = termsOf(table, table.table, query.orderBy ?? []);
  const { limit } = query;
  const isSplit = limit !== undefined && query.orderBy !== undefined && terms[0]?.mayBeNull;
  const parts = isSplit ? partsOf(source, query, terms) : [ordered(matching(source, query, terms), terms, query)];
  const [first, second] = query.fromEnd ? parts.toReversed() : parts;
  if (!first || !second) {
    const rows = first ?? matching(source, query, terms).whereRaw('false');
    return columns ? rows.select(builder.raw(columns)) : rows;
  }
  const selected = builder.raw(columns ?? columnList(partOf(table, query.fields)));
  // Both databases read the first part first, and the second only for as many rows as are still missing.
  const union = builder.raw(
    `(select * from ? as first_part union all select * from ? as second_part) as ${table.table}`,
    [first.select(selected), second.select(selected)],
  );
  const rows = builder.from(union).limit(requireWhole(limit ?? 0));
  return columns ? rows.select('*') : rows;
}

/**
 * The records with a value of the first term, and those without, as queries of their own: no index has the order of both together,
 * in which records without a value come last in either direction.
 */
function partsOf(source: Source, query: RecordQuery, terms: readonly Term[]): Knex.QueryBuilder[] {
  const [first, ...rest] = terms as [Term, ...Term[]];
  const { after, before } = query;
  const isUnset = (position: RecordQuery['after']) => position && valueAt(position, first) === null;
  const parts: Knex.QueryBuilder[] = [];
  if (!isUnset(after)) {
    const withValue = [{ ...first, mayBeNull: false }, ...rest];
    const range = { ...query, before: isUnset(before) ? undefined : before };
    parts.push(ordered(matching(source, range, withValue).whereRaw(`${first.column} is not null`), withValue, query));
  }
  if (!before || isUnset(before)) {
    const range = { ...query, after: isUnset(after) ? after : undefined };
    parts.push(ordered(matching(source, range, rest).whereRaw(`${first.column} is null`), rest, query));
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
  if (after) rows.where(beyondSql(builder, 'after', terms, after));
  if (before) rows.where(beyondSql(builder, 'before', terms, before));
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
