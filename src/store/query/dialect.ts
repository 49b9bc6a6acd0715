/** The SQL that SQLite and Postgres write differently. All other SQL is written once, by Knex's query builder. */
import type { Knex } from 'knex';
import type { StoredField } from '../../model/fields.ts';
import type { RecordKind, Table } from '../../model/record-kind.ts';
import type { Row, Statement } from '../connections/driver.ts';
import type { SelectedColumn } from './columns.ts';
import type { ScalarValue } from './record-query.ts';
import type { LogRow } from './tables.ts';

/** The records of a creation (writes/apply-changes.ts), and what is stored with them. */
export interface Insert {
  /** Their workspace is that of the change. */
  readonly records: readonly Row[];
  /** The IDs that must exist, by the kinds of their records. */
  readonly references: ReadonlyMap<RecordKind, readonly string[]>;
  /** What their rows of the log have in common. */
  readonly change: Omit<LogRow, 'recordId'>;
  /** A row of `idempotencyResults`, if the request has a key. */
  readonly keyed: Row | undefined;
}

/** A text whose characters each have one or more forms, and whether other text may come before and after it. */
export interface Pattern {
  readonly characters: readonly (readonly string[])[];
  readonly isAnchoredAtStart: boolean;
  readonly isAnchoredAtEnd: boolean;
}

/** Columns are SQL; everything else is a parameter. */
export interface Filters {
  /** Has the same text for any number of values. */
  isOneOf(column: string, type: StoredField['type'], values: readonly ScalarValue[]): Knex.Raw;
  isSet(column: string, isSet: boolean): Knex.Raw;
  contains(column: string, text: string): Knex.Raw;
  endsWith(column: string, text: string): Knex.Raw;
  matchesAny(column: string, patterns: readonly Pattern[]): Knex.Raw;
  hasExternalId(records: ExternalIdsColumn, key: string, value?: string): Knex.Raw;
  /** Returns a subquery for the IDs of the first few records with an external ID, whose key and value are SQL. */
  idsWithExternalId(
    records: Omit<ExternalIdsColumn, 'alias'>,
    key: string,
    value: string,
    limit?: number,
  ): Knex.QueryBuilder;
  /** Returns an expression for the ID of a record in another system, whose key is SQL. */
  externalId(column: string, key: string): string;
  /** True if a column has one of the values that another column has in the rows of a table, written as the database reads them best. */
  isAmong(column: string, rows: { readonly column: string; readonly from: string; readonly where: Knex.Raw }): Knex.Raw;
  /** True if it is among these rows, which are read first, and they are few; and true if they are many. Empty where `isAmong` does as well. */
  isAmongFew(...filter: Parameters<Filters['isAmong']>): readonly Knex.Raw[];
}

interface ExternalIdsColumn {
  readonly workspaceId: number;
  readonly table: string;
  readonly alias: string;
  readonly column: string;
}

export interface Dialect {
  readonly begin: string;
  readonly beginSnapshot: string;
  /** Builds statements in this dialect. Has no connection: it runs nothing. */
  readonly builder: Knex;
  /** The function that returns the elements of a JSON array as rows, in a column `value`. */
  readonly jsonElements: string;
  /** The function that aggregates JSON into an array, which is null on Postgres if there are no rows. */
  readonly jsonArrayOf: string;
  /** The first statement of a transaction that copies into this database, which may be idle while it waits for the source. */
  readonly prepareCopy?: string;
  /** The last statement of such a transaction: makes the database give new workspaces greater numbers than those that were copied. */
  readonly finishCopy?: string;
  /** Makes a transaction that migrates, creates a key, or renames or deletes a workspace, wait for those of other processes. */
  readonly lockMaintenance?: string;
  /** Waits for others that hold the lock; the parameters are its workspace and name. Absent where only one transaction writes at a time. */
  readonly lock?: string;
  /** Before thousands of external IDs are looked up. */
  readonly prepareExternalIds?: string;
  readonly filters: Filters;
  /** Returns an expression for the bytes of a column's text, which does not read the text where the database stores its length. */
  byteLength(column: string): string;
  /** Statements that insert the records, thousands per statement, unless they are long. */
  inserts(table: Table, records: readonly Row[]): Iterable<Statement>;
  /** Inserts records of one kind with their keys and log. Fails if a reference has no record. Absent where this takes a transaction. */
  readonly insertWithLog?: ((kind: RecordKind, inserts: readonly Insert[]) => Statement) | undefined;
  /** Statements that set these fields in the records, thousands per statement, unless they are long. */
  updates(table: Table, workspaceId: number, records: readonly Row[], fields: ReadonlySet<string>): Iterable<Statement>;
  deletions(table: Table, workspaceId: number, ids: readonly string[]): Iterable<Statement>;
  rowsById(table: Table, workspaceId: number, ids: readonly string[]): Knex.QueryBuilder;
  rowsReferring(
    from: { readonly table: Table; readonly field: string },
    workspaceId: number,
    ids: readonly string[],
    limit: number,
  ): Knex.QueryBuilder;
  /** Returns a join with the row of a table whose ID is in the column `reference`, or nulls if there is none in the workspace, a parameter. */
  joinById(to: { readonly table: Table; readonly alias: string }, reference: string): string;
  /** Returns an expression for a JSON array of a row's values, which `fromJson` turns into those of a record. */
  jsonRow(columns: readonly SelectedColumn[]): string;
  /** Returns a function that changes values of a parsed array, where JSON has no form for them or another one. */
  fromJson(columns: readonly Pick<SelectedColumn, 'type'>[]): (values: unknown[]) => unknown[];
  /** Returns aggregates for all rows of a page, whose texts `parsePage` turns into an array for each row. No column may have JSON. */
  jsonPage(columns: readonly SelectedColumn[]): readonly string[];
  parsePage(texts: readonly unknown[]): unknown[][];
  /** Returns an expression for the first characters of a time's date, such as 7 of `2026-03-01`, this many seconds (SQL) after UTC. */
  date(column: string, length: number, offset?: string): string;
  /** Returns these IDs as rows, to select from: the table `parent`, with the column `value`. */
  parents(ids: readonly string[]): Knex.Raw;
}
