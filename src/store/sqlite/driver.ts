/** The driver for SQLite: its connections to a file, or to a database in memory, and how their statements are cached and cancelled. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { StartError } from '../../errors.ts';
import { failureReason } from '../connections/database-error.ts';
import type { DatabaseOptions, Driver, Row } from '../connections/driver.ts';
import { defaultPath, inMemory } from '../database-settings.ts';

/** Throws StartError if the file's folder does not exist, unless that is the default's, or if the folder or the file cannot be written to. */
export function createSqliteDriver(path: string, { connectionTimeout, statementTimeout }: DatabaseOptions): Driver {
  requireFolder(path);
  const settings = `pragma busy_timeout = ${Math.min(maxBusyTimeoutMs, statementTimeout)}; ${pragmas}`;
  const pool = ({ min = 1, max, readOnly }: { min?: number; max: number; readOnly: boolean }): Knex.Config => ({
    client: 'sqlite3',
    connection: { filename: path },
    useNullAsDefault: true,
    pool: {
      min,
      max,
      afterCreate(connection: SqliteConnection, done: (error: Error | null, connection: SqliteConnection) => void) {
        statementsByConnection.set(connection, createStatements(connection));
        connection.exec(`${settings} ${readOnly ? 'pragma query_only = on' : temporaryInMemory}`, (error) =>
          done(error, connection),
        );
      },
    },
    acquireConnectionTimeout: connectionTimeout,
  });
  return {
    name: 'SQLite',
    location: path === inMemory ? 'in memory only, lost when the process ends' : resolve(path),
    pools: {
      // SQLite has one writer: a second connection would only wait for the first, and block one of libuv's threads.
      writes: pool({ max: 1, readOnly: false }),
      // A database in memory has one connection only. Three connections read: a workspace may hold two of them for long.
      ...(path !== inMemory && {
        reads: pool({ max: 3, readOnly: true }),
        // One: while long reads overlap, SQLite's log of writes only grows. Each waits longer for the others than for a connection.
        longReads: { ...pool({ min: 0, max: 1, readOnly: true }), acquireConnectionTimeout: 6 * connectionTimeout },
      }),
    },
    // Without readers, the log is written back to the file, and begins again.
    afterLongRead: 'pragma wal_checkpoint(truncate)',
    hasGroupsByWorkspace: false,
    query: (connection, sql, values, setUp) => statementsOf(connection).run(sql, values, setUp),
    isIdle: (connection) => isIdle(connection as SqliteConnection),
    cancel: (connection) => statementsOf(connection).cancel(),
    destroy: (connection) => (connection as SqliteConnection).close(() => {}),
  };
}

function requireFolder(path: string): void {
  if (path === inMemory) return;
  const folder = dirname(resolve(path));
  const isDefault = folder === resolve(dirname(defaultPath));
  if (!isDefault && !statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new StartError(`DATABASE_URL: there is no folder ${folder}: create it first, or correct the path`);
  }
  try {
    if (isDefault) mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    if (existsSync(path)) accessSync(path, constants.W_OK);
  } catch (error) {
    throw new StartError(`cannot write to the folder ${folder}: ${failureReason(error)}`);
  }
}

/** Milliseconds to wait for another process's lock, unless the statement timeout is shorter. */
const maxBusyTimeoutMs = 5_000;

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

/** The part of sqlite3's connection that is used here. */
interface SqliteConnection {
  exec(sql: string, done: (error: Error | null) => void): void;
  prepare(sql: string, done: (this: PreparedStatement, error: Error | null) => void): void;
  interrupt(): void;
  close(done: (error: Error | null) => void): void;
}

interface PreparedStatement {
  all(values: readonly unknown[], done: (error: Error | null, rows: Row[]) => void): void;
  finalize(done: () => void): void;
}

/** True if no transaction is open and no writing statement is active: if one is, SQLite rejects `begin`, or `commit`. */
const isIdle = (connection: SqliteConnection): Promise<boolean> =>
  new Promise((resolve) => {
    connection.exec('begin; commit', (error) => resolve(!error));
  });

const maxStatements = 200;

/** Milliseconds between attempts to interrupt a statement. */
const interruptIntervalMs = 20;

/** A cached statement keeps its values until it is used again, which for a batch may be never. */
const isLarge = (value: unknown): boolean => typeof value === 'string' && value.length > 65_536;

const statementsByConnection = new WeakMap<SqliteConnection, ReturnType<typeof createStatements>>();

function statementsOf(connection: unknown) {
  const statements = statementsByConnection.get(connection as SqliteConnection);
  if (!statements) throw new Error('the connection was not set up');
  return statements;
}

/**
 * Caches the prepared statements of a connection: preparing one each time would be a third of the cost of a small query.
 * The driver finalizes a statement on the main thread, and while another statement runs on the connection, that would block the
 * process until the other one ends. So statements are finalized only while none runs, and run one at a time.
 */
function createStatements(connection: SqliteConnection) {
  let discarded: PreparedStatement[] = [];
  const cache = new LRUCache<string, PreparedStatement>({
    max: maxStatements,
    dispose: (statement) => void discarded.push(statement),
  });
  /** The statement that runs, from when it is requested until all discarded ones are finalized. */
  let running: Promise<readonly Row[]> | undefined;
  let closed: Promise<Error | null> | undefined;

  const execute = (sql: string): Promise<void> =>
    new Promise((resolve, reject) => {
      connection.exec(sql, (error) => (error ? reject(error) : resolve()));
    });

  const prepare = (sql: string): Promise<PreparedStatement> =>
    new Promise((resolve, reject) => {
      connection.prepare(sql, function (error) {
        if (error) return reject(error);
        cache.set(sql, this);
        resolve(this);
      });
    });

  async function runStatement(sql: string, values: readonly unknown[], setUp?: string): Promise<readonly Row[]> {
    try {
      if (setUp && !cache.has(sql)) await execute(setUp);
      const statement = cache.get(sql) ?? (await prepare(sql));
      const rows = await new Promise<Row[]>((resolve, reject) => {
        statement.all(values, (error, result) => (error ? reject(error) : resolve(result)));
      });
      if (values.some(isLarge)) cache.delete(sql);
      return rows;
    } catch (error) {
      // The driver does not reset a statement that failed: one that did not get the lock would remain an active writer, and
      // SQLite commits nothing on a connection while another writer is active.
      cache.delete(sql);
      throw error;
    } finally {
      if (discarded.length > 0) await finalizeDiscarded();
      running = undefined;
    }
  }

  async function finalizeDiscarded(): Promise<void> {
    const statements = discarded;
    discarded = [];
    await Promise.all(statements.map((statement) => new Promise<void>((resolve) => statement.finalize(resolve))));
  }

  /** When the statement that runs has ended and all are finalized: SQLite does not close a connection before. */
  const close = connection.close.bind(connection);
  async function closeAfterStatements(): Promise<Error | null> {
    await running?.catch(() => {});
    cache.clear();
    await finalizeDiscarded();
    return new Promise((resolve) => close(resolve));
  }
  connection.close = (done) => {
    // Knex closes a discarded connection a second time.
    closed ??= closeAfterStatements();
    void closed.then(done);
  };

  return {
    /** Must not be called again before it has ended. */
    async run(sql: string, values: readonly unknown[], setUp?: string): Promise<readonly Row[]> {
      if (closed) throw new Error('the connection is closed');
      running = runStatement(sql, values, setUp);
      return running;
    },

    /** Interrupts what runs now repeatedly until it ends: one interrupt would miss a statement that still waits for a thread. */
    cancel(): void {
      const cancelled = running;
      const repeat = () => {
        if (!cancelled || running !== cancelled) return;
        connection.interrupt();
        setTimeout(repeat, interruptIntervalMs);
      };
      repeat();
    },
  };
}
