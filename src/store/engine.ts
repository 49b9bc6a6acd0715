/** What SQLite and Postgres do differently, and nothing else. Whatever is above it is written once, for both. */
import type { Knex } from 'knex';
import type { Table } from '../model/record-kind.ts';

/** SQL with a `?` for each value. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

export type Row = Readonly<Record<string, unknown>>;

/** Runs a statement with a `?` for each value, and returns its rows. Throws what database-error.ts lets out. */
export type Run = (sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/** Times are in milliseconds. */
export interface DatabaseOptions {
  /** Connections a process opens to Postgres at most. */
  readonly poolSize: number;
  /** How long to wait for a connection, be it a new one or a free one. */
  readonly connectionTimeout: number;
  /** How long a statement may run. */
  readonly statementTimeout: number;
}

export interface Engine {
  /** Where the data lies, for people: no password. */
  readonly location: string;
  readonly knexConfig: Knex.Config;
  /** Pools of their own for statements that only read, where those would wait for a writer otherwise. */
  readonly readPools?: {
    readonly reads: Knex.Config;
    /** One connection, for `version`. */
    readonly watch: Knex.Config;
  };

  /** Transactions that only add records are worth running so many at once. */
  readonly groupsAtOnce: number;
  /** Begins a transaction that may write. */
  readonly begin: string;
  /** Begins a transaction that reads one state of the database, whatever others write meanwhile. */
  readonly beginSnapshot: string;
  /** Ends a select with the number of rows to find, a parameter. */
  readonly limit: string;
  /** Ends a select: until the transaction ends, nobody deletes the rows. */
  readonly forShare: string;
  /** Ends a select: until the transaction ends, nobody else changes the rows. */
  readonly forUpdate: string;
  /** For a transaction that copies: it may wait for its source. */
  readonly prepareCopy?: string;
  /** Lets a transaction that migrates wait for any other one that does. */
  readonly lockMigrations?: string;

  /** Looks at a connected database once, at the start, and returns what keeps it from being used. */
  examine?(run: (sql: string) => Promise<readonly Row[]>): Promise<string | undefined>;
  /** The bytes of a column's text, without reading it where the database knows its length. */
  byteLength(column: string): string;
  /** The condition that a column has one of these values, with one parameter however many there are. */
  oneOf(column: string, values: readonly string[]): Statement;
  /** A handful of statements that insert any number of records. */
  inserts(table: Table, records: readonly Row[]): Iterable<Statement>;
  /**
   * Records of a table, field by field, in the cheapest form that the driver has. `rest` follows the table's name; `isFew`
   * says that there are no more than a page of them.
   */
  select(run: Run, table: Table, rest: string, values: readonly unknown[], isFew?: boolean): Promise<Row[]>;
  /** Another one whenever anything was stored, by whomever; only where the database can tell. */
  version?(run: Run): Promise<string>;
  /** What the driver answers. Throws its error. */
  query(connection: unknown, sql: string, values: readonly unknown[]): Promise<unknown>;
  /** The rows in what the driver answers. */
  rowsOf(response: unknown): Row[];
  /** Whether a connection is out of any transaction, with nothing left of the statements that ran on it. */
  isIdle(connection: unknown): Promise<boolean>;
  /** Makes the statement that runs on a connection fail. */
  cancel(connection: unknown): void;
  /** Closes a connection, at the latest when its statement ends. */
  destroy(connection: unknown): void;
}
