/** The SQL that SQLite and Postgres write differently. All other SQL is written once, by Knex's query builder. */
import type { Knex } from 'knex';
import type { Table } from '../model/record-kind.ts';
import type { Row, Run } from './driver.ts';

/** SQL in the database's own form, with a placeholder for each value. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

export interface Dialect {
  /** Builds statements in this dialect. Has no connection: it runs nothing. */
  readonly builder: Knex;
  /** Begins a transaction that may write. */
  readonly begin: string;
  /** Begins a transaction that reads one state of the database, whatever is written meanwhile. */
  readonly beginSnapshot: string;
  /** The function that returns the elements of a JSON array as rows, in a column `value`. */
  readonly jsonElements: string;
  /** First statement of a transaction that copies: it may wait for its source. */
  readonly prepareCopy?: string;
  /** Makes a transaction that migrates wait for any other one that does. */
  readonly lockMigrations?: string;

  /** Reads the database's settings once, at the start, and returns why it cannot be used. */
  findProblem?(run: (sql: string) => Promise<readonly Row[]>): Promise<string | undefined>;
  /** Keeps the rows whose column has one of these values: one parameter, however many values. */
  whereIn(rows: Knex.QueryBuilder, column: string, values: readonly string[]): void;
  /** The bytes of a column's text, without reading it where the database knows its length. */
  byteLength(column: string): string;
  /** A handful of statements that insert any number of records. */
  inserts(table: Table, records: readonly Row[]): Iterable<Statement>;
  /**
   * Reads the table's fields of these rows in the form that costs the driver least. Adds the columns to `rows`, which is not
   * to be used again. `isPage` says that there are no more
   * of them than a page has.
   */
  select(run: Run, table: Table, rows: Knex.QueryBuilder, isPage?: boolean): Promise<Row[]>;
}
