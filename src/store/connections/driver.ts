/** Drivers know no tables. */
import type { Knex } from 'knex';
import type { StatementPhase } from './database-error.ts';

export type Row = Readonly<Record<string, unknown>>;

export type Run = (sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

export interface DatabaseOptions {
  /** The most connections to Postgres, without those for long reads. */
  readonly poolSize: number;
  /** In milliseconds. */
  readonly connectionTimeout: number;
  /** In milliseconds. */
  readonly statementTimeout: number;
}

export interface Pools<Pool> {
  readonly writes: Pool;
  readonly reads?: Pool;
  /** Absent if there is only one connection. */
  readonly longReads?: Pool;
}

/** Knex discards a connection with this mark. */
export interface PooledConnection {
  __knex__disposed?: unknown;
}

export interface Driver<Connection extends PooledConnection = PooledConnection> {
  readonly name: 'SQLite' | 'Postgres';
  /** For messages: without the password. */
  readonly location: string;
  readonly pools: Pools<Knex.Config>;
  /** Runs on the pool for writes after each long read. */
  readonly afterLongRead?: string;
  /** Each workspace has a queue of creations; otherwise all writes share one. */
  readonly hasQueuePerWorkspace: boolean;

  /** The previous statement on the connection must have ended. */
  query(connection: Connection, sql: string, values: readonly unknown[], setUp?: string): Promise<readonly Row[]>;
  /** True outside of any transaction, without an active statement. */
  isIdle(connection: Connection): Promise<boolean>;
  /** Does nothing where a cancelled statement may be stored. */
  cancel(connection: Connection, phase: StatementPhase): void;
  /** Closes at the latest when the statement ends. */
  destroy(connection: Connection): void;
}

export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
  /** Runs on each new connection before the statement; repeating it has no effect. */
  readonly setUp?: string | undefined;
}

export interface Usage {
  /** A statement shared by requests counts for each. BEGIN, COMMIT and set-up do not count. */
  statements: number;
}
