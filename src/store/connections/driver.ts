/** The interface of a database's driver: connections, and statements on them. Knows no tables. */
import type { Knex } from 'knex';

export type Row = Readonly<Record<string, unknown>>;

/** Runs a statement in the database's own form, and returns its rows. Throws the errors of database-error.ts. */
export type Run = (sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

export interface DatabaseOptions {
  /** The most connections that a process opens to Postgres, not counting those for long reads (`maxLongReads`). */
  readonly poolSize: number;
  /** Milliseconds to wait for a connection, whether it must be opened or is in use. */
  readonly connectionTimeout: number;
  /** Milliseconds that a statement may run. */
  readonly statementTimeout: number;
}

/** Statements that only read have a pool of their own where writes would otherwise make them wait. */
export interface Pools<Pool> {
  readonly writes: Pool;
  readonly reads?: Pool;
  /** For reads that take long: nothing else waits for its connections. Absent where there is one connection only. */
  readonly longReads?: Pool;
}

/** Connections are those of Knex's pools, which Knex opens with the driver's own library. */
export interface Driver {
  readonly name: 'SQLite' | 'Postgres';
  /** For messages: without the password. */
  readonly location: string;
  readonly pools: Pools<Knex.Config>;
  /** A statement to run on the pool for writes after each long read, before the next one begins. */
  readonly afterLongRead?: string;
  /** True if each workspace has group commits of its own; false if there is one writer. */
  readonly hasGroupsByWorkspace: boolean;

  /** Returns the rows. Throws the driver's error. Must not be called on a connection before the last statement has ended. */
  query(connection: unknown, sql: string, values: readonly unknown[], setUp?: string): Promise<readonly Row[]>;
  /** True if a connection is outside of any transaction, and no statement on it is still active. */
  isIdle(connection: unknown): Promise<boolean>;
  cancel(connection: unknown): void;
  /** Closes a connection, at the latest when its statement ends. */
  destroy(connection: unknown): void;
}

export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
  /** What a connection must have run before: without effect if it has already. */
  readonly setUp?: string | undefined;
}

export interface Usage {
  /** One that several requests share counts for each; those that begin or end transactions or set up a connection do not count. */
  statements: number;
}
