/**
 * Writes that wait at the same time share a commit, which is one write to disk.
 *
 * SQLite has one writer, and so one queue. On Postgres a transaction waits for a connection only, but the creations of
 * each workspace have a queue: they would wait for the row of its change number anyway. Workspaces take turns.
 *
 * The states of a write:
 *   waiting    no connection in time              -> rejected (503)
 *   waiting    taken with creations of its kind   -> statement, a transaction by itself
 *   waiting    taken first, or small              -> open (BEGIN, or a savepoint)
 *   statement  succeeds                           -> resolved
 *   statement  fails, perhaps by another creation -> waiting, as a transaction
 *   statement  fails otherwise                    -> rejected
 *   open       succeeds                           -> done
 *   open       fails, savepoint rolled back       -> done, with its error
 *   open       fails, transaction rolled back     -> rejected; writes done before it are waiting again
 *   done       COMMIT succeeds                    -> resolved, or rejected with its error
 *   done       COMMIT fails                       -> rejected (503 if it may be stored)
 *   rejected   with a conflict                    -> waiting, in at most six attempts
 *
 * Invariants:
 * - A write is resolved only after the commit that stores it.
 * - A write runs again only if nothing of it is stored.
 * - The error of a rolled-back savepoint is held until the commit. If that fails, the error becomes a 503: a write of
 *   the same group, now lost, may have caused it.
 * - After any error the connection is proven idle or closed (connections.ts).
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ServiceError } from '../../errors.ts';
import { groupSizes } from '../../metrics.ts';
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

export type RunTransaction = <T>(
  work: Work<T>,
  options?: QueueOptions<T> & { readonly maxAttempts?: number },
) => Promise<T>;

interface QueueOptions<T> {
  readonly workspaceId?: number | undefined;
  /** May join another write's commit, which then waits for it. */
  readonly isSmall?: boolean;
  /** Does the same as the work, and is tried first. */
  readonly creation?: QueuedCreation<T> | undefined;
}

export interface QueuedCreation<T> {
  readonly kind: RecordKind;
  /** As a share of a full statement. */
  readonly size: number;
  /** Called right before the statement: IDs are in the order of the commits. */
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
  last?: QueuedWrite | undefined;
  running: number;
}

/** Retry n waits a random time below `basePauseMs * 2 ** n`: writes in conflict must not meet again. */
const basePauseMs = 10;

/** No transaction joins a commit after this time. */
const maxSharedMs = 50;

/** The share of a statement left to small creations after a large first one. */
const reserve = 0.1;

export class WriteQueue {
  readonly #queues = new Map<number | undefined, Queue>();
  readonly #connections: Pick<Connections, 'useToWrite'>;
  readonly #hasQueuePerWorkspace: boolean;
  /** On Postgres one group is sent while another is synced. More groups would be smaller, and wait for each other. */
  readonly #maxRunning: number;
  readonly #dialect: Pick<Dialect, 'begin' | 'insertWithLog'>;
  readonly #connectionTimeout: number;

  constructor(
    connections: Pick<Connections, 'useToWrite'>,
    { hasQueuePerWorkspace }: Pick<Driver, 'hasQueuePerWorkspace'>,
    dialect: Pick<Dialect, 'begin' | 'insertWithLog'>,
    { connectionTimeout }: Pick<DatabaseOptions, 'connectionTimeout'>,
  ) {
    this.#connections = connections;
    this.#hasQueuePerWorkspace = hasQueuePerWorkspace;
    this.#maxRunning = hasQueuePerWorkspace ? 2 : 1;
    this.#dialect = dialect;
    this.#connectionTimeout = connectionTimeout;
  }

  readonly transaction: RunTransaction = async (work, { creation, maxAttempts = 6, ...options } = {}) => {
    for (let attempts = creation && this.#dialect.insertWithLog ? 0 : 1; ; attempts += 1) {
      try {
        return await this.#enqueue(work, attempts === 0 ? { ...options, creation } : options);
      } catch (error) {
        // The database does not say which creation of a group it refused.
        if (attempts === 0 && isWorthRetryingAlone(error)) continue;
        if (!(error instanceof TransactionConflict)) throw error;
        if (attempts >= maxAttempts) throw error.afterLastAttempt();
        await pause(Math.random() * basePauseMs * 2 ** attempts);
      }
    }
  };

  #enqueue<T>(work: Work<T>, options: QueueOptions<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const isInTime = startWaiting(this.#connectionTimeout, reject);
      // Safe: a write is resolved with the result of its work.
      this.#add({ ...options, work, isInTime, resolve: resolve as QueuedWrite['resolve'], reject });
    });
  }

  #add(added: QueuedWrite): void {
    const isAlone = this.#hasQueuePerWorkspace && !added.creation;
    const workspaceId = this.#hasQueuePerWorkspace ? added.workspaceId : undefined;
    const found = isAlone ? undefined : this.#queues.get(workspaceId);
    const queue = found ?? { workspaceId, waiting: [], running: 0 };
    if (!isAlone) this.#queues.set(workspaceId, queue);
    queue.waiting.push(added);
    if (queue.running === this.#maxRunning) return;
    queue.running += 1;
    // Requests that have arrived can then join the group.
    setImmediate(() => void this.#drain(queue));
  }

  async #drain(queue: Queue): Promise<void> {
    const { useToWrite } = this.#connections;
    while (queue.waiting.length > 0) {
      await useToWrite(queue.workspaceId, (connection) => this.#storeNext(connection, queue)).catch(
        (error: unknown) => {
          // No connection can be opened for any of them.
          for (const { isInTime, reject } of queue.waiting.splice(0)) if (isInTime()) reject(error);
        },
      );
    }
    queue.running -= 1;
    if (queue.running === 0 && this.#queues.get(queue.workspaceId) === queue) this.#queues.delete(queue.workspaceId);
  }

  async #storeNext(connection: ConnectionLease, queue: Queue): Promise<void> {
    const { begin, insertWithLog } = this.#dialect;
    const first = takeNext(queue, () => true);
    if (first?.creation && insertWithLog) {
      await storeCreations(connection, insertWithLog, takeSameKind(queue, first, first.creation));
    } else if (first) {
      await shareCommit(connection, begin, queue, first);
    }
  }
}

async function storeCreations(
  connection: ConnectionLease,
  insertWithLog: NonNullable<Dialect['insertWithLog']>,
  taken: readonly QueuedWrite[],
): Promise<void> {
  const group = taken.filter(({ isInTime }) => isInTime());
  const creations = group.flatMap(({ creation }) => creation ?? []);
  const [first] = creations;
  if (!first) return;
  groupSizes.observe(group.length);
  try {
    const stored = await Promise.all(creations.map((creation) => creation.toInsert()));
    const inserts = stored.map(({ insert }) => insert);
    const { sql, values, setUp } = insertWithLog(first.kind, inserts);
    await connection.send(sql, values, 'alone', setUp);
    for (const [index, { resolve }] of group.entries()) resolve(stored[index]?.returned);
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}

async function shareCommit(
  connection: ConnectionLease,
  begin: string,
  queue: Queue,
  first: QueuedWrite,
): Promise<void> {
  const { send } = connection;
  const done: { readonly write: QueuedWrite; readonly isRolledBack?: true; settle(): void }[] = [];
  const end = performance.now() + maxSharedMs;
  const takeJoining = () => (performance.now() < end ? takeNext(queue, mayShareCommit) : undefined);
  let isBegun = false;
  for (let next: QueuedWrite | undefined = first; next; next = takeJoining()) {
    const write = next;
    if (!write.isInTime()) continue;
    let opened: 'transaction' | 'savepoint' | undefined;
    const open = () => {
      opened = isBegun ? 'savepoint' : 'transaction';
      isBegun = true;
      return send(opened === 'savepoint' ? 'savepoint write' : begin);
    };
    try {
      const returned = await inTransaction(connection, open, write.work);
      if (opened === 'savepoint') await send('release write');
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
  groupSizes.observe(done.length);
  try {
    if (isBegun) await send('commit', [], 'commit');
    for (const { settle } of done) settle();
  } catch (error) {
    await rollBack(connection);
    for (const { write, isRolledBack } of done) write.reject(isRolledBack ? uncommittedError(error) : error);
  }
}

/**
 * Prefers a workspace other than the last, and after a large write a small one: it waits for at most one large write of
 * its workspace.
 */
function takeNext(queue: Queue, mayBeTaken: (write: QueuedWrite) => boolean): QueuedWrite | undefined {
  const { waiting, last } = queue;
  const takeable = waiting.filter(mayBeTaken);
  const ofOtherWorkspaces = takeable.filter(({ workspaceId }) => workspaceId !== last?.workspaceId);
  const candidates = ofOtherWorkspaces.length > 0 ? ofOtherWorkspaces : takeable;
  const small = last && !last.isSmall ? candidates.find(({ isSmall }) => isSmall) : undefined;
  const next = small ?? candidates[0];
  if (!next) return undefined;
  waiting.splice(waiting.indexOf(next), 1);
  queue.last = next;
  return next;
}

const mayShareCommit = ({ isSmall, creation }: QueuedWrite): boolean => isSmall === true && !creation;

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

const uncommittedError = (error: unknown): unknown =>
  error instanceof ServiceError ? databaseUnavailable(String(error.cause)) : error;

const rollBackSavepoint = (connection: ConnectionLease): Promise<boolean> =>
  connection
    .send('rollback to write')
    .then(() => connection.send('release write'))
    .then(
      () => connection.state !== 'lost',
      () => false,
    );

const isWorthRetryingAlone = (error: unknown): boolean =>
  !(error instanceof ServiceError) || error instanceof TransactionConflict || error instanceof WorkspaceDeleted;
