/** Connections of Knex's pools. Each statement has a time limit, and after an error a connection is reused only if it is idle. */
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';
import { connectionError, databaseUnavailable, needsNewConnection } from './database-error.ts';
import type { DatabaseOptions, Driver, Row } from './driver.ts';

/** A driver's connection. Knex's pool discards a connection that has this mark. */
export interface Connection {
  __knex__disposed?: unknown;
}

/** Runs work on a connection of a pool, and then returns the connection to the pool. */
export type UseConnection = <T>(pool: Knex, work: (connection: Connection) => Promise<T>) => Promise<T>;

export interface Connections {
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

export function createConnections(
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
