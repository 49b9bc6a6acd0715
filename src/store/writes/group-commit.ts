/**
 * Group commit for new records: additions that arrive while others are being stored share the next transaction, and with it
 * the cost of a commit, a write to disk. Each is acknowledged after that commit; one that fails does not fail the others, and
 * one that waits for a lock does not delay those of other workspaces.
 */
import { ServiceError } from '../../errors.ts';
import { externalIdCount, textLengthOfAll } from '../../model/fields.ts';
import { createShares } from '../../sharing/shares.ts';
import {
  databaseUnavailable,
  isLockTimeout,
  isTimeout,
  StatementFailed,
  TransactionConflict,
  WorkspaceDeleted,
} from '../connections/database-error.ts';
import type { DatabaseOptions, Driver, Row } from '../connections/driver.ts';
import type { Statements, Transactions } from '../connections/transactions.ts';
import type { Dialect } from '../query/dialect.ts';
import { type Addition, createAdditionStore } from './store-additions.ts';
import { createWaitingAdditions, type Measured } from './waiting-additions.ts';
import type { Work, Written } from './work.ts';

export interface GroupCommit {
  /** Resolves to what the work has returned once it is stored. Rejects with the error of the work or of its transaction. */
  add<T>(addition: Addition & { readonly work: Work<T> }): Promise<Written<T>>;
}

interface Waiting extends Addition, Pick<Measured, 'externalIds' | 'length'> {
  readonly resolve: (written: Written<unknown>) => void;
  readonly reject: (reason: unknown) => void;
}

/** Two, so that an addition that waits until its timeout does not delay all others of its workspace. */
const maxAlonePerWorkspace = 2;

/** Milliseconds that a group waits for a lock: longer than most writes hold one, and short for the other workspaces in the group. */
const maxLockWait = 100;

export function createGroupCommit(
  { transaction, forWorkspace }: Pick<Transactions, 'transaction' | 'forWorkspace'>,
  dialect: Dialect,
  { concurrentGroups }: Pick<Driver, 'concurrentGroups'>,
  { connectionTimeout }: Pick<DatabaseOptions, 'connectionTimeout'>,
): GroupCommit {
  const storeAdditions = createAdditionStore(dialect);
  const waiting = createWaitingAdditions<Waiting>();
  let running = 0;
  /** Limits the additions that have a transaction of their own. */
  const alone = createShares(maxAlonePerWorkspace, {
    milliseconds: connectionTimeout,
    error: () => databaseUnavailable('WORKSPACE_IN_CONFLICT'),
  });
  /** Parts of failed groups that are still being stored, counted by workspace. */
  const inConflict = new Map<number, number>();

  async function runGroups(): Promise<void> {
    while (!waiting.isEmpty()) await store(takeGroup(), transaction);
    running -= 1;
  }

  /** Takes the next group. Additions of workspaces in conflict are stored alone: in a group, they would probably conflict too. */
  function takeGroup(): readonly Waiting[] {
    const [group, others] = [[] as Waiting[], [] as Waiting[]];
    for (const addition of waiting.takeGroup()) (inConflict.has(addition.workspaceId) ? others : group).push(addition);
    for (const addition of others) void storeAlone(addition);
    return group;
  }

  async function store(group: readonly Waiting[], begin: Statements['transaction']): Promise<void> {
    if (group.length === 0) return;
    const workspaces = byWorkspace(group);
    for (const uniqueness of ['database', 'lookup'] as const) {
      try {
        return settle(
          group,
          await storeAdditions(group, uniqueness, begin, { maxAttempts: 1, lockTimeout: maxLockWait }),
        );
      } catch (error) {
        if (failsWholeGroup(error, group.length, workspaces.size)) return rejectAll(group, error);
        // The group would fail again, and its other additions would wait a second time.
        if (concernsSome(error)) break;
      }
    }
    // The next group does not wait for what follows.
    if (workspaces.size === 1) {
      // Two additions conflict, or one always fails, or waits for a lock: give each its own transaction.
      for (const addition of group) void apart(addition.workspaceId, () => storeAlone(addition));
      return;
    }
    // Locks and conflicts are always those of one workspace, as is its server in a cluster.
    for (const [workspaceId, additions] of workspaces) {
      void apart(workspaceId, () => store(additions, forWorkspace(workspaceId).transaction));
    }
  }

  /** Keeps further additions of the workspace out of groups while the work runs: in a group, all would wait for the same lock again. */
  async function apart(workspaceId: number, work: () => Promise<void>): Promise<void> {
    inConflict.set(workspaceId, (inConflict.get(workspaceId) ?? 0) + 1);
    await work();
    const left = (inConflict.get(workspaceId) ?? 1) - 1;
    if (left > 0) inConflict.set(workspaceId, left);
    else inConflict.delete(workspaceId);
  }

  /** Stores an addition on connections of its workspace, so that the workspace waits for itself. */
  const storeAlone = (addition: Waiting): Promise<void> =>
    alone(addition.workspaceId, () =>
      storeAdditions([addition], 'lookup', forWorkspace(addition.workspaceId).transaction),
    ).then(
      (outcomes) => settle([addition], outcomes),
      (error) => rejectAll([addition], error),
    );

  return {
    add: (addition) =>
      new Promise((resolve, reject) => {
        const { drafts } = addition;
        const entry: Waiting = {
          ...addition,
          externalIds: externalIdsIn(drafts),
          length: textLengthOfAll(drafts),
          // The cast is safe: it is what this work has returned.
          resolve: resolve as Waiting['resolve'],
          reject,
        };
        // In a group, it would probably conflict too.
        if (inConflict.has(entry.workspaceId)) return void storeAlone(entry);
        waiting.add(entry);
        if (running >= concurrentGroups) return;
        running += 1;
        // Later, so that requests that have already arrived are read first and can join the group.
        setImmediate(() => void runGroups());
      }),
  };
}

const externalIdsIn = (records: readonly Row[]): number =>
  records.reduce((sum, { externalIds }) => sum + externalIdCount(externalIds ?? {}), 0);

function byWorkspace<A extends Addition>(group: readonly A[]): ReadonlyMap<number, readonly A[]> {
  const workspaces = new Map<number, A[]>();
  for (const addition of group) {
    const additions = workspaces.get(addition.workspaceId);
    if (additions) additions.push(addition);
    else workspaces.set(addition.workspaceId, [addition]);
  }
  return workspaces;
}

function settle(group: readonly Waiting[], outcomes: readonly PromiseSettledResult<Written<unknown>>[]): void {
  outcomes.forEach((outcome, index) => {
    if (outcome.status === 'fulfilled') group[index]?.resolve(outcome.value);
    else group[index]?.reject(outcome.reason);
  });
}

function rejectAll(group: readonly Waiting[], error: unknown): void {
  for (const { reject } of group) reject(error);
}

/** True if the cause may be a part of the group, which would fail again in the same group. */
const concernsSome = (error: unknown): boolean => error instanceof StatementFailed || error instanceof WorkspaceDeleted;

/**
 * True if a retry cannot help, because the database is unavailable, or might store the group twice. Alone,
 * an addition may wait for a lock; one that takes too long for another reason will do so again.
 */
const failsWholeGroup = (error: unknown, size: number, workspaces: number): boolean => {
  if (!(error instanceof ServiceError) || error instanceof TransactionConflict || isLockTimeout(error)) return false;
  if (isTimeout(error)) return size === 1;
  return !concernsSome(error) || workspaces === 1;
};
