/**
 * The queue of writes. Those that wait together share a commit, a write to disk, and are acknowledged after it.
 *
 * SQLite has one writer, and therefore one queue. On Postgres a transaction is alone, and waits for a connection only; the creations of each
 * workspace have a queue, because they wait for the row of its change number anyway. Workspaces take turns: one that writes much waits for
 * itself.
 *
 * The states of a write, and what moves it on:
 *
 *   waiting   --- no connection in time -----------------------------> rejected (503)
 *   waiting   --- taken with other creations of its kind ------------> one statement, a transaction by itself
 *     statement --- succeeds ----------------------------------------> resolved
 *     statement --- may have failed for another creation ------------> waiting again, as a transaction
 *     statement --- fails otherwise ---------------------------------> rejected
 *   waiting   --- taken as a transaction, the first one or small ----> open (BEGIN, or a savepoint)
 *     open      --- its work fails, rolled back to its savepoint ----> done, with its error
 *     open      --- its work fails, the transaction is lost ---------> rejected; those done before it wait again
 *     open      --- its work succeeds -------------------------------> done
 *     done      --- COMMIT succeeds ---------------------------------> resolved, or rejected with its error
 *     done      --- COMMIT fails ------------------------------------> rejected: a 503 if a retry may store it twice
 *   rejected with a conflict ----------------------------------------> waiting again, at most six times
 *
 * Invariants: a write is resolved only after the commit that stores it. A write that runs again has stored nothing. The error of a savepoint
 * is held until the commit, since a write of the same group, which may not be stored either, may have caused it. After any error the
 * connection is proven idle or closed (connections.ts).
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ServiceError } from '../../errors.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import {
  type ConnectionLease,
  type Connections,
  inTransaction,
  rollBack,
  startWaiting,
  type Work,
} from '../connections/connections.ts';
import { databaseUnavailable, TransactionConflict, WorkspaceDeleted } from '../connections/database-error.ts';
import type { DatabaseOptions, Driver } from '../connections/driver.ts';
import type { Dialect, Insert } from '../query/dialect.ts';

/** Work that conflicts with other transactions runs again, a few times. */
export type RunTransaction = <T>(
  work: Work<T>,
  options?: QueueOptions<T> & { readonly maxAttempts?: number },
) => Promise<T>;

interface QueueOptions<T> {
  readonly workspaceId?: number | undefined;
  /** True if it is done soon: it may join others, which are acknowledged after it. */
  readonly isSmall?: boolean;
  /** Does what the work would do if the database refuses nothing, and is tried first. */
  readonly creation?: QueuedCreation<T> | undefined;
}

/** A creation (see apply-changes.ts), which is stored by the same statement as others of its kind. */
export interface QueuedCreation<T> {
  readonly kind: RecordKind;
  /** As a part of the most that a statement stores. */
  readonly size: number;
  /** Called when the records are stored: their IDs are then in the order of the commits. */
  toInsert(): Promise<{ readonly insert: Insert; readonly returned: T }>;
}

interface QueuedWrite extends QueueOptions<unknown> {
  readonly work: Work<unknown>;
  isInTime(): boolean;
  resolve(returned: unknown): void;
  reject(reason: unknown): void;
}

interface Queue {
  readonly workspaceId: number | undefined;
  waiting: QueuedWrite[];
  /** The write that was taken last. */
  last?: QueuedWrite | undefined;
  /** How many groups are being stored. */
  running: number;
}

/** Retry n waits a random time below `basePauseMs * 2 ** n`, so that the same two transactions do not meet again. */
const basePauseMs = 10;

/** After this time no other transaction joins a shared commit. */
const maxSharedMs = 50;

/** Part of a statement kept free for small creations behind a large first one. */
const reserve = 0.1;

export function createQueue(
  { useToWrite }: Pick<Connections, 'useToWrite'>,
  { hasGroupsByWorkspace }: Pick<Driver, 'hasGroupsByWorkspace'>,
  { begin, insertWithLog }: Pick<Dialect, 'begin' | 'insertWithLog'>,
  { connectionTimeout }: Pick<DatabaseOptions, 'connectionTimeout'>,
): RunTransaction {
  const queues = new Map<number | undefined, Queue>();
  // On Postgres one group is sent while another is synced to disk. More would be smaller, and wait for each other at the change number.
  const maxRunning = hasGroupsByWorkspace ? 2 : 1;

  const enqueue = <T>(work: Work<T>, options: QueueOptions<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const isInTime = startWaiting(connectionTimeout, reject);
      // The cast is safe: it is resolved with what its own work returns.
      add({ ...options, work, isInTime, resolve: resolve as QueuedWrite['resolve'], reject });
    });

  function add(added: QueuedWrite): void {
    const isAlone = hasGroupsByWorkspace && !added.creation;
    const workspaceId = hasGroupsByWorkspace ? added.workspaceId : undefined;
    const found = isAlone ? undefined : queues.get(workspaceId);
    const queue = found ?? { workspaceId, waiting: [], running: 0 };
    if (!isAlone) queues.set(workspaceId, queue);
    queue.waiting.push(added);
    if (queue.running === maxRunning) return;
    queue.running += 1;
    // Later, so that requests that have already arrived are read first and can join the group.
    setImmediate(() => void drain(queue));
  }

  async function drain(queue: Queue): Promise<void> {
    while (queue.waiting.length > 0) {
      await useToWrite(queue.workspaceId, (connection) => storeNext(connection, queue)).catch((error: unknown) => {
        // There is no connection for any of them.
        for (const { isInTime, reject } of queue.waiting.splice(0)) if (isInTime()) reject(error);
      });
    }
    queue.running -= 1;
    if (queue.running === 0 && queues.get(queue.workspaceId) === queue) queues.delete(queue.workspaceId);
  }

  async function storeNext(connection: ConnectionLease, queue: Queue): Promise<void> {
    const first = takeNext(queue, () => true);
    if (first?.creation) await storeCreations(connection, takeSameKind(queue, first, first.creation));
    else if (first) await shareCommit(connection, queue, first);
  }

  async function storeCreations(connection: ConnectionLease, taken: readonly QueuedWrite[]): Promise<void> {
    const group = taken.filter(({ isInTime }) => isInTime());
    const creations = group.flatMap(({ creation }) => creation ?? []);
    const [first] = creations;
    if (!first || !insertWithLog) return;
    try {
      const made = await Promise.all(creations.map((creation) => creation.toInsert()));
      const inserts = made.map(({ insert }) => insert);
      const { sql, values, setUp } = insertWithLog(first.kind, inserts);
      await connection.send(sql, values, 'alone', setUp);
      for (const [index, { resolve }] of group.entries()) resolve(made[index]?.returned);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  /** After the first transaction, only small ones join, each in a savepoint. */
  async function shareCommit(connection: ConnectionLease, queue: Queue, first: QueuedWrite): Promise<void> {
    const { send } = connection;
    const done: { readonly write: QueuedWrite; readonly isRolledBack?: true; settle(): void }[] = [];
    const end = Date.now() + maxSharedMs;
    const takeJoining = () => (Date.now() < end ? takeNext(queue, mayShareCommit) : undefined);
    let isBegun = false;
    for (let next: QueuedWrite | undefined = first; next; next = takeJoining()) {
      const write = next;
      if (!write.isInTime()) continue;
      let opened: 'transaction' | 'savepoint' | undefined;
      const open = () => {
        opened = isBegun ? 'savepoint' : 'transaction';
        isBegun = true;
        return send(opened === 'savepoint' ? 'savepoint own' : begin);
      };
      try {
        const returned = await inTransaction(connection, open, write.work);
        if (opened === 'savepoint') await send('release own');
        done.push({ write, settle: () => write.resolve(returned) });
      } catch (error) {
        if (opened === undefined) {
          write.reject(error);
        } else if (opened === 'savepoint' && (await rollBackSavepoint(connection))) {
          done.push({ write, isRolledBack: true, settle: () => write.reject(error) });
        } else {
          await rollBack(connection);
          write.reject(error);
          queue.waiting.unshift(...done.map((before) => before.write));
          return;
        }
      }
    }
    try {
      if (isBegun) await send('commit', [], 'commit');
      for (const { settle } of done) settle();
    } catch (error) {
      await rollBack(connection);
      for (const { write, isRolledBack } of done) write.reject(isRolledBack ? uncommittedError(error) : error);
    }
  }

  return async (work, { creation, maxAttempts = 6, ...options } = {}) => {
    for (let attempts = creation && insertWithLog ? 0 : 1; ; attempts += 1) {
      try {
        return await enqueue(work, attempts === 0 ? { ...options, creation } : options);
      } catch (error) {
        // Nobody knows which of a group the database has refused: each then looks up everything in a transaction.
        if (attempts === 0 && isWorthRetryingAlone(error)) continue;
        if (!(error instanceof TransactionConflict)) throw error;
        if (attempts >= maxAttempts) throw error.afterLastAttempt();
        await pause(Math.random() * basePauseMs * 2 ** attempts);
      }
    }
  };
}

/** Prefers another workspace than that of the last one, and after a large write a small one, which waits for one of its workspace at most. */
function takeNext(queue: Queue, mayBeTaken: (write: QueuedWrite) => boolean): QueuedWrite | undefined {
  const { waiting, last } = queue;
  const all = waiting.filter(mayBeTaken);
  const others = all.filter(({ workspaceId }) => workspaceId !== last?.workspaceId);
  const candidates = others.length > 0 ? others : all;
  const small = last && !last.isSmall ? candidates.find(({ isSmall }) => isSmall) : undefined;
  const next = small ?? candidates[0];
  if (!next) return undefined;
  waiting.splice(waiting.indexOf(next), 1);
  queue.last = next;
  return next;
}

const mayShareCommit = ({ isSmall, creation }: QueuedWrite): boolean => isSmall === true && !creation;

/** Takes the creations of the first one's kind, as many as one statement stores, and returns them behind it. */
function takeSameKind(queue: Queue, first: QueuedWrite, { kind, size }: QueuedCreation<unknown>): QueuedWrite[] {
  const group = [first];
  let total = size;
  queue.waiting = queue.waiting.filter((write) => {
    const { creation } = write;
    if (creation?.kind !== kind || total + creation.size > 1 + reserve) return true;
    total += creation.size;
    group.push(write);
    return false;
  });
  return group;
}

/**
 * A rolled-back savepoint is not stored, even if the shared commit fails. Its error becomes a 503: it may have collided with a write of the
 * same group that was lost.
 */
const uncommittedError = (error: unknown): unknown =>
  error instanceof ServiceError ? databaseUnavailable(String(error.cause)) : error;

const rollBackSavepoint = (connection: ConnectionLease): Promise<boolean> =>
  connection
    .send('rollback to own')
    .then(() => connection.send('release own'))
    .then(
      () => connection.state !== 'lost',
      () => false,
    );

/** After any other error, trying each by itself is useless, or could store it twice. */
const isWorthRetryingAlone = (error: unknown): boolean =>
  !(error instanceof ServiceError) || error instanceof TransactionConflict || error instanceof WorkspaceDeleted;
