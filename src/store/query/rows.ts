import type { Knex } from 'knex';
import type { StoredField } from '../../model/fields.ts';
import type { Table } from '../../model/record-kind.ts';
import { sortKey } from '../../model/sort-key.ts';
import { DatabaseError } from '../connections/database-error.ts';
import type { Row, Run } from '../connections/driver.ts';
import {
  columnList,
  columnName,
  isJson,
  pickFields,
  recordFromValues,
  type SelectedColumn,
  tableColumns,
} from './columns.ts';
import { keyField, squaredChord } from './computed.ts';
import { type ConditionScope, conditionSql, lookupVariants, requireField } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import {
  isOrderedByKey,
  orderedField,
  orderName,
  type Position,
  type RecordOrder,
  type RecordQuery,
} from './record-query.ts';

export interface RowSource extends Omit<ConditionScope, 'alias' | 'depth'> {
  /** Rows to select from instead of the whole table. */
  readonly from?: Knex.QueryBuilder;
  readonly restriction?: Knex.Raw;
}

/** The caller adds columns, a count, a lock or an update. */
export function selectRows(source: RowSource, query: RecordQuery): Knex.QueryBuilder {
  const terms = termsOf(source.table, query.orderBy ?? []);
  return orderRows(matchingRows(source, query, terms), terms, query);
}

/**
 * After a position with a value come the remaining records with a value, then those without. With `or … is null`, a
 * database reads its index from the beginning: 1.5 s for a page in the middle of a million. So each part is a query of
 * one page, as are the alternatives of `lookupVariants`. The union is ordered again: a parallel plan of Postgres may
 * return the parts in any order.
 */
function selectList(source: RowSource, query: RecordQuery): Knex.QueryBuilder {
  const { dialect, table, restriction } = source;
  const { orderBy = [], where, limit, after, fromEnd } = query;
  const terms = termsOf(table, orderBy);
  const [first, ...rest] = terms;
  // No index has the order of linked records: one part sorts them all once.
  const isWhole = orderBy[0]?.links !== undefined;
  const mayLookUp = where && limit !== undefined && !restriction;
  const lookups = mayLookUp ? lookupVariants({ ...source, alias: table.table, depth: 0 }, where) : [];
  const parts = lookups.map((lookup) => selectList({ ...source, restriction: lookup }, query));
  if (parts.length === 0) {
    if (
      isWhole ||
      !first?.mayBeNull ||
      !after ||
      positionValue(after, first) === null ||
      fromEnd ||
      limit === undefined
    ) {
      return selectRows(source, query);
    }
    const rows = () => matchingRows(source, { ...query, after: undefined }, terms);
    const withValue = beyondPositionSql(dialect, 'after', [{ ...first, mayBeNull: false }, ...rest], after);
    const withoutValue = dialect.filters.isSet(first.column, false);
    for (const part of [withValue, withoutValue]) parts.push(orderRows(rows().where(part), terms, query));
  }
  const fields = query.fields && new Set([...query.fields, 'id', ...orderBy.map(orderName)]);
  const returned = columnList(tableColumns(pickFields(withOrderFields(table, orderBy), fields)));
  const columns = dialect.builder.raw(
    [returned, ...terms.flatMap(({ isKey, column }) => (isKey ? [column] : []))].join(', '),
  );
  const selected = parts.map((part) => part.select(columns));
  const union = `(select * from ? as part union all select * from ? as part) as ${table.table}`;
  return orderRows(dialect.builder.from(dialect.builder.raw(union, selected)), terms, query);
}

function matchingRows(source: RowSource, query: RecordQuery, terms: readonly Term[]): Knex.QueryBuilder {
  const { dialect, workspaceId, table, restriction } = source;
  const { where, after, before } = query;
  const alias = table.table;
  const rows = dialect.builder.from(fromSql(source, query.orderBy ?? []));
  rows.where('workspace_id', workspaceId);
  if (restriction) rows.where(restriction);
  const condition = where && conditionSql({ ...source, alias, depth: 0 }, where);
  if (condition) rows.where(condition);
  if (after) rows.where(beyondPositionSql(dialect, 'after', terms, after));
  if (before) rows.where(beyondPositionSql(dialect, 'before', terms, before));
  return rows;
}

function fromSql({ dialect, workspaceId, table, from }: RowSource, orderBy: readonly RecordOrder[]): Knex.Raw | string {
  const { builder } = dialect;
  const columns: Knex.Raw[] = [];
  /** Joins by reference: orders through the same links share them. */
  const joins = new Map<string, { readonly alias: string; readonly sql: string }>();
  for (const order of orderBy) {
    // In a join of the table with itself, its name would mean the joined one.
    let last = 'record';
    for (const { reference, target, keyPrefix } of order.links ?? []) {
      const column = `${last}.${columnName(reference)}`;
      const alias = joins.get(column)?.alias ?? `linked_${joins.size}`;
      const [key, value] = keyPrefix ? ['key', `'${keyPrefix}' || ${column}`] : ['id', column];
      joins.set(column, { alias, sql: dialect.joinByKey({ table: target, alias, key }, value) });
      last = alias;
    }
    const name = orderName(order);
    const add = (value: Knex.Raw, as: string) => columns.push(builder.raw(`? as ${columnName(as)}`, [value]));
    if (order.from) add(squaredChord(builder, last, order.from), name);
    else if (order.links) {
      add(builder.raw(`${last}.${columnName(order.field)}`), name);
      if (isOrderedByKey(table, order))
        add(builder.raw(`${last}.${columnName(keyField(order.field))}`), keyField(name));
    }
  }
  const rows = from ?? builder.raw(table.table);
  if (columns.length === 0) return from ? builder.raw(`? as ${table.table}`, [rows]) : table.table;
  const joined = [...joins.values()].map(({ sql }) => sql).join(' ');
  const list = ['record.*', ...columns.map(() => '?')].join(', ');
  return builder.raw(`(select ${list} from ? as record ${joined}) as ${table.table}`, [
    ...columns,
    rows,
    ...Array(joins.size).fill(workspaceId),
  ]);
}

export function withOrderFields(table: Table, orderBy: readonly RecordOrder[] = []): Table {
  const linked = orderBy.flatMap((order): [string, StoredField][] => {
    const field = order.links || order.from ? orderedField(table, order) : undefined;
    return field ? [[orderName(order), { ...field, required: false }]] : [];
  });
  if (linked.length === 0) return table;
  return { ...table, storedFields: { ...table.storedFields, ...Object.fromEntries(linked) } };
}

function orderRows(rows: Knex.QueryBuilder, terms: readonly Term[], { orderBy, fromEnd = false, limit }: RecordQuery) {
  if (orderBy) rows.orderByRaw(orderSql(terms, fromEnd));
  if (limit !== undefined) rows.limit(requireWhole(limit), literally);
  return rows;
}

/** Knex omits a limit that is not a number. */
export function requireWhole(number: number): number {
  if (!Number.isSafeInteger(number)) throw new Error(`expected a whole number, received ${number}`);
  return number;
}

interface Term {
  readonly column: string;
  /** The column has the sort key of the value. */
  readonly isKey: boolean;
  readonly descending: boolean;
  readonly mayBeNull: boolean;
  /** The index of the value in a position; undefined for the ID. */
  readonly index: number | undefined;
}

/** The ID is always the last term. */
function termsOf(table: Table, orderBy: readonly RecordOrder[]): Term[] {
  const { storedFields } = withOrderFields(table, orderBy);
  const terms = orderBy
    .filter((order) => orderName(order) !== 'id')
    .map((order, index): Term => {
      const name = orderName(order);
      const { required = false } = requireField(storedFields, name);
      const isKey = isOrderedByKey(table, order);
      const column = `${table.table}.${columnName(isKey ? keyField(name) : name)}`;
      return { column, isKey, descending: order.direction === 'desc', mayBeNull: !required, index };
    });
  const descending = orderBy.at(-1)?.direction === 'desc';
  return [...terms, { column: `${table.table}.id`, isKey: false, descending, mayBeNull: false, index: undefined }];
}

/** Required fields need no `nulls first` or `last`, which would not fit indexes. */
function orderSql(terms: readonly Term[], fromEnd: boolean): string {
  return terms
    .map(({ column, descending, mayBeNull }) => {
      const nulls = mayBeNull ? ` nulls ${fromEnd ? 'first' : 'last'}` : '';
      return `${column}${descending === fromEnd ? '' : ' desc'}${nulls}`;
    })
    .join(', ');
}

function beyondPositionSql(
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
    // A comparison of rows uses all columns of an index.
    const row = (items: readonly string[]) => (items.length === 1 ? items[0] : `(${items.join(', ')})`);
    return builder.raw(
      `${row(terms.map((other) => other.column))} ${operator} ${row(terms.map(() => '?'))}`,
      terms.map((other) => positionValue(position, other)),
    );
  }
  const value = positionValue(position, term);
  const beyondRest = beyondPositionSql(dialect, side, rest, position);
  if (value === null) {
    return builder.raw(side === 'after' ? `(${column} is null and ?)` : `(${column} is not null or ?)`, [beyondRest]);
  }
  const beyond = builder.raw(`(${column} ${operator} ? or ${column} = ? and ?)`, [value, value, beyondRest]);
  if (mayBeNull && side === 'after') return builder.raw(`(? or ${column} is null)`, [beyond]);
  // Redundant, but says where to begin in an index.
  return builder.raw(`(${column} ${operator}= ? and ?)`, [value, beyond]);
}

function positionValue({ values, id }: Position, { index, isKey }: Term) {
  if (index === undefined) return id;
  const { [index]: value = null } = values;
  return isKey && value !== null ? sortKey(String(value)) : value;
}

export const rowsQuery = (
  dialect: Dialect,
  table: Table,
  workspaceId: number,
  query: RecordQuery = {},
): Knex.QueryBuilder => selectList({ dialect, table, workspaceId }, query);

/**
 * With a limit as parameter, Postgres plans a prepared statement each time, a quarter of the time of a linked list, and
 * Citus rejects statements on several workspaces.
 */
export const literally = { skipBinding: true } as const;

/** Errors of Knex contain SQL, which must not leave the store. */
export function runQuery(run: Run, query: Knex.QueryBuilder | Knex.Raw): ReturnType<Run> {
  const { sql, bindings } = compileQuery(query);
  return run(sql, bindings);
}

function compileQuery(query: Knex.QueryBuilder | Knex.Raw): Knex.SqlNative {
  try {
    return query.toSQL().toNative();
  } catch {
    throw new DatabaseError('a query could not be built');
  }
}

/**
 * One statement for all lists of values. The subquery refers to values as `sent.value ->> 0`, `1`, …; a raw one needs
 * brackets.
 */
export async function selectEach(
  { builder, jsonElements }: Dialect,
  run: Run,
  sent: readonly (readonly unknown[])[],
  subquery: Knex.QueryBuilder | Knex.Raw,
): Promise<unknown[]> {
  if (sent.length === 0) return [];
  const rows = builder.raw(`select ? as found from ${jsonElements}(?) as sent`, [subquery, JSON.stringify(sent)]);
  return (await runQuery(run, rows)).map(({ found }) => found);
}

/** Records have the name of their workspace if given, its number otherwise. */
export async function selectRecords(
  { dialect, run, workspaceName }: { readonly dialect: Dialect; readonly run: Run; readonly workspaceName?: string },
  table: Table,
  query: Knex.QueryBuilder,
  isBounded?: boolean,
): Promise<Row[]> {
  const columns = tableColumns(table);
  const select = (selected: string) => query.select(dialect.builder.raw(selected));
  const rows = await selectValues(dialect, run, columns, select, isBounded);
  return rows.map((values) => recordFromValues(columns, values, workspaceName));
}

/**
 * Reads rows as JSON, in half the time of columns. Bounded rows without JSON become one text: others could be too long
 * for V8.
 */
export async function selectValues(
  dialect: Dialect,
  run: Run,
  columns: readonly SelectedColumn[],
  select: (selected: string) => Knex.QueryBuilder | Knex.Raw,
  isBounded = false,
): Promise<unknown[][]> {
  const { builder, jsonRow, fromJson, jsonPage, parsePage } = dialect;
  const toValues = fromJson(columns);
  if (!isBounded || columns.some(isJson)) {
    const rows = await runQuery(run, select(`${jsonRow(columns)} as record`));
    return rows.map(({ record }) => toValues(JSON.parse(String(record))));
  }
  // Unique names: joined tables have columns of the same name.
  const named = columns.map(({ type }, index) => ({ name: `c${index}`, type }));
  const rows = select(columns.map(({ name }, index) => `${name} as c${index}`).join(', '));
  const parts = jsonPage(named).map((aggregate, index) => ({ aggregate, name: `c${index}` }));
  const list = parts.map(({ aggregate, name }) => `${aggregate} as ${name}`).join(', ');
  const [page] = await runQuery(run, builder.raw(`select ${list} from (?) as page`, [rows]));
  return parsePage(parts.map(({ name }) => page?.[name])).map(toValues);
}

export const parseRows = (json: unknown): unknown[][] => JSON.parse(String(json)) ?? [];
