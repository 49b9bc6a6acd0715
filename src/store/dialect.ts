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
  /** Begins a transaction that reads a consistent snapshot of the database. */
  readonly beginSnapshot: string;
  /** The function that returns the elements of a JSON array as rows, in a column `value`. */
  readonly jsonElements: string;
  /** The first statement of a transaction that copies into this database, which may be idle while it waits for the source. */
  readonly prepareCopy?: string;
  /** Makes a transaction that migrates, or that renames or deletes a workspace, wait for those of other processes. */
  readonly lockMaintenance?: string;

  /** Reads the database's settings once, at the start, and returns the reason if it cannot be used. */
  findProblem?(run: (sql: string) => Promise<readonly Row[]>): Promise<string | undefined>;
  /** Restricts a query to the rows whose column has one of these values. Takes one parameter, however many values there are. */
  whereIn(query: Knex.QueryBuilder, column: string, values: readonly string[]): void;
  /** Runs an update or a deletion in a transaction, and returns how many rows it changed. */
  runCounted(run: Run, query: Knex.QueryBuilder): Promise<number>;
  /** An expression for the bytes of a column's text, which does not read the text where the database stores its length. */
  byteLength(column: string): string;
  /** Statements that insert the records, thousands per statement. */
  inserts(table: Table, records: readonly Row[]): Iterable<Statement>;
  /**
   * Runs the query, and returns the table's fields of its rows. Reads them in the form that costs the driver least. Adds the
   * columns to the query, which must not be used again. With `isBounded`, the caller limits the number of rows, so that all of them
   * may be read as one text.
   */
  select(run: Run, table: Table, query: Knex.QueryBuilder, isBounded?: boolean): Promise<Row[]>;
}
