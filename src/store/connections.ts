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
  isReadOnly,
  TransactionConflict,
} from './database-error.ts';
import type { Engine, Run } from './engine.ts';

export interface Connections {
  /** Runs a statement on any connection. */
  readonly run: Run;
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

export function createConnections(knex: Knex, engine: Engine, statementTimeout: number): Connections {
  const client: Knex.Client = knex.client;

  async function onConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection: Connection = await client.acquireConnection().catch((error: unknown) => {
      throw connectionError(error);
    });
    try {
      return await work(connection);
    } finally {
      await client.releaseConnection(connection);
    }
  }

  /** The driver's answer, or its error. */
  async function send(connection: Connection, sql: string, values: readonly unknown[] = []): Promise<unknown> {
    let timer = setTimeout(() => {
      engine.cancel(connection);
      timer = setTimeout(() => engine.destroy(connection), cancelGrace);
    }, statementTimeout);
    try {
      // For whoever watches Knex.
      client.emit('query', { sql, bindings: values });
      return await engine.query(connection, sql, values);
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
        const known = databaseError(error, isLost(connection));
        if (isReadOnly(error)) connection.__knex__disposed ??= error;
        throw known;
      }
    };

  /** The transaction begins with its first statement. */
  const attempt = <T>(begin: string, end: End, work: (run: Run, runAlone: Run) => Promise<T>): Promise<T> =>
    onConnection(async (connection) => {
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
      if (isReadOnly(error)) connection.__knex__disposed ??= error;
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
    // So Postgres answers when a statement before it has failed.
    if ((response as { command?: string }).command === 'ROLLBACK') throw new Error('the transaction was rolled back');
  }

  /** A connection that may still be in a transaction is thrown away. */
  async function rollBack(connection: Connection): Promise<void> {
    try {
      await send(connection, 'rollback');
    } catch (error) {
      // SQLite itself rolls back after some errors, a full disk among them.
      if (!/no transaction is active/.test(String(error))) connection.__knex__disposed ??= error;
    }
  }

  return {
    run: (sql, values) => onConnection((connection) => runOn(connection)(sql, values)),

    async transaction(work, { maxAttempts = 6 } = {}) {
      for (let attempts = 1; ; attempts += 1) {
        try {
          return await attempt(engine.begin, commit, work);
        } catch (error) {
          if (!(error instanceof TransactionConflict)) throw error;
          if (attempts >= maxAttempts) throw error.atLast();
          await pause(Math.random() * firstPause * 2 ** attempts);
        }
      }
    },

    // A reader has nothing to commit.
    snapshot: (work) => attempt(engine.beginSnapshot, rollBack, work),
  };
}
