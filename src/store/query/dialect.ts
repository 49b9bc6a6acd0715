/** The SQL that differs between SQLite and Postgres. All other SQL is written once, by Knex's query builder. */
import type { Knex } from 'knex';
import type { StoredField } from '../../model/fields.ts';
import type { RecordKind, Table } from '../../model/record-kind.ts';
import type { Row, Statement } from '../connections/driver.ts';
import type { SelectedColumn } from './columns.ts';
import type { ScalarValue } from './record-query.ts';
import type { LogRow } from './tables.ts';

/** The records of a creation (writes/tx.ts), with their log and key. */
export interface Insert {
  /** In the workspace of the change. */
  readonly records: readonly Row[];
  /** The IDs that must exist, by kind. */
  readonly references: ReadonlyMap<RecordKind, readonly string[]>;
  /** The common values of their rows of the log. */
  readonly change: Omit<LogRow, 'recordId'>;
  /** A row of `idempotencyResults`, if the request has a key. */
  readonly keyed: Row | undefined;
}

/** A text whose characters have one or more forms, with or without other text before and after it. */
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
  hasExternalId(records: ExternalIdsColumn, key: string, value?: string): Knex.Raw;
  /** Returns a subquery for the IDs of records with an external ID, whose key and value are SQL. */
  idsWithExternalId(
    records: Omit<ExternalIdsColumn, 'alias'>,
    key: string,
    value: string,
    limit?: number,
  ): Knex.QueryBuilder;
  /** Returns an expression for the external ID whose key is SQL. */
  externalId(column: string, key: string): string;
  /** True if the column's value is among the values of a column in other rows. */
  isAmong(column: string, rows: { readonly column: string; readonly from: string; readonly where: Knex.Raw }): Knex.Raw;
  /**
   * Returns two alternatives to `isAmong`: the rows are few, are read first, and have the value; or the rows are many.
   * Empty where `isAmong` does as well.
   */
  isAmongFew(...filter: Parameters<Filters['isAmong']>): readonly Knex.Raw[];
}

interface ExternalIdsColumn {
  readonly workspaceId: number;
  readonly table: string;
  readonly alias: string;
  readonly column: string;
}

/** Statements around and in transactions. */
interface TransactionSql {
  readonly begin: string;
  readonly beginSnapshot: string;
  /**
   * Waits for the workspace's lock with a name, its two parameters. Absent if only one transaction writes at a time.
   */
  readonly lock?: string;
  /** Serializes transactions of all processes that migrate, create a key, or rename or delete a workspace. */
  readonly lockMaintenance?: string;
  /** Runs before thousands of external IDs are looked up. */
  readonly prepareExternalIds?: string;
  /** The first statement of a copy into this database, which may be idle while it waits for the source. */
  readonly prepareCopy?: string;
  /** The last statement of a copy: new workspaces get greater numbers than the copied ones. */
  readonly finishCopy?: string;
}

/** Statements that write. Rows are split into statements of thousands, or fewer long ones. */
interface WriteSql {
  inserts(table: Table, records: readonly Row[]): Iterable<Statement>;
  /**
   * Inserts creations of one kind with their log and keys. Fails if a reference has no record. Absent if this takes a
   * transaction.
   */
  readonly insertWithLog?: ((kind: RecordKind, inserts: readonly Insert[]) => Statement) | undefined;
  /** Sets these fields in the records. */
  updates(table: Table, workspaceId: number, records: readonly Row[], fields: ReadonlySet<string>): Iterable<Statement>;
  deletions(table: Table, workspaceId: number, ids: readonly string[]): Iterable<Statement>;
}

/** Queries for rows, and their parts. */
interface RowSql {
  readonly filters: Filters;
  rowsById(table: Table, workspaceId: number, ids: readonly string[]): Knex.QueryBuilder;
  rowsReferring(
    from: { readonly table: Table; readonly field: string },
    workspaceId: number,
    ids: readonly string[],
    limit: number,
  ): Knex.QueryBuilder;
  /** Returns a left join of the row whose ID is in the column `reference`. The workspace is a parameter. */
  joinById(to: { readonly table: Table; readonly alias: string }, reference: string): string;
  /** Returns IDs as the table `parent` with the column `value`. */
  parents(ids: readonly string[]): Knex.Raw;
  /** Returns an expression for the bytes of a text. Reads only its length where the database stores it. */
  byteLength(column: string): string;
  /**
   * Returns an expression for the first characters of a date, such as 7 of `2026-03-01`; `offset` is the SQL of seconds
   * after UTC.
   */
  date(column: string, length: number, offset?: string): string;
}

/** Rows as JSON, which drivers return twice as fast as columns. */
interface JsonSql {
  /** The function that returns the elements of a JSON array as rows, in a column `value`. */
  readonly jsonElements: string;
  /** The function that aggregates JSON into an array; null on Postgres if there are no rows. */
  readonly jsonArrayOf: string;
  /** Returns an expression for a JSON array of a row's values. */
  jsonRow(columns: readonly SelectedColumn[]): string;
  /** Returns a function that converts a parsed `jsonRow` in place to the values of a record. */
  fromJson(columns: readonly Pick<SelectedColumn, 'type'>[]): (values: unknown[]) => unknown[];
  /**
   * Returns aggregates for the rows of a page, which `parsePage` turns into an array for each row. No column may have
   * JSON.
   */
  jsonPage(columns: readonly SelectedColumn[]): readonly string[];
  parsePage(texts: readonly unknown[]): unknown[][];
}

export interface Dialect extends TransactionSql, WriteSql, RowSql, JsonSql {
  /** Builds statements in this dialect. Has no connection: it runs nothing. */
  readonly builder: Knex;
}
