/**
 * Statements and transactions. Knex's own transactions are not used: they continue with the work when BEGIN has failed, and do
 * not distinguish an error at COMMIT, after which the outcome is unknown, from an earlier one.
 *
 * SQLite has one writer: transactions that wait for it share a commit, a write to disk. On Postgres each has its own.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';
import {
  connectionError,
  databaseError,
  databaseUnavailable,
  isDiskFull,
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
  transaction<T>(work: Work<T>, options?: { readonly maxAttempts?: number; readonly isSmall?: boolean }): Promise<T>;
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

/** A transaction that waits to be written. */
interface Queued {
  readonly work: Work<unknown>;
  readonly workspaceId: number | undefined;
  /** Others are acknowledged after it if it joins them: it is done soon. */
  readonly isSmall: boolean;
  isInTime(): boolean;
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

interface Caller {
  readonly workspaceId?: number;
  readonly signal?: AbortSignal | undefined;
}

/** A driver's connection. Knex's pool discards a connection that has this mark. */
interface Connection {
  __knex__disposed?: unknown;
}

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
  const half = Math.ceil(reads.client.config.pool.max / 2);
  const limits = new LRUCache<number, LimitFunction>({ max: maxWorkspaces, memoMethod: () => pLimit(half) });
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

  /** Leaves half of the connections to other workspaces and to the service itself. */
  const useForWorkspace =
    (workspaceId: number, signal?: AbortSignal): UseConnection =>
    (pool, work) =>
      inTurn(limits.memo(workspaceId), async () => {
        signal?.throwIfAborted();
        return use(pool, async (connection) => {
          signal?.throwIfAborted();
          return work(connection);
        });
      });

  function inTurn<T>(limit: LimitFunction, work: () => Promise<T>): Promise<T> {
    if (limit.activeCount + limit.pendingCount < limit.concurrency) return limit(work);
    return new Promise((resolve, reject) => {
      const isInTime = startWaiting(reject);
      void limit(async () => {
        if (isInTime()) await work().then(resolve, reject);
      });
    });
  }

  /** Waiting longer than for a connection is a 503. Returns a function that ends the wait, and tells whether it was not too long. */
  function startWaiting(reject: (reason: unknown) => void): () => boolean {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(databaseUnavailable('CONNECTIONS_IN_USE'));
    }, connectionTimeout);
    return () => {
      clearTimeout(timer);
      return !isLate;
    };
  }

  /** A connection runs one statement at a time. Throws the store's errors. */
  async function query(
    connection: Connection,
    sql: string,
    values: readonly unknown[] = [],
    at: Parameters<typeof databaseError>[2] = 'work',
  ): Promise<readonly Row[]> {
    let timer = setTimeout(() => {
      driver.cancel(connection);
      timer = setTimeout(() => close(connection), cancelGrace);
    }, statementTimeout);
    try {
      return await driver.query(connection, sql, values);
    } catch (error) {
      const wasKept = suspects.get(connection)?.mayBeKept !== false;
      suspects.set(connection, { mayBeKept: wasKept && !needsNewConnection(error) });
      throw databaseError(error, connection.__knex__disposed !== undefined, at);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Like `query`, for statements that are counted by listeners to Knex's own event, such as tests. */
  const send: typeof query = (connection, sql, values = [], at = 'work') => {
    writes.client.emit('query', { sql, bindings: values });
    return query(connection, sql, values, at);
  };

  async function runAlone(connection: Connection, { sql, values, setUp = [] }: Statement): Promise<void> {
    const done = setUps.get(connection) ?? new Set();
    setUps.set(connection, done);
    for (const statement of setUp) {
      if (!done.has(statement)) await query(connection, statement);
      done.add(statement);
    }
    await send(connection, sql, values, 'alone');
  }

  /** An error is ignored: SQLite may have rolled back by itself, as on a full disk. The connection is inspected in any case. */
  const rollBack = (connection: Connection) => send(connection, 'rollback').catch(() => {});

  /** Each statement waits for the one before, of which the first is BEGIN, and fails if that has failed. Work without statements sends none. */
  async function inTransaction<T>(connection: Connection, begin: () => Promise<unknown>, work: Work<T>): Promise<T> {
    let last: Promise<unknown> | undefined;
    let isOver = false;
    try {
      const result = await work(async (sql, values) => {
        if (isOver) throw new Error('a statement came after the end of its transaction');
        const statement = (last ?? begin()).then(() => send(connection, sql, values));
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

  /** A reader has nothing to commit. */
  async function snapshotOn<T>(connection: Connection, work: Work<T>): Promise<T> {
    let isBegun = false;
    const begin = () => {
      isBegun = true;
      return send(connection, dialect.beginSnapshot);
    };
    try {
      return await inTransaction(connection, begin, work);
    } finally {
      if (isBegun) await rollBack(connection);
    }
  }

  /**
   * Runs transactions one after the other under one BEGIN and COMMIT, and acknowledges them after the commit. After the first, only small
   * ones join, and each has a savepoint. One that fails is undone alone, and told so after the commit: the reason may be what another one
   * has written. Where that is impossible, because the database has undone everything or the connection is in doubt, those before it run
   * again.
   */
  async function shareCommit(connection: Connection, queue: Queued[]): Promise<void> {
    const done: { readonly queued: Queued; settle(): void }[] = [];
    const end = Date.now() + maxSharedTime;
    let isBegun = false;
    for (let next = takeNext(queue, true); next; next = Date.now() < end ? takeNext(queue, false) : undefined) {
      const queued = next;
      if (!queued.isInTime()) continue;
      let opened: 'begin' | 'savepoint' | undefined;
      const open = () => {
        opened = isBegun ? 'savepoint' : 'begin';
        isBegun = true;
        return send(connection, opened === 'begin' ? dialect.begin : 'savepoint own');
      };
      try {
        const result = await inTransaction(connection, open, queued.work);
        if (opened === 'savepoint') await send(connection, 'release own');
        done.push({ queued, settle: () => queued.resolve(result) });
      } catch (error) {
        const isUndone = opened === undefined || (opened === 'savepoint' && (await undo(connection)));
        if (!isUndone) await rollBack(connection);
        if (opened === undefined) queued.reject(error);
        else if (isUndone) done.push({ queued, settle: () => queued.reject(noted(error)) });
        if (isUndone) continue;
        queued.reject(noted(error));
        queue.unshift(...done.map((before) => before.queued));
        return;
      }
    }
    try {
      if (isBegun) {
        await send(connection, 'commit', [], 'commit');
        full = undefined;
      }
      for (const { settle } of done) settle();
    } catch (error) {
      await rollBack(connection);
      for (const { queued } of done) queued.reject(noted(error));
    }
  }

  let lastWorkspace: number | undefined;

  /** Prefers another workspace than the last one: one that writes much waits for itself. */
  function takeNext(queue: Queued[], mayBeLarge: boolean): Queued | undefined {
    const allowed = queue.filter(({ isSmall }) => isSmall || mayBeLarge);
    const next = allowed.find(({ workspaceId }) => workspaceId !== lastWorkspace) ?? allowed[0];
    if (next) queue.splice(queue.indexOf(next), 1);
    lastWorkspace = next?.workspaceId;
    return next;
  }

  const undo = (connection: Connection): Promise<boolean> =>
    send(connection, 'rollback to own')
      .then(() => send(connection, 'release own'))
      .then(
        () => suspects.get(connection)?.mayBeKept !== false,
        () => false,
      );

  /** Remembers an error if the disk was full. */
  function noted(error: unknown): unknown {
    if (isDiskFull(error)) full = { error, at: Date.now() };
    return error;
  }

  const waiting: Queued[] = [];
  let isWriting = false;

  async function writeWaiting(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      // There is no connection for any of them.
      await use(writes, (connection) => shareCommit(connection, waiting)).catch((error: unknown) => {
        for (const { isInTime, reject } of waiting.splice(0)) if (isInTime()) reject(noted(error));
      });
    }
    isWriting = false;
  }

  const write = <T>(
    useConnection: UseConnection,
    work: Work<T>,
    { signal, workspaceId }: Caller,
    isSmall: boolean,
  ): Promise<T> =>
    new Promise((resolve, reject) => {
      const ownWork: Work<T> = async (run) => {
        signal?.throwIfAborted();
        return work(run);
      };
      // The cast is safe: it is resolved with what its own work has returned.
      const queued = { work: ownWork, workspaceId, isSmall, resolve: resolve as Queued['resolve'], reject };
      if (driver.hasGroupsByWorkspace) {
        const alone = [{ ...queued, isInTime: () => true }];
        useConnection(writes, (connection) => shareCommit(connection, alone)).catch((error) => reject(noted(error)));
      } else {
        waiting.push({ ...queued, isInTime: startWaiting(reject) });
        if (!isWriting) void writeWaiting();
      }
    });

  const statements = (useConnection: UseConnection, caller: Caller = {}): Statements => ({
    run: (sql, values) => useConnection(writes, (connection) => send(connection, sql, values)),

    read: (sql, values) => useConnection(reads, (connection) => send(connection, sql, values)),

    async transaction(work, { maxAttempts = 6, isSmall = false } = {}) {
      for (let attempts = 1; ; attempts += 1) {
        try {
          return await write(useConnection, work, caller, isSmall);
        } catch (error) {
          if (!(error instanceof TransactionConflict)) throw error;
          if (attempts >= maxAttempts) throw error.afterLastAttempt();
          await pause(Math.random() * basePause * 2 ** attempts);
        }
      }
    },

    async runAlone(statement) {
      await useConnection(writes, (connection) => runAlone(connection, statement)).catch((error: unknown) => {
        throw noted(error);
      });
      full = undefined;
    },

    snapshot: (work) => useConnection(reads, (connection) => snapshotOn(connection, work)),
  });
  const own = statements(use);

  return {
    ...own,
    requireRoom() {
      if (full && Date.now() - full.at < fullTime) throw full.error;
    },
    forWorkspace: (workspaceId, signal) => statements(useForWorkspace(workspaceId, signal), { workspaceId, signal }),
    async longSnapshot(workspaceId, work) {
      if (!longReads) return statements(useForWorkspace(workspaceId)).snapshot(work);
      return use(longReads, async (connection) => {
        try {
          return await snapshotOn(connection, work);
        } finally {
          if (driver.afterLongRead) await own.run(driver.afterLongRead).catch(() => {});
        }
      });
    },
  };
}
