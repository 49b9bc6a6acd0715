/** Connections of Knex's pools: each statement has a time limit, and after an error a connection is proven idle or closed. */
import type { Knex } from 'knex';
import { connectionError, needsNewConnection } from './database-error.ts';
import type { DatabaseOptions, Driver, Row } from './driver.ts';
import { createShares, type Shares } from './shares.ts';

/** A driver's connection. Knex's pool throws away one that has the mark. */
export interface Connection {
  __knex__disposed?: unknown;
}

/** Runs work on a connection of a pool, and returns the connection. */
export type UseConnection = <T>(pool: Knex, work: (connection: Connection) => Promise<T>) => Promise<T>;

export interface Connections {
  readonly use: UseConnection;
  /** The same within a workspace's share of the pool. */
  useForWorkspace(workspaceId: string): UseConnection;
  /** Returns a statement's rows, or throws the driver's error. */
  send(connection: Connection, sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Whether the connection was closed, so that an error says nothing about its statement. */
  isLost(connection: Connection): boolean;
}

/** Milliseconds after which a connection is closed if its statement was cancelled but does not end. */
const cancelGrace = 5_000;

export function createConnections(
  driver: Driver,
  { connectionTimeout, statementTimeout }: Pick<DatabaseOptions, 'connectionTimeout' | 'statementTimeout'>,
): Connections {
  /** Connections on which a statement has failed, and whether one may be used again if it is idle. */
  const suspects = new WeakMap<Connection, { readonly mayBeKept: boolean }>();
  const sharesByPool = new WeakMap<Knex, Shares>();

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

  /** After an error, a connection is used again only if it is idle. */
  async function inspect(connection: Connection): Promise<void> {
    const suspect = suspects.get(connection);
    if (!suspect) return;
    suspects.delete(connection);
    const isIdle = suspect.mayBeKept && (await driver.isIdle(connection).catch(() => false));
    if (!isIdle) close(connection);
  }

  /** At once, since it may hold locks; Knex's pool would only do so when the next connection is requested. */
  function close(connection: Connection): void {
    connection.__knex__disposed ??= 'closed after an error';
    driver.destroy(connection);
  }

  const outOfShare = () => connectionError(new Error('the share of the workspace is in use'));

  function sharesOf(pool: Knex): Shares {
    const shares = sharesByPool.get(pool) ?? createShares(pool.client.config.pool.max, connectionTimeout, outOfShare);
    sharesByPool.set(pool, shares);
    return shares;
  }

  return {
    use,
    useForWorkspace: (workspaceId) => (pool, work) => sharesOf(pool)(workspaceId, () => use(pool, work)),

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
