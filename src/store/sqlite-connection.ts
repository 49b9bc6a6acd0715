/** A connection to SQLite: how it is set up, and statements that are prepared once for as long as it is used often. */
import { LRUCache } from 'lru-cache';

type Done<T> = (error: Error | null, result: T) => void;

/** What is used of the driver. */
interface Statement {
  all(values: readonly unknown[], done: Done<unknown>): void;
  finalize(): void;
}

export interface SqliteConnection {
  exec(sql: string, done: (error: Error | null) => void): void;
  prepare(sql: string, done: (this: Statement, error: Error | null) => void): void;
  interrupt(): void;
  close(done: (error: Error | null) => void): void;
}

/**
 * FULL: an acknowledged write survives a power cut, at one fsync a commit. The busy timeout is for other processes. What
 * keeps large tables fast: 32 MB of pages in memory instead of 2, and a log of 64 MB before its pages are written back,
 * instead of 4, since references that come in no order change the same pages again and again.
 */
const pragmas = `
  pragma busy_timeout = 5000;
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma foreign_keys = on;
  pragma cache_size = -32768;
  pragma wal_autocheckpoint = 16384;`;

/** Finalized when they are pushed out: SQLite closes no connection that has any. */
const maxStatements = 200;
const statementsOf = new WeakMap<SqliteConnection, LRUCache<string, Statement>>();

/** For Knex's pool. */
export function prepareConnection(
  connection: SqliteConnection,
  done: (error: Error | null, connection: SqliteConnection) => void,
): void {
  const statements = new LRUCache<string, Statement>({
    max: maxStatements,
    dispose: (statement) => statement.finalize(),
  });
  statementsOf.set(connection, statements);
  const close = connection.close.bind(connection);
  connection.close = (closed) => {
    statements.clear();
    close(closed);
  };
  connection.exec(pragmas, (error) => done(error, connection));
}

/** Rows as the driver makes them. To prepare a statement each time takes a third of what a small query takes. */
export async function query(connection: SqliteConnection, sql: string, values: readonly unknown[]): Promise<unknown> {
  const statement = await prepared(connection, sql);
  try {
    return await new Promise((resolve, reject) => {
      statement.all(values, (error, rows) => (error ? reject(error) : resolve(rows)));
    });
  } finally {
    if (values.some(isLarge)) statementsOf.get(connection)?.delete(sql);
  }
}

/** A statement keeps its values until it is used again: those of a batch would stay for good. */
const isLarge = (value: unknown): boolean => typeof value === 'string' && value.length > 65_536;

function prepared(connection: SqliteConnection, sql: string): Statement | Promise<Statement> {
  const statements = statementsOf.get(connection);
  const known = statements?.get(sql);
  if (known) return known;
  return new Promise((resolve, reject) => {
    connection.prepare(sql, function (error) {
      if (error) return reject(error);
      statements?.set(sql, this);
      resolve(this);
    });
  });
}
