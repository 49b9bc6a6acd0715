/**
 * Runs statements on Knex's pools, with limits on the wait for a connection, the time of a statement, and the
 * connections of a workspace. After an error, a connection is kept only if it proves idle.
 */
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';
import { statementTimes, waits } from '../../metrics.ts';
import type { Dialect } from '../query/dialect.ts';
import {
  connectionError,
  databaseError,
  databaseUnavailable,
  isDiskFull,
  needsNewConnection,
  type StatementPhase,
} from './database-error.ts';
import type { DatabaseOptions, Driver, PooledConnection, Pools, Row, Run } from './driver.ts';

/** Reads wait for writes only to get a connection, and in a SQLite file never. */
interface Reads {
  readonly read: Run;
  readonly snapshot: <T>(work: Work<T>) => Promise<T>;
}

export type Work<T> = (run: Run) => Promise<T>;

/** Runs one statement at a time. */
export interface ConnectionLease {
  readonly send: (
    sql: string,
    values?: readonly unknown[],
    phase?: StatementPhase,
    setUp?: string,
  ) => Promise<readonly Row[]>;
  /** `failed` connections are kept if they are idle, `lost` ones closed. */
  readonly state: 'unused' | 'healthy' | 'failed' | 'lost';
}

/** How long a full disk is reported. */
const diskFullMs = 10_000;

/** A connection is closed if a statement has not ended by then after the time limit. */
const cancelGraceMs = 5_000;

const maxWorkspaces = 10_000;

/** Functions are properties, because callers destructure the object. */
export class Connections implements Reads {
  readonly read: Run;
  readonly snapshot: Reads['snapshot'];
  readonly #writes: Knex;
  readonly #reads: Knex;
  readonly #longReads: Knex | undefined;
  readonly #driver: Driver;
  readonly #beginSnapshot: string;
  readonly #connectionTimeout: number;
  readonly #statementTimeout: number;
  readonly #limits: LRUCache<number, LimitFunction>;
  /** On Citus, the machine of such workspaces may hang and hold connections. */
  readonly #timedOut = new Set<number | undefined>();
  readonly #timedOutLimit: LimitFunction;
  #diskFull: { readonly error: unknown; readonly at: number } | undefined;

  constructor(
    { writes, reads = writes, longReads }: Pools<Knex>,
    driver: Driver,
    { beginSnapshot }: Pick<Dialect, 'beginSnapshot'>,
    { connectionTimeout, statementTimeout }: Pick<DatabaseOptions, 'connectionTimeout' | 'statementTimeout'>,
  ) {
    this.#writes = writes;
    this.#reads = reads;
    this.#longReads = longReads;
    this.#driver = driver;
    this.#beginSnapshot = beginSnapshot;
    this.#connectionTimeout = connectionTimeout;
    this.#statementTimeout = statementTimeout;
    const half = Math.ceil(reads.client.config.pool.max / 2);
    this.#limits = new LRUCache<number, LimitFunction>({ max: maxWorkspaces, memoMethod: () => pLimit(half) });
    this.#timedOutLimit = pLimit(Math.min(half, 2));
    const { read, snapshot } = this.forWorkspace(undefined);
    this.read = read;
    this.snapshot = snapshot;
  }

  /** A workspace has at most half of the connections. Workspaces whose last statement timed out share two. */
  readonly forWorkspace = (workspaceId: number | undefined): Reads => ({
    read: (sql, values) => this.#use(this.#reads, workspaceId, ({ send }) => send(sql, values)),
    snapshot: (work) => this.#use(this.#reads, workspaceId, (connection) => this.#snapshotOn(connection, work)),
  });

  /** Bypasses the queue of writes. */
  readonly run: Run = (sql, values) => this.#use(this.#writes, undefined, ({ send }) => send(sql, values));

  readonly useToWrite = (
    workspaceId: number | undefined,
    work: (connection: ConnectionLease) => Promise<void>,
  ): Promise<void> => this.#use(this.#writes, workspaceId, work);

  /** Throws a 503 if a write has just found the disk full. */
  readonly requireRoom = (): void => {
    if (this.#diskFull && performance.now() - this.#diskFull.at < diskFullMs) throw this.#diskFull.error;
  };

  readonly longSnapshot = async <T>(workspaceId: number, work: Work<T>): Promise<T> => {
    if (!this.#longReads) return this.forWorkspace(workspaceId).snapshot(work);
    const { afterLongRead } = this.#driver;
    return this.#use(this.#longReads, undefined, async (connection) => {
      try {
        return await this.#snapshotOn(connection, work);
      } finally {
        if (afterLongRead) await this.run(afterLongRead).catch(() => {});
      }
    });
  };

  async #use<T>(
    pool: Knex,
    workspaceId: number | undefined,
    work: (connection: ConnectionLease) => Promise<T>,
    limit?: LimitFunction,
  ): Promise<T> {
    const useWithin = (next: LimitFunction) => this.#inTurn(next, () => this.#use(pool, workspaceId, work, next));
    if (workspaceId !== undefined && !limit) return useWithin(this.#limits.memo(workspaceId));
    const pooled: PooledConnection = await pool.client.acquireConnection().catch((error: unknown) => {
      throw connectionError(error);
    });
    // A statement of the workspace may have timed out meanwhile.
    if (this.#timedOut.has(workspaceId) && limit !== this.#timedOutLimit) {
      await pool.client.releaseConnection(pooled);
      return useWithin(this.#timedOutLimit);
    }
    const connection = this.#lease(pooled, workspaceId);
    try {
      return await work(connection);
    } finally {
      const { state } = connection;
      // Only at the end: BEGIN succeeds even if the machine of the workspace hangs.
      if (state === 'healthy') this.#timedOut.delete(workspaceId);
      const isUsable =
        state !== 'lost' && (state !== 'failed' || (await this.#driver.isIdle(pooled).catch(() => false)));
      if (!isUsable) this.#close(pooled);
      await pool.client.releaseConnection(pooled);
    }
  }

  #inTurn<T>(limit: LimitFunction, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const isInTime = startWaiting(this.#connectionTimeout, reject);
      void limit(async () => {
        if (isInTime()) await work().then(resolve, reject);
      });
    });
  }

  /** At once, because the connection may hold locks: Knex would wait for the next request. */
  #close(pooled: PooledConnection): void {
    pooled.__knex__disposed ??= 'closed after an error';
    this.#driver.destroy(pooled);
  }

  #lease(pooled: PooledConnection, workspaceId: number | undefined): ConnectionLease {
    let state: ConnectionLease['state'] = 'unused';
    return {
      get state() {
        return state;
      },
      send: async (sql, values = [], phase = 'in transaction', setUp = undefined) => {
        // Tests count statements by this event.
        this.#writes.client.emit('query', { sql, bindings: values });
        let timer = setTimeout(() => {
          if (workspaceId !== undefined) this.#timedOut.add(workspaceId);
          this.#driver.cancel(pooled, phase);
          timer = setTimeout(() => this.#close(pooled), cancelGraceMs);
        }, this.#statementTimeout);
        const start = performance.now();
        try {
          const rows = await this.#driver.query(pooled, sql, values, setUp);
          if (phase !== 'in transaction') this.#diskFull = undefined;
          if (state === 'unused') state = 'healthy';
          return rows;
        } catch (thrown) {
          state = state === 'lost' || needsNewConnection(thrown) ? 'lost' : 'failed';
          const error = databaseError(thrown, pooled.__knex__disposed !== undefined, phase);
          if (isDiskFull(error)) this.#diskFull = { error, at: performance.now() };
          throw error;
        } finally {
          clearTimeout(timer);
          statementTimes.observe((performance.now() - start) / 1_000);
        }
      },
    };
  }

  /** A reader has nothing to commit. */
  async #snapshotOn<T>(connection: ConnectionLease, work: Work<T>): Promise<T> {
    let isBegun = false;
    const begin = () => {
      isBegun = true;
      return connection.send(this.#beginSnapshot);
    };
    try {
      return await inTransaction(connection, begin, work);
    } finally {
      if (isBegun) await rollBack(connection);
    }
  }
}

/** Rejects with a 503 after the time limit. The returned function ends the wait: true if in time. */
export function startWaiting(connectionTimeout: number, reject: (reason: unknown) => void): () => boolean {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    waits.delete(timer);
    reject(databaseUnavailable('CONNECTIONS_IN_USE'));
  }, connectionTimeout);
  waits.add(timer);
  return () => {
    clearTimeout(timer);
    waits.delete(timer);
    return !isLate;
  };
}

/**
 * Calls `begin` before a first statement. Each waits for the previous one, and fails if that failed. Knex's
 * transactions go on after a failed BEGIN, and do not tell a failed COMMIT, whose outcome is unknown, from other
 * errors.
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

/** SQLite may have rolled back by itself, as on a full disk. */
export const rollBack = ({ send }: ConnectionLease): Promise<unknown> => send('rollback').catch(() => {});
