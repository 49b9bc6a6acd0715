/**
 * Statements and transactions on the connections of Knex's pool. Knex's own transactions go on with the work when BEGIN
 * has failed, and cannot tell an error at COMMIT, after which nobody knows what is stored, from one before it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import {
  commitError,
  connectionError,
  databaseError,
  isNotStored,
  needsNewConnection,
  TransactionConflict,
} from './database-error.ts';
import type { DatabaseOptions, Engine, Run } from './engine.ts';
import { createShares } from './shares.ts';

export interface Connections extends Statements {
  /** Runs a short statement on a connection that is always the same, where reads have their own. */
  readonly watch: Run;
  /**
   * The same for one of many users, a workspace: no user holds more than a share of the connections at a time, and what one
   * asks for beyond it waits for that user's own statements, not for others'.
   */
  sharedBy(user: string): Statements;
}

export interface Statements {
  /** Runs a statement by itself. */
  readonly run: Run;
  /** Runs a statement that only reads; it never waits for those that write. */
  readonly read: Run;
  /**
   * Runs the work in one transaction: all of it is stored, or nothing. Work that lost against other transactions is
   * run again, a few times. A statement that is all of the work may be run with `runAlone`: it is a transaction by itself,
   * without the two statements that begin and end one.
   */
  transaction<T>(
    work: (run: Run, runAlone: Run) => Promise<T>,
    options?: { readonly maxAttempts?: number },
  ): Promise<T>;
  /** Runs work that reads one state of the database, whatever others write meanwhile. */
  snapshot<T>(work: (run: Run) => Promise<T>): Promise<T>;
}

type End = (connection: Connection) => Promise<void>;

/** A driver's connection. Knex's pool throws away one that has the mark. */
interface Connection {
  __knex__disposed?: unknown;
}

/** Milliseconds after which a connection is closed whose statement does not end although it was cancelled. */
const cancelGrace = 5_000;

/** Milliseconds; a loser waits up to twice as long each time, so that the same transactions do not meet again. */
const firstPause = 10;

/** Where statements run. On most databases these are one pool. */
export interface Pools {
  readonly writes: Knex;
  readonly reads: Knex;
  /** One connection, for short statements only. */
  readonly watch: Knex;
}

export function createConnections(
  { writes, reads, watch }: Pools,
  engine: Engine,
  { connectionTimeout, statementTimeout }: Pick<DatabaseOptions, 'connectionTimeout' | 'statementTimeout'>,
): Connections {
  /** Connections that a statement has failed on, and whether one may be used again if it is idle. */
  const suspects = new WeakMap<Connection, { readonly mayBeKept: boolean }>();

  type OnConnection = <T>(pool: Knex, work: (connection: Connection) => Promise<T>) => Promise<T>;

  const onConnection: OnConnection = async ({ client }, work) => {
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

  const outOfShare = () => connectionError(new Error('the share of the workspace is in use'));
  const sharesOf = ({ client }: Knex) => createShares(client.config.pool.max, connectionTimeout, outOfShare);
  const shares = { writes: sharesOf(writes), reads: sharesOf(reads) };

  const withinShare =
    (user: string): OnConnection =>
    (pool, work) =>
      (pool === reads ? shares.reads : shares.writes)(user, () => onConnection(pool, work));

  /** After an error, a connection is used again only if nothing of it is left. */
  async function inspect(connection: Connection): Promise<void> {
    const suspect = suspects.get(connection);
    if (!suspect) return;
    suspects.delete(connection);
    const isIdle = suspect.mayBeKept && (await engine.isIdle(connection).catch(() => false));
    if (!isIdle) close(connection);
  }

  /** At once, for it may hold locks; Knex's pool would only do so when it is asked for the next connection. */
  function close(connection: Connection): void {
    connection.__knex__disposed ??= 'closed after an error';
    engine.destroy(connection);
  }

  /** What the driver returns, or its error. */
  async function send(connection: Connection, sql: string, values: readonly unknown[] = []): Promise<unknown> {
    let timer = setTimeout(() => {
      engine.cancel(connection);
      timer = setTimeout(() => close(connection), cancelGrace);
    }, statementTimeout);
    try {
      // For whoever watches Knex.
      writes.client.emit('query', { sql, bindings: values });
      return await engine.query(connection, sql, values);
    } catch (error) {
      suspects.set(connection, {
        mayBeKept: !needsNewConnection(error) && suspects.get(connection)?.mayBeKept !== false,
      });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  const isLost = ({ __knex__disposed }: Connection) => __knex__disposed !== undefined;

  const runOn =
    (connection: Connection): Run =>
    async (sql, values) => {
      try {
        return engine.rowsOf(await send(connection, sql, values));
      } catch (error) {
        throw databaseError(error, isLost(connection));
      }
    };

  /** The transaction begins with its first statement. */
  const attempt = <T>(
    connect: OnConnection,
    pool: Knex,
    begin: string,
    end: End,
    work: (run: Run, runAlone: Run) => Promise<T>,
  ): Promise<T> =>
    connect(pool, async (connection) => {
      const run = runOn(connection);
      let begun: Promise<unknown> | undefined;
      let isOver = false;
      const requireOpen = () => {
        if (isOver) throw new Error('a statement came after the end of its transaction');
      };
      try {
        const result = await work(
          async (sql, values) => {
            requireOpen();
            // Several statements, of which the first may succeed alone.
            begun ??= run(begin);
            await begun;
            return run(sql, values);
          },
          async (sql, values) => {
            requireOpen();
            if (begun) throw new Error('a statement runs alone, or in a transaction with others');
            isOver = true;
            return runCommitting(connection, sql, values);
          },
        );
        isOver = true;
        if (begun) await end(connection);
        return result;
      } catch (error) {
        isOver = true;
        if (begun) await rollBack(connection);
        throw error;
      }
    });

  /** A statement that commits by itself: an error may be one at COMMIT. */
  async function runCommitting(connection: Connection, sql: string, values?: readonly unknown[]) {
    try {
      return engine.rowsOf(await send(connection, sql, values));
    } catch (error) {
      throw isNotStored(error) ? databaseError(error, isLost(connection)) : commitError(error, isLost(connection));
    }
  }

  async function commit(connection: Connection): Promise<void> {
    let response: unknown;
    try {
      response = await send(connection, 'commit');
    } catch (error) {
      throw commitError(error, isLost(connection));
    }
    // Postgres says so when a statement before it has failed.
    if ((response as { command?: string }).command === 'ROLLBACK') throw new Error('the transaction was rolled back');
  }

  /** It fails where SQLite has rolled back by itself, after a full disk for one. `inspect` looks whether the connection is idle. */
  async function rollBack(connection: Connection): Promise<void> {
    await send(connection, 'rollback').catch(() => {});
  }

  const statements = (connect: OnConnection): Statements => ({
    run: (sql, values) => connect(writes, (connection) => runOn(connection)(sql, values)),

    read: (sql, values) => connect(reads, (connection) => runOn(connection)(sql, values)),

    async transaction(work, { maxAttempts = 6 } = {}) {
      for (let attempts = 1; ; attempts += 1) {
        try {
          return await attempt(connect, writes, engine.begin, commit, work);
        } catch (error) {
          if (!(error instanceof TransactionConflict)) throw error;
          if (attempts >= maxAttempts) throw error.atLast();
          await pause(Math.random() * firstPause * 2 ** attempts);
        }
      }
    },

    // A reader has nothing to commit.
    snapshot: (work) => attempt(connect, reads, engine.beginSnapshot, rollBack, work),
  });
  return {
    ...statements(onConnection),
    watch: (sql, values) => onConnection(watch, (connection) => runOn(connection)(sql, values)),
    sharedBy: (user) => statements(withinShare(user)),
  };
}
