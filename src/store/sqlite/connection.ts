/** A connection to SQLite: its settings, how its statements are cancelled, and how it is closed. */
import { LRUCache } from 'lru-cache';

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

/*
 * Caches the prepared statements of a connection: preparing one each time would be a third of the cost of a small query.
 * The driver finalizes a statement on the main thread, and while another statement runs on the connection, that would block the
 * process until the other one ends. So statements are finalized only while none runs, and run one at a time.
 */

interface PreparedStatement {
  all(values: readonly unknown[], done: (error: Error | null, rows: unknown) => void): void;
  finalize(done: () => void): void;
}

const maxStatements = 200;

/** Milliseconds between attempts to interrupt a statement. */
const interruptInterval = 20;

type PreparedStatements = ReturnType<typeof createStatements>;

interface SqliteDriver {
  prepare(sql: string): Promise<PreparedStatement>;
  interrupt(): void;
}

function createStatements({ prepare, interrupt }: SqliteDriver) {
  let discarded: PreparedStatement[] = [];
  const cache = new LRUCache<string, PreparedStatement>({
    max: maxStatements,
    dispose: (statement) => void discarded.push(statement),
  });
  /** The statement that runs, from when it is requested until all discarded ones are finalized. */
  let running: symbol | undefined;
  let close: (() => void) | undefined;

  async function prepared(sql: string): Promise<PreparedStatement> {
    const cached = cache.get(sql);
    if (cached) return cached;
    const statement = await prepare(sql);
    cache.set(sql, statement);
    return statement;
  }

  async function runStatement(sql: string, values: readonly unknown[]): Promise<unknown> {
    try {
      const statement = await prepared(sql);
      const rows = await new Promise((resolve, reject) => {
        statement.all(values, (error, result) => (error ? reject(error) : resolve(result)));
      });
      if (values.some(isLarge)) cache.delete(sql);
      return rows;
    } catch (error) {
      // The driver does not reset a statement that failed: one that did not get the lock would remain an active writer, and
      // SQLite commits nothing on a connection while another writer is active.
      cache.delete(sql);
      throw error;
    }
  }

  async function finalizeDiscarded(): Promise<void> {
    const statements = discarded;
    discarded = [];
    await Promise.all(statements.map((statement) => new Promise<void>((resolve) => statement.finalize(resolve))));
  }

  async function end(): Promise<void> {
    if (discarded.length > 0) await finalizeDiscarded();
    running = undefined;
    close?.();
  }

  return {
    /** Returns the driver's rows. Must not be called again before it has ended. */
    async run(sql: string, values: readonly unknown[]): Promise<unknown> {
      if (close) throw new Error('the connection is closed');
      running = Symbol();
      try {
        return await runStatement(sql, values);
      } finally {
        await end();
      }
    },

    /** Interrupts what runs now repeatedly until it ends: one interrupt would miss a statement that still waits for a thread. */
    cancel(): void {
      const cancelled = running;
      const repeat = () => {
        if (!cancelled || running !== cancelled) return;
        interrupt();
        setTimeout(repeat, interruptInterval);
      };
      repeat();
    },

    /** Resolves when the statement that runs has ended and all are finalized: SQLite does not close a connection before. */
    close: () =>
      new Promise<void>((resolve) => {
        close = () => {
          cache.clear();
          void finalizeDiscarded().then(resolve);
        };
        if (!running) close();
      }),
  };
}

/** A cached statement keeps its values until it is used again, which for a batch may be never. */
const isLarge = (value: unknown): boolean => typeof value === 'string' && value.length > 65_536;
