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
  /** Holds at most half of the connections; what still waits when the signal is aborted fails with its reason. */
  forWorkspace(workspaceId: number, signal?: AbortSignal): Statements;
  /** Like the `snapshot` of a workspace, for work that may read for minutes, on connections for which nothing else waits. Few run at a time. */
  longSnapshot<T>(workspaceId: number, work: Work<T>): Promise<T>;
}

interface Statements {
  readonly run: Run;
  /** Runs a statement that only reads. It does not wait for writes, except in a SQLite database in memory. */
  readonly read: Run;
  /** Work that conflicts with other transactions is retried a few times. */
  transaction<T>(work: Work<T>, maxAttempts?: number): Promise<T>;
  /** Runs a statement that is a transaction by itself, without BEGIN and COMMIT: its error may be one at COMMIT. It is not retried. */
  runAlone(statement: Statement): Promise<void>;
  snapshot<T>(work: Work<T>): Promise<T>;
}

type Work<T> = (run: Run) => Promise<T>;

/** Milliseconds. Retry n waits a random time below `basePause * 2 ** n`, so that the same two transactions do not meet again. */
const basePause = 10;

/** Milliseconds after which no other transaction joins a shared commit. */
const maxSharedTime = 50;

/** Milliseconds for which a full disk is reported. */
const fullTime = 10_000;

/** Milliseconds after which a connection is closed if its statement was cancelled but does not end. */
const cancelGrace = 5_000;

/** The most workspaces whose running work is counted. Beyond that, the least recently used are forgotten. */
const maxWorkspaces = 10_000;

/** A transaction that waits for the only writer. Throws if the client has left meanwhile. */
interface Queued {
  begin(): void;
  readonly work: Work<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** A driver's connection. Knex's pool discards a connection that has this mark. */
interface Connection {
  __knex__disposed?: unknown;
}

const isLost = ({ __knex__disposed }: Connection): boolean => __knex__disposed !== undefined;

type UseConnection = <T>(pool: Knex, work: (connection: Connection) => Promise<T>) => Promise<T>;

export function createTransactions(
  { writes, reads = writes, longReads }: Pools<Knex>,
  driver: Driver,
  dialect: TransactionSql,
  { connectionTimeout, statementTimeout }: Pick<DatabaseOptions, 'connectionTimeout' | 'statementTimeout'>,
): Transactions {
  /** Connections on which a statement has failed, and whether each may be reused if it is idle. */
  const suspects = new WeakMap<Connection, { readonly mayBeKept: boolean }>();
  const setUps = new WeakMap<Connection, Set<string>>();
  const limits = new WeakMap<Knex, LRUCache<number, LimitFunction>>();
  /** The error of the last write, if the disk was full, and when that was. */
  let full: { readonly error: unknown; readonly at: number } | undefined;

  const use: UseConnection = async ({ client }, work) => {
    const connection: Connection = await client.acquireConnection().catch((error: unknown) => {
      throw connectionError(error);
    });
    try {
      return await work(connection);
    } finally {
      const suspect = suspects.get(connection);
      suspects.delete(connection);
      if (suspect && !(suspect.mayBeKept && (await driver.isIdle(connection).catch(() => false)))) close(connection);
      await client.releaseConnection(connection);
    }
  };

  /** At once, because it may hold locks: Knex's pool would wait until the next connection is requested. */
  function close(connection: Connection): void {
    connection.__knex__disposed ??= 'closed after an error';
    driver.destroy(connection);
  }

  /** Leaves half of a pool's connections to other workspaces and to the service itself. Waiting longer than for a connection is a 503. */
  const useForWorkspace =
    (workspaceId: number, signal?: AbortSignal): UseConnection =>
    (pool, work) =>
      inTurn(limitOf(pool, workspaceId), async () => {
        signal?.throwIfAborted();
        return use(pool, async (connection) => {
          signal?.throwIfAborted();
          return work(connection);
        });
      });

  function limitOf(pool: Knex, workspaceId: number): LimitFunction {
    const half = Math.ceil(pool.client.config.pool.max / 2);
    const ofPool =
      limits.get(pool) ?? new LRUCache<number, LimitFunction>({ max: maxWorkspaces, memoMethod: () => pLimit(half) });
    limits.set(pool, ofPool);
    return ofPool.memo(workspaceId);
  }

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

  /** A connection runs one statement at a time. */
  async function query(connection: Connection, sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
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
  }

  /** Like `query`, for statements that are counted by listeners to Knex's own event, such as tests. */
  function send(connection: Connection, sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    writes.client.emit('query', { sql, bindings: values });
    return query(connection, sql, values);
  }

  const runOn =
    (connection: Connection): Run =>
    (sql, values) =>
      send(connection, sql, values).catch((error: unknown) => {
        throw databaseError(error, isLost(connection));
      });

  async function runAlone(connection: Connection, { sql, values, setUp = [] }: Statement): Promise<void> {
    try {
      const done = setUps.get(connection) ?? new Set();
      setUps.set(connection, done);
      for (const statement of setUp) {
        if (!done.has(statement)) await query(connection, statement);
        done.add(statement);
      }
      await send(connection, sql, values);
    } catch (error) {
      throw isNotStored(error) ? databaseError(error, isLost(connection)) : commitError(error, isLost(connection));
    }
  }

  /** Each statement waits for the one before, of which the first is BEGIN, and fails if that has failed. */
  async function inTransaction<T>(connection: Connection, begin: () => Promise<unknown>, work: Work<T>): Promise<T> {
    const run = runOn(connection);
    let last: Promise<unknown> | undefined;
    let isOver = false;
    try {
      const result = await work(async (sql, values) => {
        if (isOver) throw new Error('a statement came after the end of its transaction');
        const statement = (last ?? begin()).then(() => run(sql, values));
        last = statement;
        return statement;
      });
      isOver = true;
      await last;
      return result;
    } finally {
      isOver = true;
      await last?.catch(() => {});
    }
  }

  /** Nothing is sent for work without statements. */
  async function attempt<T>(
    connection: Connection,
    beginning: string,
    end: (connection: Connection) => Promise<unknown>,
    work: Work<T>,
  ): Promise<T> {
    let begun: Promise<unknown> | undefined;
    const begin = () => {
      begun ??= runOn(connection)(beginning);
      return begun;
    };
    try {
      const result = await inTransaction(connection, begin, work);
      if (begun) await end(connection);
      return result;
    } catch (error) {
      if (begun) await rollBack(connection);
      throw error;
    }
  }

  const commit = (connection: Connection) =>
    send(connection, 'commit').catch((error: unknown) => {
      throw commitError(error, isLost(connection));
    });

  /** An error is ignored: SQLite may have rolled back by itself, as on a full disk. The connection is inspected in any case. */
  const rollBack = (connection: Connection) => send(connection, 'rollback').catch(() => {});

  async function write<T>(useConnection: UseConnection, work: (connection: Connection) => Promise<T>): Promise<T> {
    try {
      const result = await useConnection(writes, work);
      full = undefined;
      return result;
    } catch (error) {
      noteIfFull(error);
      throw error;
    }
  }

  function noteIfFull(error: unknown): void {
    if (isDiskFull(error)) full = { error, at: Date.now() };
  }

  const queue: Queued[] = [];
  let isWriting = false;

  /** Waits for the only writer, and shares a commit with others that wait: see `shareCommit`. */
  function writeInTurn<T>(work: Work<T>, signal: AbortSignal | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(queued), 1);
        reject(databaseUnavailable('CONNECTIONS_IN_USE'));
      }, connectionTimeout);
      const begin = () => {
        clearTimeout(timer);
        signal?.throwIfAborted();
      };
      // The cast is safe: it is resolved with what its own work has returned.
      const queued: Queued = { begin, work, resolve: resolve as Queued['resolve'], reject };
      queue.push(queued);
      if (!isWriting) void writeQueued();
    });
  }

  async function writeQueued(): Promise<void> {
    isWriting = true;
    while (queue.length > 0) {
      // Without a connection, all of them have waited for it.
      await use(writes, shareCommit).catch((error: unknown) => {
        for (const { reject } of queue.splice(0)) reject(error);
      });
    }
    isWriting = false;
  }

  /**
   * Runs transactions one after the other under one BEGIN and COMMIT, and acknowledges them after the commit. After the first, each has a
   * savepoint: one that fails is undone alone. Where that is impossible, because the database has undone everything or the connection is
   * in doubt, those before it run again: nobody has been told that they were stored.
   */
  async function shareCommit(connection: Connection): Promise<void> {
    const run = runOn(connection);
    const done: { readonly queued: Queued; readonly result: unknown }[] = [];
    const end = Date.now() + maxSharedTime;
    let isBegun = false;
    for (let next = queue.shift(); next; next = Date.now() < end ? queue.shift() : undefined) {
      const queued = next;
      let opened: 'begin' | 'savepoint' | undefined;
      const open = () => {
        opened = isBegun ? 'savepoint' : 'begin';
        isBegun = true;
        return run(opened === 'begin' ? dialect.begin : 'savepoint own');
      };
      try {
        queued.begin();
        const result = await inTransaction(connection, open, queued.work);
        if (opened === 'savepoint') await run('release own');
        done.push({ queued, result });
      } catch (error) {
        queued.reject(error);
        noteIfFull(error);
        const isUndone = opened === undefined || (opened === 'savepoint' && (await undo(connection)));
        if (isUndone) continue;
        await rollBack(connection);
        queue.unshift(...done.map((before) => before.queued));
        return;
      }
    }
    try {
      if (isBegun) await commit(connection);
      full = undefined;
      for (const { queued, result } of done) queued.resolve(result);
    } catch (error) {
      noteIfFull(error);
      await rollBack(connection);
      for (const { queued } of done) queued.reject(error);
    }
  }

  const undo = (connection: Connection): Promise<boolean> =>
    runOn(connection)('rollback to own')
      .then(() => runOn(connection)('release own'))
      .then(
        () => suspects.get(connection)?.mayBeKept !== false,
        () => false,
      );

  /** A reader has nothing to commit. */
  const snapshotOn =
    <T>(work: Work<T>) =>
    (connection: Connection): Promise<T> =>
      attempt(connection, dialect.beginSnapshot, rollBack, work);

  const statements = (useConnection: UseConnection, signal?: AbortSignal): Statements => ({
    run: (sql, values) => useConnection(writes, (connection) => runOn(connection)(sql, values)),

    read: (sql, values) => useConnection(reads, (connection) => runOn(connection)(sql, values)),

    async transaction(work, maxAttempts = 6) {
      for (let attempts = 1; ; attempts += 1) {
        try {
          if (useConnection !== use && !driver.hasGroupsByWorkspace) return await writeInTurn(work, signal);
          return await write(useConnection, (connection) => attempt(connection, dialect.begin, commit, work));
        } catch (error) {
          if (!(error instanceof TransactionConflict)) throw error;
          if (attempts >= maxAttempts) throw error.afterLastAttempt();
          await pause(Math.random() * basePause * 2 ** attempts);
        }
      }
    },

    runAlone: (statement) => write(useConnection, (connection) => runAlone(connection, statement)),

    snapshot: (work) => useConnection(reads, snapshotOn(work)),
  });
  const own = statements(use);

  return {
    ...own,
    requireRoom() {
      if (full && Date.now() - full.at < fullTime) throw full.error;
    },
    forWorkspace: (workspaceId, signal) => statements(useForWorkspace(workspaceId, signal), signal),
    async longSnapshot(workspaceId, work) {
      if (!longReads) return statements(useForWorkspace(workspaceId)).snapshot(work);
      return use(longReads, async (connection) => {
        try {
          return await snapshotOn(work)(connection);
        } finally {
          if (driver.afterLongRead) await own.run(driver.afterLongRead).catch(() => {});
        }
      });
    },
  };
}
