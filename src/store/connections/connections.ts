/** Connections of Knex's pools. Each statement has a time limit, and after an error a connection is reused only if it is idle. */
import type { Knex } from 'knex';
import { connectionError, databaseUnavailable, isNotStored, needsNewConnection, Preempted } from './database-error.ts';
import type { DatabaseOptions, Driver, Row } from './driver.ts';
import { createScheduler, type Lease, type Scheduler } from './scheduler.ts';

/** A driver's connection. Knex's pool discards a connection that has this mark. */
export interface Connection {
  __knex__disposed?: unknown;
}

/** Runs work on a connection of a pool, and then returns the connection to the pool. */
export type UseConnection = <T>(pool: Knex, work: (connection: Connection) => Promise<T>) => Promise<T>;

export interface Connections {
  readonly use: UseConnection;
  /**
   * Like `use`, but fair to other workspaces: see scheduler.ts. Work whose connection is taken back fails with Preempted, and is repeated
   * for as long as a statement may run. Work whose turn comes after the signal is aborted is not begun.
   */
  useForWorkspace(workspaceId: number, signal?: AbortSignal): UseConnection;
  /** Returns a statement's rows, or throws the driver's error. A connection runs one statement at a time. */
  send(connection: Connection, sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** True if the connection was discarded: an error then says nothing about its statement. */
  isLost(connection: Connection): boolean;
}

/** Milliseconds after which a connection is closed if its statement was cancelled but does not end. */
const cancelGrace = 5_000;

/**
 * The fraction of a pool's connections that all workspaces together may hold. The others are for what the service itself does: looking up
 * keys, storing groups of new records, checking whether the database responds.
 */
const shareOfWorkspaces = 0.75;

export function createConnections(
  driver: Driver,
  { connectionTimeout, statementTimeout }: Pick<DatabaseOptions, 'connectionTimeout' | 'statementTimeout'>,
): Connections {
  /** Connections on which a statement has failed, and whether each may be reused if it is idle. */
  const suspects = new WeakMap<Connection, { readonly mayBeKept: boolean }>();
  /** The lease of each connection that a workspace holds. */
  const leases = new WeakMap<Connection, Lease>();
  const cancelled = new WeakSet<Lease>();
  const schedulers = new WeakMap<Knex, Scheduler>();

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

  /**
   * True if the lease must not begin this statement. A commit may begin: it gives the connection back as fast as a rollback
   * would, unless a late request to cancel the statement before it may hit it.
   */
  const mustNotBegin = (lease: Lease, sql: string): boolean =>
    sql === 'commit' ? cancelled.has(lease) : lease.preemptedAt !== undefined;

  function schedulerOf(pool: Knex): Scheduler {
    const known = schedulers.get(pool);
    if (known) return known;
    const scheduler = createScheduler({
      size: Math.max(1, Math.floor(shareOfWorkspaces * pool.client.config.pool.max)),
      timeout: connectionTimeout,
      timeoutError: () => databaseUnavailable('CONNECTIONS_IN_USE'),
      repeatedFor: statementTimeout,
    });
    schedulers.set(pool, scheduler);
    return scheduler;
  }

  return {
    use,
    useForWorkspace: (workspaceId, signal) => (pool, work) =>
      schedulerOf(pool)(workspaceId, async (lease) => {
        signal?.throwIfAborted();
        return use(pool, async (connection) => {
          signal?.throwIfAborted();
          leases.set(connection, lease);
          try {
            return await work(connection);
          } finally {
            leases.delete(connection);
          }
        });
      }),

    async send(connection, sql, values = []) {
      const lease = sql === 'rollback' ? undefined : leases.get(connection);
      if (lease && mustNotBegin(lease, sql)) throw new Preempted();
      // The outcome of a cancelled COMMIT would be unknown.
      if (lease && sql !== 'commit') {
        lease.cancel = () => {
          cancelled.add(lease);
          driver.cancel(connection);
        };
      }
      let timer = setTimeout(() => {
        driver.cancel(connection);
        timer = setTimeout(() => close(connection), cancelGrace);
      }, statementTimeout);
      try {
        return await driver.query(connection, sql, values);
      } catch (error) {
        const wasKept = suspects.get(connection)?.mayBeKept !== false;
        suspects.set(connection, { mayBeKept: wasKept && !needsNewConnection(error) });
        throw lease?.preemptedAt !== undefined && isNotStored(error) ? new Preempted() : error;
      } finally {
        clearTimeout(timer);
        delete lease?.cancel;
      }
    },

    isLost: ({ __knex__disposed }) => __knex__disposed !== undefined,
  };
}
