/** The interface of a database's driver: connections, and statements on them. Knows no tables. */
import type { Knex } from 'knex';

export type Row = Readonly<Record<string, unknown>>;

/** Runs a statement with the database's own parameters and returns its rows. Throws the errors of database-error.ts. */
export type Run = (sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

export interface DatabaseOptions {
  /** The most connections that a process opens to Postgres, without those for long reads. */
  readonly poolSize: number;
  /** Milliseconds to wait for a connection to be opened, or to become free. */
  readonly connectionTimeout: number;
  /** Milliseconds that a statement may run. */
  readonly statementTimeout: number;
}

/** Reads have a pool of their own where they would otherwise wait for writes. */
export interface Pools<Pool> {
  readonly writes: Pool;
  readonly reads?: Pool;
  /** For long reads, so that nothing else waits for their connections. Absent if there is only one connection. */
  readonly longReads?: Pool;
}

/** A connection that Knex opened with the driver's library. Knex discards one that has this mark. */
export interface PooledConnection {
  __knex__disposed?: unknown;
}

export interface Driver<Connection extends PooledConnection = PooledConnection> {
  readonly name: 'SQLite' | 'Postgres';
  /** For messages: without the password. */
  readonly location: string;
  readonly pools: Pools<Knex.Config>;
  /** A statement to run on the pool for writes after each long read, before the next one begins. */
  readonly afterLongRead?: string;
  /** True if each workspace has group commits of its own; false if there is one writer. */
  readonly hasGroupsByWorkspace: boolean;

  /** Returns the rows, or throws the driver's error. The previous statement on the connection must have ended. */
  query(connection: Connection, sql: string, values: readonly unknown[], setUp?: string): Promise<readonly Row[]>;
  /** True if the connection is outside of any transaction and has no active statement. */
  isIdle(connection: Connection): Promise<boolean>;
  cancel(connection: Connection): void;
  /** Closes a connection, at the latest when its statement ends. */
  destroy(connection: Connection): void;
}

export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
  /** Statements that the connection must have run before. To repeat them has no effect. */
  readonly setUp?: string | undefined;
}

export interface Usage {
  /**
   * A statement that several requests share counts for each. BEGIN, COMMIT and the set-up of connections do not count.
   */
  statements: number;
}
