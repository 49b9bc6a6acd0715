/** A connection to SQLite: its settings, how its statements are cancelled, and how it is closed. */
import { createStatements, type PreparedStatement, type PreparedStatements } from './statements.ts';

/** The part of the driver's connection that is used here. */
export interface SqliteConnection {
  exec(sql: string, done: (error: Error | null) => void): void;
  prepare(sql: string, done: (this: PreparedStatement, error: Error | null) => void): void;
  interrupt(): void;
  close(done: (error: Error | null) => void): void;
}

/** Milliseconds to wait for another process's lock, unless the statement timeout is shorter. */
const maxBusyTimeout = 5_000;

/**
 * FULL: an acknowledged write survives a power cut, at the cost of one fsync per commit. For large tables, 32 MB of pages are
 * cached instead of 2, and the log has 64 MB instead of 4 before its pages are written back, because references in random order
 * change the same pages again and again.
 */
const pragmas = `
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma foreign_keys = on;
  pragma cache_size = -32768;
  pragma wal_autocheckpoint = 16384;
  pragma journal_size_limit = 67108864;`;

/** Keeps SQLite's statement journal in memory: in files, it took a third of the time of small inserts. */
const temporaryInMemory = 'pragma temp_store = memory';

interface ConnectionOptions {
  /** Milliseconds that a statement may run. */
  readonly statementTimeout: number;
  readonly readOnly: boolean;
}

const statementsByConnection = new WeakMap<SqliteConnection, PreparedStatements>();

/** Sets up a connection for Knex's pool. */
export function prepareConnection(
  connection: SqliteConnection,
  { statementTimeout, readOnly }: ConnectionOptions,
  done: (error: Error | null, connection: SqliteConnection) => void,
): void {
  const statements = createStatements({
    prepare: (sql) => prepare(connection, sql),
    interrupt: () => connection.interrupt(),
  });
  statementsByConnection.set(connection, statements);
  const close = connection.close.bind(connection);
  let closed: Promise<Error | null> | undefined;
  connection.close = (done) => {
    // Knex closes a discarded connection a second time.
    closed ??= statements.close().then(() => new Promise((resolve) => close(resolve)));
    void closed.then(done);
  };
  const busyTimeout = `pragma busy_timeout = ${Math.min(maxBusyTimeout, statementTimeout)};`;
  connection.exec(`${busyTimeout}${pragmas}${readOnly ? 'pragma query_only = on' : temporaryInMemory}`, (error) =>
    done(error, connection),
  );
}

const prepare = (connection: SqliteConnection, sql: string): Promise<PreparedStatement> =>
  new Promise((resolve, reject) => {
    connection.prepare(sql, function (error) {
      if (error) reject(error);
      else resolve(this);
    });
  });

/** Returns the statements of a connection that was set up. */
export function statementsOf(connection: SqliteConnection): PreparedStatements {
  const statements = statementsByConnection.get(connection);
  if (!statements) throw new Error('the connection was not set up');
  return statements;
}

/** True if no transaction is open and no writing statement is active: if one is, SQLite rejects `begin`, or `commit`. */
export const isIdle = (connection: SqliteConnection): Promise<boolean> =>
  new Promise((resolve) => {
    connection.exec('begin; commit', (error) => resolve(!error));
  });
