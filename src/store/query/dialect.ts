/** The SQL that differs between SQLite and Postgres. Knex builds all other SQL. */
import type { Knex } from 'knex';
import type { StoredField } from '../../model/fields.ts';
import type { RecordKind, Table } from '../../model/record-kind.ts';
import type { TextRange } from '../../model/sort-key.ts';
import type { Row, Statement } from '../connections/driver.ts';
import type { SelectedColumn } from './columns.ts';
import type { ScalarValue } from './record-query.ts';
import type { LogRow } from './tables.ts';

export interface Insert {
  readonly records: readonly Row[];
  /** The IDs that must exist. */
  readonly references: ReadonlyMap<RecordKind, readonly string[]>;
  readonly change: Omit<LogRow, 'recordId'>;
  readonly resultRow: Row | undefined;
}

/** A text whose characters have one or more forms. */
export interface Pattern {
  readonly characters: readonly (readonly string[])[];
  readonly isAnchoredAtStart: boolean;
  readonly isAnchoredAtEnd: boolean;
}

/** Columns are SQL; everything else is a parameter. */
export interface Filters {
  /** The SQL does not depend on the number of values. */
  isOneOf(column: string, type: StoredField['type'], values: readonly ScalarValue[]): Knex.Raw;
  isSet(column: string, isSet: boolean): Knex.Raw;
  contains(column: string, text: string): Knex.Raw;
  endsWith(column: string, text: string): Knex.Raw;
  matchesAny(column: string, patterns: readonly Pattern[]): Knex.Raw;
  hasExternalId(records: IndexedColumn, key: string, value?: string): Knex.Raw;
  /** The key and the value are SQL. */
  idsWithExternalId(
    records: Omit<IndexedColumn, 'alias'>,
    key: string,
    value: string,
    limit?: number,
  ): Knex.QueryBuilder;
  /** The key is SQL. */
  externalId(column: string, key: string): string;
  /** True if a column is in one of the ranges. Absent where `or` uses the index. */
  isInRanges?(rows: IndexedColumn, ranges: readonly TextRange[]): Knex.Raw;
  /** True if other rows have the value in a column. */
  isAmong(
    value: string,
    rows: { readonly column: string; readonly from: string; readonly where: Knex.Raw },
    isPerRow?: boolean,
  ): Knex.Raw;
  /** Alternatives: few rows match and have the value, or many match. Empty where `isAmong` is as fast. */
  isAmongFew(...filter: Parameters<Filters['isAmong']>): readonly Knex.Raw[];
}

interface IndexedColumn {
  readonly workspaceId: number;
  readonly table: string;
  readonly alias: string;
  readonly column: string;
}

interface TransactionSql {
  readonly begin: string;
  readonly beginSnapshot: string;
  /** The parameters are the workspace and a name. Absent if only one transaction writes at a time. */
  readonly lock?: string;
  /** Serializes migrations and changes of keys and workspaces across processes. */
  readonly lockMaintenance?: string;
  readonly prepareExternalIds?: string;
  /** Lets the transaction of a copy be idle while it waits for the source. */
  readonly prepareCopy?: string;
  /** Gives new workspaces greater numbers than the copied ones. */
  readonly finishCopy?: string;
}

interface WriteSql {
  inserts(table: Table, records: readonly Row[]): Iterable<Statement>;
  /** Fails if a reference has no record. Absent where one statement cannot write several tables. */
  readonly insertWithLog?: ((kind: RecordKind, inserts: readonly Insert[]) => Statement) | undefined;
  updates(table: Table, workspaceId: number, records: readonly Row[], fields: ReadonlySet<string>): Iterable<Statement>;
  deletions(table: Table, workspaceId: number, ids: readonly string[]): Iterable<Statement>;
}

interface RowSql {
  readonly filters: Filters;
  rowsById(table: Table, workspaceId: number, ids: readonly string[]): Knex.QueryBuilder;
  rowsReferring(
    from: { readonly table: Table; readonly field: string },
    workspaceId: number,
    ids: readonly string[],
    limit: number,
  ): Knex.QueryBuilder;
  /** Joins the row whose ID, or other unique column `key`, has the value, if any. The workspace is a parameter. */
  joinByKey(to: { readonly table: Table; readonly alias: string; readonly key?: string }, value: string): string;
  /** Joins the IDs of the rows whose column refers to `id`. The workspace is a parameter. */
  joinReferring(from: { readonly table: Table; readonly alias: string; readonly column: string }, id: string): string;
  /** A table `parent` with the column `value`. */
  parents(ids: readonly string[]): Knex.Raw;
  /** Does not read the text if the database stores its length. */
  byteLength(column: string): string;
  /** The first characters of a date, such as 7 of `2026-03-01`. `offset` is the SQL of seconds ahead of UTC. */
  date(column: string, length: number, offset?: string): string;
  readonly timeType: string;
}

/** Rows as JSON, which drivers return twice as fast as columns. */
interface JsonSql {
  /** A function: the elements of a JSON array as rows, in a column `value`. */
  readonly jsonElements: string;
  /** An aggregate function: null on Postgres without rows. */
  readonly jsonArrayOf: string;
  jsonRow(columns: readonly SelectedColumn[]): string;
  /** Converts a parsed `jsonRow`, perhaps in place, to the values of a record. */
  fromJson(columns: readonly Pick<SelectedColumn, 'type'>[]): (values: unknown[]) => unknown[];
  /** Aggregates, which `parsePage` turns into an array for each row. No column may have JSON. */
  jsonPage(columns: readonly SelectedColumn[]): readonly string[];
  parsePage(texts: readonly unknown[]): unknown[][];
}

export interface Dialect extends TransactionSql, WriteSql, RowSql, JsonSql {
  /** The bytes of the database and, if they are known without reading it, of the log; the number of changes. */
  readonly sizes: string;
  /** Has no connection. */
  readonly builder: Knex;
}
