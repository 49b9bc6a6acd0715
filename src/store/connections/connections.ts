/**
 * Connections of Knex's pools, and the statements on them. Each use of a connection is limited: the wait for it, its statements, and how many
 * a workspace holds. After an error nobody knows what the connection still does, so it is kept only if it is proven to be idle.
 */
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Dialect } from '../query/dialect.ts';
import {
  connectionError,
  databaseError,
  databaseUnavailable,
  isDiskFull,
  needsNewConnection,
} from './database-error.ts';
import type { DatabaseOptions, Driver, Pools, Row, Run } from './driver.ts';

/** Reads do not wait for writes, except in a SQLite database in memory. */
interface Reads {
  readonly read: Run;
  snapshot<T>(work: Work<T>): Promise<T>;
}

export interface Connections extends Reads {
  /** A statement that may write, outside of the queue of writes. */
  readonly run: Run;
  /** Throws a ServiceError 503 if the last write found the disk full, a few seconds ago at most: later ones may find room. */
  requireRoom(): void;
  /** Holds at most half of the connections. Workspaces whose last statement timed out hold two together. */
  forWorkspace(workspaceId: number): Reads;
  /** Like the `snapshot` of a workspace, for work that may read for minutes, on connections for which nothing else waits. Few run at a time. */
  longSnapshot<T>(workspaceId: number, work: Work<T>): Promise<T>;
  /** Uses a connection that may write. It counts for the workspace, if there is one. */
  useToWrite(workspaceId: number | undefined, work: (connection: ConnectionLease) => Promise<void>): Promise<void>;
}

export type Work<T> = (run: Run) => Promise<T>;

/** A connection while it is used. It runs one statement at a time. */
export interface ConnectionLease {
  /** Throws the store's errors. A statement that is `alone` is a transaction by itself: its error may be one at COMMIT. */
  send(sql: string, values?: readonly unknown[], at?: StatementPhase, setUp?: string): Promise<readonly Row[]>;
  /** `failed` after an error: then it is kept only if it is idle. `lost` after one that leaves nothing to be trusted. */
  readonly state: 'unused' | 'sound' | 'failed' | 'lost';
}

type StatementPhase = Parameters<typeof databaseError>[2];

/** What the pools hold. Knex discards a connection that has this mark. */
interface Pooled {
  __knex__disposed?: unknown;
}

/** Milliseconds for which a full disk is reported. */
const diskFullMs = 10_000;

/** Milliseconds after which a connection is closed if its statement was cancelled but does not end. */
const cancelGraceMs = 5_000;

/** The most workspaces whose running work is counted. Beyond that, the least recently used are forgotten. */
const maxWorkspaces = 10_000;

export function createConnections(
  { writes, reads = writes, longReads }: Pools<Knex>,
  driver: Driver,
  { beginSnapshot }: Pick<Dialect, 'beginSnapshot'>,
  { connectionTimeout, statementTimeout }: Pick<DatabaseOptions, 'connectionTimeout' | 'statementTimeout'>,
): Connections {
  const half = Math.ceil(reads.client.config.pool.max / 2);
  const limits = new LRUCache<number, LimitFunction>({ max: maxWorkspaces, memoMethod: () => pLimit(half) });
  /** Workspaces whose last statement timed out. On Citus their machine may hang, and each of their statements then holds a connection. */
  const timedOut = new Set<number | undefined>();
  const timedOutLimit = pLimit(Math.min(half, 2));
  /** The error of the last write, if the disk was full, and when that was. */
  let full: { readonly error: unknown; readonly at: number } | undefined;

  async function use<T>(
    pool: Knex,
    workspaceId: number | undefined,
    work: (connection: ConnectionLease) => Promise<T>,
    limit?: LimitFunction,
  ): Promise<T> {
    const useWithin = (next: LimitFunction) => inTurn(next, () => use(pool, workspaceId, work, next));
    if (workspaceId !== undefined && !limit) return useWithin(limits.memo(workspaceId));
    const pooled: Pooled = await pool.client.acquireConnection().catch((error: unknown) => {
      throw connectionError(error);
    });
    // Checked only now: another statement of the workspace may have timed out while this one waited for a connection.
    if (timedOut.has(workspaceId) && limit !== timedOutLimit) {
      await pool.client.releaseConnection(pooled);
      return useWithin(timedOutLimit);
    }
    const connection = connectionOn(pooled, workspaceId);
    try {
      return await work(connection);
    } finally {
      const { state } = connection;
      // Not after each statement: BEGIN succeeds even if the workspace's machine hangs.
      if (state === 'sound') timedOut.delete(workspaceId);
      if (state === 'lost' || (state === 'failed' && !(await driver.isIdle(pooled).catch(() => false)))) close(pooled);
      await pool.client.releaseConnection(pooled);
    }
  }

  /** Leaves half of the connections to other workspaces and to the service itself. */
  function inTurn<T>(limit: LimitFunction, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const isInTime = startWaiting(connectionTimeout, reject);
      void limit(async () => {
        if (isInTime()) await work().then(resolve, reject);
      });
    });
  }

  /** At once, because it may hold locks: Knex's pool would wait until the next connection is requested. */
  function close(pooled: Pooled): void {
    pooled.__knex__disposed ??= 'closed after an error';
    driver.destroy(pooled);
  }

  function connectionOn(pooled: Pooled, workspaceId: number | undefined): ConnectionLease {
    let state: ConnectionLease['state'] = 'unused';
    return {
      get state() {
        return state;
      },
      async send(sql, values = [], at = 'work', setUp = undefined) {
        // Knex's own event, by which tests count statements.
        writes.client.emit('query', { sql, bindings: values });
        let timer = setTimeout(() => {
          if (workspaceId !== undefined) timedOut.add(workspaceId);
          driver.cancel(pooled);
          timer = setTimeout(() => close(pooled), cancelGraceMs);
        }, statementTimeout);
        try {
          const rows = await driver.query(pooled, sql, values, setUp);
          if (at !== 'work') full = undefined;
          if (state === 'unused') state = 'sound';
          return rows;
        } catch (thrown) {
          state = state === 'lost' || needsNewConnection(thrown) ? 'lost' : 'failed';
          const error = databaseError(thrown, pooled.__knex__disposed !== undefined, at);
          if (isDiskFull(error)) full = { error, at: Date.now() };
          throw error;
        } finally {
          clearTimeout(timer);
        }
      },
    };
  }

  /** A reader has nothing to commit. */
  async function snapshotOn<T>(connection: ConnectionLease, work: Work<T>): Promise<T> {
    let isBegun = false;
    const begin = () => {
      isBegun = true;
      return connection.send(beginSnapshot);
    };
    try {
      return await inTransaction(connection, begin, work);
    } finally {
      if (isBegun) await rollBack(connection);
    }
  }

  const readsOf = (workspaceId?: number): Reads => ({
    read: (sql, values) => use(reads, workspaceId, ({ send }) => send(sql, values)),
    snapshot: (work) => use(reads, workspaceId, (connection) => snapshotOn(connection, work)),
  });
  const run: Run = (sql, values) => use(writes, undefined, ({ send }) => send(sql, values));

  return {
    ...readsOf(),
    run,
    useToWrite: (workspaceId, work) => use(writes, workspaceId, work),
    requireRoom() {
      if (full && Date.now() - full.at < diskFullMs) throw full.error;
    },
    forWorkspace: readsOf,
    async longSnapshot(workspaceId, work) {
      if (!longReads) return readsOf(workspaceId).snapshot(work);
      return use(longReads, undefined, async (connection) => {
        try {
          return await snapshotOn(connection, work);
        } finally {
          if (driver.afterLongRead) await run(driver.afterLongRead).catch(() => {});
        }
      });
    },
  };
}

/** Waiting longer than for a connection is a 503. Returns a function that ends the wait, and tells whether it was not too long. */
export function startWaiting(connectionTimeout: number, reject: (reason: unknown) => void): () => boolean {
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

/**
 * Runs work whose first statement is preceded by `begin`; without statements, nothing is sent. Each statement waits for the one before, and
 * fails if that has failed. Knex's own transactions continue with the work when BEGIN has failed, and do not distinguish an error at COMMIT,
 * after which the outcome is unknown, from an earlier one.
 */
export async function inTransaction<T>(
  { send }: ConnectionLease,
  begin: () => Promise<unknown>,
  work: Work<T>,
): Promise<T> {
  let last: Promise<unknown> | undefined;
  let isOver = false;
  try {
    const result = await work(async (sql, values) => {
      if (isOver) throw new Error('a statement came after the end of its transaction');
      const statement = (last ?? begin()).then(() => send(sql, values));
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

/** An error is ignored: SQLite may have rolled back by itself, as on a full disk. The connection is inspected in any case. */
export const rollBack = ({ send }: ConnectionLease): Promise<unknown> => send('rollback').catch(() => {});
