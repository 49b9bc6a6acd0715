/**
 * Statements and transactions. Knex's own transactions are not used: they continue with the work when BEGIN has failed, and do
 * not distinguish an error at COMMIT, after which the outcome is unknown, from an earlier one.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';
import {
  commitError,
  connectionError,
  databaseError,
  databaseUnavailable,
  isDiskFull,
  isNotStored,
  needsNewConnection,
  TransactionConflict,
} from './database-error.ts';
import type { DatabaseOptions, Driver, Pools, Row, Run, Statement, TransactionSql } from './driver.ts';

export interface Transactions extends Statements {
  /** Throws a ServiceError 503 if the last write found the disk full, a few seconds ago at most: later ones may find room. */
  requireRoom(): void;
  /**
   * The same functions for one workspace, which holds at most half of the connections: beyond that, its statements wait for each other, for
   * as long as for a connection. Those that still wait when the signal is aborted fail with its reason.
   */
  forWorkspace(workspaceId: number, signal?: AbortSignal): Statements;
  /**
   * Like the `snapshot` of a workspace, for work that may read for minutes, on connections for which nothing else waits. Few run at a time.
   */
  longSnapshot<T>(workspaceId: number, work: Work<T>): Promise<T>;
}

export interface Statements {
  /** Runs a statement outside a transaction. */
  readonly run: Run;
  /** Runs a statement that only reads. It does not wait for writes, except in a SQLite database in memory. */
  readonly read: Run;
  /**
   * Runs the work in one transaction: all of it is stored, or nothing. Work that conflicts with other transactions is
   * retried a few times.
   */
  transaction<T>(work: Work<T>, maxAttempts?: number): Promise<T>;
  /** Runs a statement that is a transaction by itself, without BEGIN and COMMIT: its error may be one at COMMIT. It is not retried. */
  runAlone(statement: Statement): Promise<void>;
  /** Runs work that reads a consistent snapshot of the database. */
  snapshot<T>(work: Work<T>): Promise<T>;
}

type Work<T> = (run: Run) => Promise<T>;

/** Milliseconds. Retry n waits a random time below `basePause * 2 ** n`, so that the same two transactions do not meet again. */
const basePause = 10;

/** Milliseconds for which a full disk is reported. */
const fullTime = 10_000;

/** `reads` defaults to `writes`. */
export function createTransactions(
  { writes, reads = writes, longReads }: Pools<Knex>,
  driver: Driver,
  dialect: TransactionSql,
  options: Pick<DatabaseOptions, 'connectionTimeout' | 'statementTimeout'>,
): Transactions {
  const connections = createConnections(driver, options);
  const { use, useForWorkspace, isLost } = connections;

  const send: Connections['send'] = (connection, sql, values = []) => {
    // For listeners to Knex's own event, such as tests that count statements.
    writes.client.emit('query', { sql, bindings: values });
    return connections.send(connection, sql, values);
  };

  /** The statements that set up each connection. */
  const setUps = new WeakMap<Connection, Set<string>>();

  async function setUpOnce(connection: Connection, statements: readonly string[]): Promise<void> {
    const done = setUps.get(connection) ?? new Set();
    setUps.set(connection, done);
    for (const sql of statements) {
      if (done.has(sql)) continue;
      await connections.send(connection, sql);
      done.add(sql);
    }
  }

  const runOn =
    (connection: Connection): Run =>
    async (sql, values) => {
      try {
        return await send(connection, sql, values);
      } catch (error) {
        throw databaseError(error, isLost(connection));
      }
    };

  const runAloneOn = async (connection: Connection, { sql, values, setUp = [] }: Statement): Promise<void> => {
    try {
      await setUpOnce(connection, setUp);
      await send(connection, sql, values);
    } catch (error) {
      throw isNotStored(error) ? databaseError(error, isLost(connection)) : commitError(error, isLost(connection));
    }
  };

  /** Runs the work once, in a transaction that begins with its first statement. */
  async function attempt<T>(
    connection: Connection,
    begin: string,
    end: (connection: Connection) => Promise<unknown>,
    work: Work<T>,
  ): Promise<T> {
    const run = runOn(connection);
    /** The last statement that was sent. Each waits for the one before, of which the first is BEGIN, and fails if that has failed. */
    let last: Promise<unknown> | undefined;
    let isOver = false;
    try {
      const result = await work(async (sql, values) => {
        if (isOver) throw new Error('a statement came after the end of its transaction');
        const statement = (last ?? run(begin)).then(() => run(sql, values));
        last = statement;
        return statement;
      });
      isOver = true;
      if (last) {
        await last;
        await end(connection);
      }
      return result;
    } catch (error) {
      isOver = true;
      if (last) {
        await last.catch(() => {});
        await rollBack(connection);
      }
      throw error;
    }
  }

  const commit = (connection: Connection) =>
    send(connection, 'commit').catch((error: unknown) => {
      throw commitError(error, isLost(connection));
    });

  /**
   * Rolls back. An error is ignored, because SQLite may have rolled back by itself, for example when the disk is full. The
   * connection is inspected in any case.
   */
  const rollBack = (connection: Connection) => send(connection, 'rollback').catch(() => {});

  /** The error of the last write, if the disk was full, and when that was. */
  let full: { readonly error: unknown; readonly at: number } | undefined;

  /** Carries out a write on a connection, and notices whether the disk is full. */
  async function write<T>(useConnection: UseConnection, work: (connection: Connection) => Promise<T>): Promise<T> {
    try {
      const result = await useConnection(writes, work);
      full = undefined;
      return result;
    } catch (error) {
      if (isDiskFull(error)) full = { error, at: Date.now() };
      throw error;
    }
  }

  /** A reader has nothing to commit. */
  const snapshotOn =
    <T>(work: Work<T>) =>
    (connection: Connection): Promise<T> =>
      attempt(connection, dialect.beginSnapshot, rollBack, work);

  const statements = (useConnection: UseConnection): Statements => ({
    run: (sql, values) => useConnection(writes, (connection) => runOn(connection)(sql, values)),

    read: (sql, values) => useConnection(reads, (connection) => runOn(connection)(sql, values)),

    async transaction(work, maxAttempts = 6) {
      for (let attempts = 1; ; attempts += 1) {
        try {
          return await write(useConnection, (connection) => attempt(connection, dialect.begin, commit, work));
        } catch (error) {
          if (!(error instanceof TransactionConflict)) throw error;
          if (attempts >= maxAttempts) throw error.afterLastAttempt();
          await pause(Math.random() * basePause * 2 ** attempts);
        }
      }
    },

    runAlone: (statement) => write(useConnection, (connection) => runAloneOn(connection, statement)),

    snapshot: (work) => useConnection(reads, snapshotOn(work)),
  });

  return {
    ...statements(use),
    requireRoom() {
      if (full && Date.now() - full.at < fullTime) throw full.error;
    },
    forWorkspace: (workspaceId, signal) => statements(useForWorkspace(workspaceId, signal)),
    async longSnapshot(workspaceId, work) {
      if (!longReads) return statements(useForWorkspace(workspaceId)).snapshot(work);
      return use(longReads, async (connection) => {
        try {
          return await snapshotOn(work)(connection);
        } finally {
          if (driver.afterLongRead)
            await statements(use)
              .run(driver.afterLongRead)
              .catch(() => {});
        }
      });
    },
  };
}

/** A driver's connection. Knex's pool discards a connection that has this mark. */
interface Connection {
  __knex__disposed?: unknown;
}

/** Runs work on a connection of a pool, and then returns the connection to the pool. */
type UseConnection = <T>(pool: Knex, work: (connection: Connection) => Promise<T>) => Promise<T>;

interface Connections {
  readonly use: UseConnection;
  /**
   * Like `use`, with at most half of a pool's connections: others are left for other workspaces, and for what the service itself does, such
   * as looking up keys. Work that waits too long for its turn fails with a 503; work whose turn comes after the signal is aborted is not begun.
   */
  useForWorkspace(workspaceId: number, signal?: AbortSignal): UseConnection;
  /** Returns a statement's rows, or throws the driver's error. A connection runs one statement at a time. */
  send(connection: Connection, sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** True if the connection was discarded: an error then says nothing about its statement. */
  isLost(connection: Connection): boolean;
}

/** Milliseconds after which a connection is closed if its statement was cancelled but does not end. */
const cancelGrace = 5_000;

/** The most workspaces whose running work is counted. Beyond that, the least recently used are forgotten. */
const maxWorkspaces = 10_000;

function createConnections(
  driver: Driver,
  { connectionTimeout, statementTimeout }: Pick<DatabaseOptions, 'connectionTimeout' | 'statementTimeout'>,
): Connections {
  /** Connections on which a statement has failed, and whether each may be reused if it is idle. */
  const suspects = new WeakMap<Connection, { readonly mayBeKept: boolean }>();
  const limits = new WeakMap<Knex, LRUCache<number, LimitFunction>>();

  const use: UseConnection = async ({ client }, work) => {
    const connection: Connection = await client.acquireConnection().catch((error: unknown) => {
      throw connectionError(error);
    });
    try {
      return await work(connection);
    } finally {
      await inspect(connection);
      await client.releaseConnection(connection);
    }
  };

  /** Closes a connection on which a statement has failed, unless it is idle and may be reused. */
  async function inspect(connection: Connection): Promise<void> {
    const suspect = suspects.get(connection);
    if (!suspect) return;
    suspects.delete(connection);
    const isIdle = suspect.mayBeKept && (await driver.isIdle(connection).catch(() => false));
    if (!isIdle) close(connection);
  }

  /**
   * Closes the connection at once, because the connection may hold locks. Knex's pool would wait until the next connection is
   * requested.
   */
  function close(connection: Connection): void {
    connection.__knex__disposed ??= 'closed after an error';
    driver.destroy(connection);
  }

  function limitOf(pool: Knex, workspaceId: number): LimitFunction {
    const half = Math.ceil(pool.client.config.pool.max / 2);
    const ofPool =
      limits.get(pool) ?? new LRUCache<number, LimitFunction>({ max: maxWorkspaces, memoMethod: () => pLimit(half) });
    limits.set(pool, ofPool);
    return ofPool.memo(workspaceId);
  }

  /** Waits for a turn as long as for a connection. */
  function inTurn<T>(limit: LimitFunction, work: () => Promise<T>): Promise<T> {
    if (limit.activeCount + limit.pendingCount < limit.concurrency) return limit(work);
    return new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        reject(databaseUnavailable('CONNECTIONS_IN_USE'));
      }, connectionTimeout);
      void limit(async () => {
        clearTimeout(timer);
        if (!isLate) await work().then(resolve, reject);
      });
    });
  }

  return {
    use,
    useForWorkspace: (workspaceId, signal) => (pool, work) =>
      inTurn(limitOf(pool, workspaceId), async () => {
        signal?.throwIfAborted();
        return use(pool, async (connection) => {
          signal?.throwIfAborted();
          return work(connection);
        });
      }),

    async send(connection, sql, values = []) {
      let timer = setTimeout(() => {
        driver.cancel(connection);
        timer = setTimeout(() => close(connection), cancelGrace);
      }, statementTimeout);
      try {
        return await driver.query(connection, sql, values);
      } catch (error) {
        const wasKept = suspects.get(connection)?.mayBeKept !== false;
        suspects.set(connection, { mayBeKept: wasKept && !needsNewConnection(error) });
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },

    isLost: ({ __knex__disposed }) => __knex__disposed !== undefined,
  };
}
