/**
 * Group commit for records that are added: additions that arrive while others are stored share the next transaction, and with
 * it the cost of a commit, a write to the disk. Each is acknowledged after that commit, and one that fails fails alone.
 */
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';
import { ServiceError } from '../errors.ts';
import { textLength } from '../model/fields.ts';
import { newId } from '../model/ids.ts';
import type { RecordKind } from '../model/record-kind.ts';
import type { CheckStore } from './check-store.ts';
import { isTimeout, TransactionConflict } from './database-error.ts';
import type { Dialect } from './dialect.ts';
import type { Driver, Run } from './driver.ts';
import type { Transactions } from './transactions.ts';
import type { Usage } from './usage.ts';

/** Records to be added, all or none of them. */
export interface Addition {
  readonly workspaceId: string;
  readonly kind: RecordKind;
  /** They get their IDs and their workspace when they are accepted. */
  readonly records: readonly Draft[];
  readonly check: Check;
  readonly usage: Usage;
}

/** A record without its ID and workspace. */
export interface Draft {
  id?: string;
  workspaceId?: string;
  readonly [field: string]: unknown;
}

/**
 * Throws a ServiceError below 500 when the records may not be stored. With `uniqueness: 'database'` it may leave unique values
 * that are taken to the database, which refuses the transaction: then it is run again with `'lookup'`.
 */
export type Check = (store: CheckStore, uniqueness: 'lookup' | 'database') => Promise<void>;

export interface GroupCommit {
  /** Resolves once the records are stored. Throws what their check throws, and what a transaction does. */
  add(addition: Addition): Promise<void>;
}

interface Waiting extends Addition {
  /** Characters of all texts. */
  readonly length: number;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Records, and characters, in one transaction, unless a single addition has more: the next group need not wait long. */
const maxRecords = 2_000;
const maxLength = 4_000_000;

/** Two, so that one that waits until its timeout does not hold up all others of its workspace. */
const singlesAtOnce = 2;
const maxWorkspaces = 10_000;

/** `openCheckStore` is called once for all additions of a group to the same workspace. */
export function createGroupCommit(
  { transaction }: Pick<Transactions, 'transaction'>,
  { inserts }: Pick<Dialect, 'inserts'>,
  { concurrentGroups }: Pick<Driver, 'concurrentGroups'>,
  openCheckStore: (run: Run, workspaceId: string) => CheckStore,
): GroupCommit {
  const waiting: Waiting[] = [];
  let running = 0;
  /** Additions that have a transaction each, by workspace: few at once, so that none takes all connections. */
  const singles = new LRUCache<string, LimitFunction>({ max: maxWorkspaces, memoMethod: () => pLimit(singlesAtOnce) });
  /** The number of additions of failed groups that are not stored yet, by workspace. */
  const inConflict = new Map<string, number>();

  async function runGroups(): Promise<void> {
    while (waiting.length > 0) await store(nextGroup());
    running -= 1;
  }

  /** As many as there is room for, and at least one. */
  function nextGroup(): Waiting[] {
    let records = 0;
    let length = 0;
    const end = waiting.findIndex((addition, index) => {
      records += addition.records.length;
      length += addition.length;
      return index > 0 && (records > maxRecords || length > maxLength);
    });
    return waiting.splice(0, end < 0 ? waiting.length : end);
  }

  async function store(group: readonly Waiting[]): Promise<void> {
    for (const uniqueness of ['database', 'lookup'] as const) {
      try {
        return settle(group, await storeTogether(group, uniqueness, { maxAttempts: 1 }));
      } catch (error) {
        if (failsWholeGroup(error, group.length)) return rejectAll(group, error);
        // The others need not wait for it once more.
        if (isTimeout(error)) break;
      }
    }
    // Two additions conflict, or one always fails: give each its own transaction. The next group need not wait.
    for (const addition of group) void storeAfterConflict(addition);
  }

  async function storeAfterConflict(addition: Waiting): Promise<void> {
    const { workspaceId } = addition;
    inConflict.set(workspaceId, (inConflict.get(workspaceId) ?? 0) + 1);
    await storeAlone(addition);
    const left = (inConflict.get(workspaceId) ?? 1) - 1;
    if (left > 0) inConflict.set(workspaceId, left);
    else inConflict.delete(workspaceId);
  }

  const storeAlone = (addition: Waiting): Promise<void> =>
    singles.memo(addition.workspaceId)(() =>
      storeTogether([addition], 'lookup').then(
        (outcomes) => settle([addition], outcomes),
        (error) => rejectAll([addition], error),
      ),
    );

  /** Returns for each addition whether it was accepted, and is stored. Throws when none is stored. */
  const storeTogether = (group: readonly Addition[], uniqueness: 'lookup' | 'database', options = {}) =>
    transaction(async (run, runAlone) => {
      let hasRead = false;
      const read: Run = (sql, values) => {
        hasRead = true;
        return run(sql, values);
      };
      const outcomes = await checkAll(group, uniqueness, read);
      const accepted = group.filter((_, index) => outcomes[index]?.status === 'fulfilled');
      for (const addition of accepted) addIds(addition);
      const statements = insertsOf(accepted);
      const first = statements.next();
      if (first.done) return outcomes;
      const second = statements.next();
      const isOnlyStatement = !hasRead && second.done;
      await (isOnlyStatement ? runAlone : run)(first.value.sql, first.value.values);
      for (let next = second; !next.done; next = statements.next()) await run(next.value.sql, next.value.values);
      return outcomes;
    }, options);

  /** All at once, so that lookups of the same step can become one statement. */
  async function checkAll(group: readonly Addition[], uniqueness: 'lookup' | 'database', run: Run) {
    const stores = new Map<string, CheckStore>();
    const storeOf = (workspaceId: string): CheckStore => {
      const store = stores.get(workspaceId) ?? openCheckStore(run, workspaceId);
      stores.set(workspaceId, store);
      return store;
    };
    const outcomes = await Promise.allSettled(
      group.map(({ workspaceId, check, usage }) => check(countLookups(storeOf(workspaceId), usage), uniqueness)),
    );
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected' && !isRefusal(outcome.reason)) throw outcome.reason;
    }
    return outcomes;
  }

  function* insertsOf(additions: readonly Addition[]) {
    for (const kind of new Set(additions.map((addition) => addition.kind))) {
      const ofKind = additions.filter((addition) => addition.kind === kind);
      const records = ofKind.flatMap((addition) => addition.records);
      for (const statement of inserts(kind, records)) {
        for (const { usage } of ofKind) usage.statements += 1;
        yield statement;
      }
    }
  }

  return {
    add: (addition) =>
      new Promise((resolve, reject) => {
        const entry = { ...addition, length: lengthOf(addition), resolve, reject };
        // It would probably conflict too.
        if (inConflict.has(entry.workspaceId)) return void storeAlone(entry);
        waiting.push(entry);
        if (running >= concurrentGroups) return;
        running += 1;
        // Requests that have arrived by now are still to be read.
        setImmediate(() => void runGroups());
      }),
  };
}

/** About how much memory the records take on their way. */
function lengthOf({ records }: Addition): number {
  let length = 0;
  for (const record of records) for (const value of Object.values(record)) length += textLength(value);
  return length;
}

/** As late as this, so that where there is one writer the order of IDs is that of commits. */
export function addIds({ kind, workspaceId, records }: Pick<Addition, 'kind' | 'workspaceId' | 'records'>): void {
  for (const record of records) {
    record.id = newId(kind.idPrefix);
    record.workspaceId = workspaceId;
  }
}

/** Counts the lookups of one addition. */
const countLookups = (store: CheckStore, usage: Usage): CheckStore => ({
  existingValues(...lookup) {
    usage.statements += 1;
    return store.existingValues(...lookup);
  },
});

function settle(group: readonly Waiting[], outcomes: readonly PromiseSettledResult<void>[]): void {
  outcomes.forEach((outcome, index) => {
    if (outcome.status === 'fulfilled') group[index]?.resolve();
    else group[index]?.reject(outcome.reason);
  });
}

function rejectAll(group: readonly Waiting[], error: unknown): void {
  for (const { reject } of group) reject(error);
}

/** A rule refuses the records. */
const isRefusal = (error: unknown): boolean => error instanceof ServiceError && error.status < 500;

/**
 * The database is unavailable, or may have stored the group: nothing to retry. A statement that timed out belongs to one of
 * the group; it fails the whole group only where that is all of it.
 */
const failsWholeGroup = (error: unknown, size: number): boolean =>
  error instanceof ServiceError && !(error instanceof TransactionConflict) && !(isTimeout(error) && size > 1);
