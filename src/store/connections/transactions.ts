/**
 * Statements and transactions. Knex's own transactions are not used: they continue with the work when BEGIN has failed, and do
 * not distinguish an error at COMMIT, after which the outcome is unknown, from an earlier one.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import { type Connection, type Connections, createConnections, type UseConnection } from './connections.ts';
import { commitError, databaseError, isDiskFull, isNotStored, TransactionConflict } from './database-error.ts';
import type { DatabaseOptions, Driver, Pools, Run, Statement, TransactionSql } from './driver.ts';

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
  /** Runs work that reads a consistent snapshot of the database. */
  snapshot<T>(work: Work<T>): Promise<T>;
}

/** The body of a transaction. A body with exactly one statement may use `runAlone`, which skips BEGIN and COMMIT. */
type Work<T> = (run: Run, runAlone: (statement: Statement) => Promise<unknown>) => Promise<T>;

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

  /** Runs a statement that is a transaction by itself: its error may be one at COMMIT. */
  const runAloneOn =
    (connection: Connection) =>
    async ({ sql, values, setUp = [] }: Statement): Promise<unknown> => {
      try {
        await setUpOnce(connection, setUp);
        return await send(connection, sql, values);
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
    const requireOpen = () => {
      if (isOver) throw new Error('a statement came after the end of its transaction');
    };
    try {
      const result = await work(
        async (sql, values) => {
          requireOpen();
          const statement = (last ?? run(begin)).then(() => run(sql, values));
          last = statement;
          return statement;
        },
        async (statement) => {
          requireOpen();
          if (last) throw new Error('a statement runs alone, or in a transaction with others');
          isOver = true;
          return runAloneOn(connection)(statement);
        },
      );
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
          const result = await useConnection(writes, (connection) => attempt(connection, dialect.begin, commit, work));
          full = undefined;
          return result;
        } catch (error) {
          if (isDiskFull(error)) full = { error, at: Date.now() };
          if (!(error instanceof TransactionConflict)) throw error;
          if (attempts >= maxAttempts) throw error.afterLastAttempt();
          await pause(Math.random() * basePause * 2 ** attempts);
        }
      }
    },

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
