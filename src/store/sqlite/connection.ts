/** A connection to SQLite: its settings, and a cache of its prepared statements. */
import { LRUCache } from 'lru-cache';

type Done<T> = (error: Error | null, result: T) => void;

/** The part of the driver that is used here. */
interface Statement {
  all(values: readonly unknown[], done: Done<unknown>): void;
  finalize(done?: () => void): void;
}

export interface SqliteConnection {
  exec(sql: string, done: (error: Error | null) => void): void;
  prepare(sql: string, done: (this: Statement, error: Error | null) => void): void;
  interrupt(): void;
  close(done: (error: Error | null) => void): void;
}

/** Milliseconds to wait for the lock of another process, unless statements have less time. */
const maxBusyTimeout = 5_000;

/**
 * FULL: an acknowledged write survives a power cut, at one fsync per commit. For large tables: 32 MB of pages in memory instead
 * of 2, and a log of 64 MB before its pages are written back, instead of 4, since references in random order change the same
 * pages again and again.
 */
const pragmas = `
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma foreign_keys = on;
  pragma cache_size = -32768;
  pragma wal_autocheckpoint = 16384;`;

/** SQLite does not close a connection while one of its statements is not finalized. */
const maxStatements = 200;
const statementsOf = new WeakMap<SqliteConnection, LRUCache<string, Statement>>();

interface ConnectionOptions {
  /** Milliseconds that a statement may run. */
  readonly statementTimeout: number;
  readonly readOnly: boolean;
}

/** Sets up a connection for Knex's pool. */
export function prepareConnection(
  connection: SqliteConnection,
  { statementTimeout, readOnly }: ConnectionOptions,
  done: (error: Error | null, connection: SqliteConnection) => void,
): void {
  const statements = new LRUCache<string, Statement>({
    max: maxStatements,
    dispose: (statement, _sql, reason) => {
      // The caller that deletes one waits until it is finalized.
      if (reason !== 'delete') statement.finalize();
    },
  });
  statementsOf.set(connection, statements);
  const close = connection.close.bind(connection);
  let isClosed = false;
  connection.close = (closed) => {
    // Knex closes a connection again that it throws away.
    if (isClosed) return closed(null);
    isClosed = true;
    statementsOf.delete(connection);
    for (const statement of statements.values()) statement.finalize();
    statements.clear();
    close(closed);
  };
  const busyTimeout = `pragma busy_timeout = ${Math.min(maxBusyTimeout, statementTimeout)};`;
  connection.exec(`${busyTimeout}${pragmas}${readOnly ? 'pragma query_only = on;' : ''}`, (error) =>
    done(error, connection),
  );
}

/** Returns the driver's rows. Preparing the statement each time would be a third of the cost of a small query. */
export async function query(connection: SqliteConnection, sql: string, values: readonly unknown[]): Promise<unknown> {
  const statement = await prepared(connection, sql);
  try {
    const rows = await new Promise((resolve, reject) => {
      statement.all(values, (error, result) => (error ? reject(error) : resolve(result)));
    });
    if (values.some(isLarge)) await discard(connection, sql, statement);
    return rows;
  } catch (error) {
    // The driver does not reset a statement that failed: one that was refused the lock would stay an active writer, and
    // SQLite commits nothing on a connection while another writer is active.
    await discard(connection, sql, statement);
    throw error;
  }
}

/** Whether no transaction is open and no writing statement is active: SQLite refuses `begin` in the one case, `commit` in the other. */
export const isIdle = (connection: SqliteConnection): Promise<boolean> =>
  new Promise((resolve) => {
    connection.exec('begin; commit', (error) => resolve(!error));
  });

async function discard(connection: SqliteConnection, sql: string, statement: Statement): Promise<void> {
  const statements = statementsOf.get(connection);
  // Another call may have discarded it already, when it runs for several at once.
  if (statements?.get(sql) !== statement) return;
  statements.delete(sql);
  await new Promise<void>((resolve) => statement.finalize(resolve));
}

/** A cached statement keeps its values until it is used again: those of a batch would stay forever. */
const isLarge = (value: unknown): boolean => typeof value === 'string' && value.length > 65_536;

function prepared(connection: SqliteConnection, sql: string): Statement | Promise<Statement> {
  const statements = statementsOf.get(connection);
  const cached = statements?.get(sql);
  if (cached) return cached;
  return new Promise((resolve, reject) => {
    connection.prepare(sql, function (error) {
      if (error) return reject(error);
      if (!statementsOf.has(connection)) {
        // The connection was closed meanwhile: a statement that is not finalized would keep it open.
        this.finalize();
        return reject(new Error('the connection is closed'));
      }
      statements?.set(sql, this);
      resolve(this);
    });
  });
}
