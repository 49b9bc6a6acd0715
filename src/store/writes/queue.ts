/**
 * The queue of writes. Those that wait together share a commit, a write to disk, and are acknowledged after it.
 *
 * SQLite has one writer, and therefore one queue. Its next group is either of creations: one statement stores them all, and is a transaction by
 * itself. Or it is of transactions, one after the other under one BEGIN and COMMIT. Workspaces take turns: one that writes much waits for itself.
 *
 * On Postgres a transaction is alone, and waits for a connection only. The creations of each workspace have a queue: they wait for the row of
 * its change number anyway, and never for another workspace.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ServiceError } from '../../errors.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import {
  type Connection,
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
export type RunTransaction = <T>(work: Work<T>, options?: Queued<T> & { readonly maxAttempts?: number }) => Promise<T>;

interface Queued<T> {
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
  /** Makes the records when they are stored: their IDs are then in the order of the commits. */
  make(): Promise<{ readonly insert: Insert; readonly returned: T }>;
}

interface Write extends Queued<unknown> {
  readonly work: Work<unknown>;
  isInTime(): boolean;
  resolve(returned: unknown): void;
  reject(reason: unknown): void;
}

interface Queue {
  readonly workspaceId: number | undefined;
  waiting: Write[];
  /** The write that was taken last. */
  last?: Write | undefined;
  /** How many groups are being stored. */
  running: number;
}

/** Milliseconds. Retry n waits a random time below `basePause * 2 ** n`, so that the same two transactions do not meet again. */
const basePause = 10;

/** Milliseconds after which no other transaction joins a shared commit. */
const maxSharedTime = 50;

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

  const write = <T>(work: Work<T>, options: Queued<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const isInTime = startWaiting(connectionTimeout, reject);
      // The cast is safe: it is resolved with what its own work returns.
      enqueue({ ...options, work, isInTime, resolve: resolve as Write['resolve'], reject });
    });

  function enqueue(added: Write): void {
    const isAlone = hasGroupsByWorkspace && !added.creation;
    const workspaceId = hasGroupsByWorkspace ? added.workspaceId : undefined;
    const found = isAlone ? undefined : queues.get(workspaceId);
    const queue = found ?? { workspaceId, waiting: [], running: 0 };
    if (!isAlone) queues.set(workspaceId, queue);
    queue.waiting.push(added);
    if (queue.running === maxRunning) return;
    queue.running += 1;
    // Later, so that requests that have already arrived are read first and can join the group.
    setImmediate(() => void storeAll(queue));
  }

  async function storeAll(queue: Queue): Promise<void> {
    while (queue.waiting.length > 0) {
      await useToWrite(queue.workspaceId, (connection) => storeNext(connection, queue)).catch((error: unknown) => {
        // There is no connection for any of them.
        for (const { isInTime, reject } of queue.waiting.splice(0)) if (isInTime()) reject(error);
      });
    }
    queue.running -= 1;
    if (queue.running === 0 && queues.get(queue.workspaceId) === queue) queues.delete(queue.workspaceId);
  }

  async function storeNext(connection: Connection, queue: Queue): Promise<void> {
    const first = takeNext(queue, () => true);
    if (first?.creation) await storeCreations(connection, takeAlike(queue, first, first.creation));
    else if (first) await shareCommit(connection, queue, first);
  }

  async function storeCreations(connection: Connection, taken: readonly Write[]): Promise<void> {
    const group = taken.filter(({ isInTime }) => isInTime());
    const creations = group.flatMap(({ creation }) => creation ?? []);
    const [first] = creations;
    if (!first || !insertWithLog) return;
    try {
      const made = await Promise.all(creations.map((creation) => creation.make()));
      const inserts = made.map(({ insert }) => insert);
      const { sql, values, setUp } = insertWithLog(first.kind, inserts);
      await connection.send(sql, values, 'alone', setUp);
      for (const [index, { resolve }] of group.entries()) resolve(made[index]?.returned);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  /**
   * After the first transaction, only small ones join, and each has a savepoint. One that fails is undone alone, and told so after the commit:
   * the reason may be what another one has written. Where that is impossible, because the database has undone everything or the connection is
   * in doubt, those before it run again.
   */
  async function shareCommit(connection: Connection, queue: Queue, first: Write): Promise<void> {
    const { send } = connection;
    const done: { readonly write: Write; readonly isUndone?: true; settle(): void }[] = [];
    const end = Date.now() + maxSharedTime;
    const takeJoining = () => (Date.now() < end ? takeNext(queue, mayJoin) : undefined);
    let isBegun = false;
    for (let next: Write | undefined = first; next; next = takeJoining()) {
      const own = next;
      if (!own.isInTime()) continue;
      let opened: 'transaction' | 'savepoint' | undefined;
      const open = () => {
        opened = isBegun ? 'savepoint' : 'transaction';
        isBegun = true;
        return send(opened === 'savepoint' ? 'savepoint own' : begin);
      };
      try {
        const returned = await inTransaction(connection, open, own.work);
        if (opened === 'savepoint') await send('release own');
        done.push({ write: own, settle: () => own.resolve(returned) });
      } catch (error) {
        if (opened === undefined) {
          own.reject(error);
        } else if (opened === 'savepoint' && (await undo(connection))) {
          done.push({ write: own, isUndone: true, settle: () => own.reject(error) });
        } else {
          await rollBack(connection);
          own.reject(error);
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
      for (const { write, isUndone } of done) write.reject(isUndone ? nothingStored(error) : error);
    }
  }

  return async (work, { creation, maxAttempts = 6, ...options } = {}) => {
    for (let attempts = creation && insertWithLog ? 0 : 1; ; attempts += 1) {
      try {
        return await write(work, attempts === 0 ? { ...options, creation } : options);
      } catch (error) {
        // Nobody knows which of a group the database has refused: each then looks up everything in a transaction.
        if (attempts === 0 && mayConcernOne(error)) continue;
        if (!(error instanceof TransactionConflict)) throw error;
        if (attempts >= maxAttempts) throw error.afterLastAttempt();
        await pause(Math.random() * basePause * 2 ** attempts);
      }
    }
  };
}

/** Prefers another workspace than that of the last one, and after a large write a small one, which waits for one of its workspace at most. */
function takeNext(queue: Queue, mayBeTaken: (write: Write) => boolean): Write | undefined {
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

const mayJoin = ({ isSmall, creation }: Write): boolean => isSmall === true && !creation;

/** Takes the creations of the first one's kind, as many as one statement stores, and returns them behind it. */
function takeAlike(queue: Queue, first: Write, { kind, size }: QueuedCreation<unknown>): Write[] {
  const group = [first];
  let total = size;
  queue.waiting = queue.waiting.filter((write) => {
    const own = write.creation;
    if (own?.kind !== kind || total + own.size > 1 + reserve) return true;
    total += own.size;
    group.push(write);
    return false;
  });
  return group;
}

/** A write that was undone is not stored, whatever became of the commit. Its own error may be due to one that is not stored either. */
const nothingStored = (error: unknown): unknown =>
  error instanceof ServiceError ? databaseUnavailable(String(error.cause)) : error;

const undo = (connection: Connection): Promise<boolean> =>
  connection
    .send('rollback to own')
    .then(() => connection.send('release own'))
    .then(
      () => connection.state !== 'lost',
      () => false,
    );

/** After any other error, trying each by itself is useless, or could store it twice. */
const mayConcernOne = (error: unknown): boolean =>
  !(error instanceof ServiceError) || error instanceof TransactionConflict || error instanceof WorkspaceDeleted;
