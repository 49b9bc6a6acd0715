import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { StartError } from '../../errors.ts';
import { failureReason } from '../connections/database-error.ts';
import type { DatabaseOptions, Driver, PooledConnection, Row } from '../connections/driver.ts';
import { defaultPath, inMemory } from '../database-settings.ts';

/** Throws StartError if the file cannot be written to. Creates only the default folder. */
export function createSqliteDriver(
  path: string,
  { connectionTimeout, statementTimeout }: DatabaseOptions,
): Driver<SqliteConnection> {
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
        openStatements.set(connection, new ConnectionStatements(connection));
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
      // A second writer would wait for the first, and block one of libuv's threads.
      writes: pool({ max: 1, readOnly: false }),
      // A database in memory has one connection. Of three readers, a workspace may hold two for long.
      ...(path !== inMemory && {
        reads: pool({ max: 3, readOnly: true }),
        // One at a time, with a longer wait: while long reads overlap, SQLite's log only grows.
        longReads: { ...pool({ min: 0, max: 1, readOnly: true }), acquireConnectionTimeout: 6 * connectionTimeout },
      }),
    },
    // Between long reads, the log is written back to the file and emptied.
    afterLongRead: 'pragma wal_checkpoint(truncate)',
    hasQueuePerWorkspace: false,
    query: (connection, sql, values, setUp) => statementsOn(connection).run(sql, values, setUp),
    isIdle,
    cancel: (connection) => statementsOn(connection).cancel(),
    destroy: (connection) => connection.close(() => {}),
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

/** The wait for another process's lock, unless the statement timeout is shorter. */
const maxBusyTimeoutMs = 5_000;

/**
 * FULL: an acknowledged write survives a power cut, for one fsync per commit. 32 MB of pages are cached instead of 2,
 * and the log grows to 64 MB instead of 4 before it is written back: references in random order change the same pages
 * of large tables repeatedly.
 */
const pragmas = `
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma foreign_keys = on;
  pragma cache_size = -32768;
  pragma wal_autocheckpoint = 16384;
  pragma journal_size_limit = 67108864;`;

/** SQLite's statement journal in files took a third of the time of small inserts. */
const temporaryInMemory = 'pragma temp_store = memory';

interface SqliteConnection extends PooledConnection {
  exec(sql: string, done: (error: Error | null) => void): void;
  prepare(sql: string, done: (this: PreparedStatement, error: Error | null) => void): void;
  interrupt(): void;
  close(done: (error: Error | null) => void): void;
}

interface PreparedStatement {
  all(values: readonly unknown[], done: (error: Error | null, rows: Row[]) => void): void;
  finalize(done: () => void): void;
}

/** Tries a transaction: SQLite rejects it during another, or while a writing statement is active. */
const isIdle = (connection: SqliteConnection): Promise<boolean> =>
  new Promise((resolve) => {
    connection.exec('begin; commit', (error) => resolve(!error));
  });

const maxStatements = 200;

const interruptIntervalMs = 20;

/** A cached statement keeps its values until its next use, which for a batch may be never. */
const isLarge = (value: unknown): boolean => typeof value === 'string' && value.length > 65_536;

const openStatements = new WeakMap<SqliteConnection, ConnectionStatements>();

function statementsOn(connection: SqliteConnection): ConnectionStatements {
  const statements = openStatements.get(connection);
  if (!statements) throw new Error('the connection was not set up');
  return statements;
}

/**
 * Caches prepared statements: preparing one takes a third of a small query. The driver finalizes statements on the main
 * thread, which would block the process while another runs on the connection. So statements run one at a time, and are
 * finalized while none runs.
 */
class ConnectionStatements {
  readonly #connection: SqliteConnection;
  readonly #closeConnection: SqliteConnection['close'];
  readonly #cache = new LRUCache<string, PreparedStatement>({
    max: maxStatements,
    dispose: (statement) => void this.#discarded.push(statement),
  });
  #discarded: PreparedStatement[] = [];
  /** From the request of a statement until all discarded ones are finalized. */
  #running: Promise<readonly Row[]> | undefined;
  #closed: Promise<Error | null> | undefined;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#closeConnection = connection.close.bind(connection);
    connection.close = (done) => {
      // Knex closes a discarded connection a second time.
      this.#closed ??= this.#closeAfterStatements();
      void this.#closed.then(done);
    };
  }

  async run(sql: string, values: readonly unknown[], setUp?: string): Promise<readonly Row[]> {
    if (this.#closed) throw new Error('the connection is closed');
    this.#running = this.#runStatement(sql, values, setUp);
    return this.#running;
  }

  /** Interrupts until the statement ends: a single interrupt misses one that waits for a thread. */
  cancel(): void {
    const cancelled = this.#running;
    const repeat = () => {
      if (!cancelled || this.#running !== cancelled) return;
      this.#connection.interrupt();
      setTimeout(repeat, interruptIntervalMs);
    };
    repeat();
  }

  async #runStatement(sql: string, values: readonly unknown[], setUp?: string): Promise<readonly Row[]> {
    try {
      if (setUp && !this.#cache.has(sql)) await this.#execute(setUp);
      const statement = this.#cache.get(sql) ?? (await this.#prepare(sql));
      const rows = await new Promise<Row[]>((resolve, reject) => {
        statement.all(values, (error, result) => (error ? reject(error) : resolve(result)));
      });
      if (values.some(isLarge)) this.#cache.delete(sql);
      return rows;
    } catch (error) {
      // The driver does not reset a failed statement: one that got no lock would remain an active writer, and SQLite
      // would commit nothing on the connection.
      this.#cache.delete(sql);
      throw error;
    } finally {
      if (this.#discarded.length > 0) await this.#finalizeDiscarded();
      this.#running = undefined;
    }
  }

  #execute(sql: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#connection.exec(sql, (error) => (error ? reject(error) : resolve()));
    });
  }

  #prepare(sql: string): Promise<PreparedStatement> {
    const cache = this.#cache;
    return new Promise((resolve, reject) => {
      this.#connection.prepare(sql, function (error) {
        if (error) return reject(error);
        cache.set(sql, this);
        resolve(this);
      });
    });
  }

  async #finalizeDiscarded(): Promise<void> {
    const statements = this.#discarded;
    this.#discarded = [];
    await Promise.all(statements.map((statement) => new Promise<void>((resolve) => statement.finalize(resolve))));
  }

  /** SQLite closes a connection only once all its statements are finalized. */
  async #closeAfterStatements(): Promise<Error | null> {
    await this.#running?.catch(() => {});
    this.#cache.clear();
    await this.#finalizeDiscarded();
    return new Promise((resolve) => this.#closeConnection(resolve));
  }
}
