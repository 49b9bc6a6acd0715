/**
 * Caches the prepared statements of a connection: preparing one each time would be a third of the cost of a small query.
 * The driver finalizes a statement on the main thread, and while another statement runs on the connection, that would block the
 * process until the other one ends. So statements are finalized only while none runs, and run one at a time.
 */
import { LRUCache } from 'lru-cache';

/** The part of the driver's statement that is used here. */
export interface PreparedStatement {
  all(values: readonly unknown[], done: (error: Error | null, rows: unknown) => void): void;
  finalize(done: () => void): void;
}

const maxStatements = 200;

/** Milliseconds between attempts to interrupt a statement. */
const interruptInterval = 20;

export type PreparedStatements = ReturnType<typeof createStatements>;

interface SqliteDriver {
  prepare(sql: string): Promise<PreparedStatement>;
  interrupt(): void;
}

export function createStatements({ prepare, interrupt }: SqliteDriver) {
  /** Statements that are no longer cached but not finalized yet. */
  let discarded: PreparedStatement[] = [];
  const cache = new LRUCache<string, PreparedStatement>({
    max: maxStatements,
    dispose: (statement) => void discarded.push(statement),
  });
  /** The statement that runs, from when it is requested until all discarded ones are finalized. */
  let running: symbol | undefined;
  let close: (() => void) | undefined;

  async function prepared(sql: string): Promise<PreparedStatement> {
    const cached = cache.get(sql);
    if (cached) return cached;
    const statement = await prepare(sql);
    cache.set(sql, statement);
    return statement;
  }

  async function runStatement(sql: string, values: readonly unknown[]): Promise<unknown> {
    try {
      const statement = await prepared(sql);
      const rows = await new Promise((resolve, reject) => {
        statement.all(values, (error, result) => (error ? reject(error) : resolve(result)));
      });
      if (values.some(isLarge)) cache.delete(sql);
      return rows;
    } catch (error) {
      // The driver does not reset a statement that failed: one that did not get the lock would remain an active writer, and
      // SQLite commits nothing on a connection while another writer is active.
      cache.delete(sql);
      throw error;
    }
  }

  async function finalizeDiscarded(): Promise<void> {
    const statements = discarded;
    discarded = [];
    await Promise.all(statements.map((statement) => new Promise<void>((resolve) => statement.finalize(resolve))));
  }

  async function end(): Promise<void> {
    if (discarded.length > 0) await finalizeDiscarded();
    running = undefined;
    close?.();
  }

  return {
    /** Returns the driver's rows. Must not be called again before it has ended. */
    async run(sql: string, values: readonly unknown[]): Promise<unknown> {
      if (close) throw new Error('the connection is closed');
      running = Symbol();
      try {
        return await runStatement(sql, values);
      } finally {
        await end();
      }
    },

    /** Interrupts what runs now repeatedly until it ends: one interrupt would miss a statement that still waits for a thread. */
    cancel(): void {
      const cancelled = running;
      const repeat = () => {
        if (!cancelled || running !== cancelled) return;
        interrupt();
        setTimeout(repeat, interruptInterval);
      };
      repeat();
    },

    /** Resolves when the statement that runs has ended and all are finalized: SQLite does not close a connection before. */
    close: () =>
      new Promise<void>((resolve) => {
        close = () => {
          cache.clear();
          void finalizeDiscarded().then(resolve);
        };
        if (!running) close();
      }),
  };
}

/**
 * True for values that should not stay in memory: a cached statement keeps them until it is used again, which for a batch may be
 * never.
 */
const isLarge = (value: unknown): boolean => typeof value === 'string' && value.length > 65_536;
