/**
 * Group commit for new records: additions that arrive while others are being stored share the next transaction, and with it
 * the cost of a commit, a write to disk. Each is acknowledged after that commit; one that fails does not fail the others.
 */
import { ServiceError } from '../errors.ts';
import { textLengthOfAll } from '../model/fields.ts';
import { newIds } from '../model/ids.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { type Author, creationOf, logChanges } from './changes.ts';
import type { GroupCheckStore } from './check-store.ts';
import { databaseUnavailable, isTimeout, TransactionConflict, WorkspaceClosed } from './database-error.ts';
import type { Dialect } from './dialect.ts';
import type { DatabaseOptions, Driver, Row, Run } from './driver.ts';
import { creationResult, type IdempotencyKey, idempotencyResults, idempotencyRow } from './idempotency.ts';
import { createShares } from './shares.ts';
import type { Transactions } from './transactions.ts';
import type { Usage } from './usage.ts';
import { createWaitingAdditions } from './waiting-additions.ts';

/** New records, to be stored all or none. */
export interface Addition {
  readonly workspaceId: string;
  readonly kind: RecordKind;
  /** They get their IDs and their workspace when they are accepted. */
  readonly records: readonly Draft[];
  readonly check: Check;
  readonly author: Author;
  readonly usage: Usage;
  /** The key under which the result is stored. */
  readonly key?: IdempotencyKey | undefined;
}

/** A record without its ID and workspace. */
export interface Draft {
  id?: string;
  workspaceId?: string;
  readonly [field: string]: unknown;
}

/**
 * Throws a ServiceError below 500 if the records may not be stored. With `uniqueness: 'database'` it may skip the lookup of
 * duplicate unique values: the database then rejects the transaction, and the check runs again with `'lookup'`.
 */
export type Check = (store: GroupCheckStore, uniqueness: 'lookup' | 'database') => Promise<void>;

export interface GroupCommit {
  /** Resolves once the records are stored. Rejects with the error of their check or of their transaction. */
  add(addition: Addition): Promise<void>;
}

interface Waiting extends Addition {
  /** Characters of all texts. */
  readonly length: number;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Two, so that an addition that waits until its timeout does not delay all others of its workspace. */
const maxAlonePerWorkspace = 2;

/** `openCheckStore` is called once per group and workspace. */
export function createGroupCommit(
  { transaction }: Pick<Transactions, 'transaction'>,
  dialect: Dialect,
  { concurrentGroups }: Pick<Driver, 'concurrentGroups'>,
  { connectionTimeout }: Pick<DatabaseOptions, 'connectionTimeout'>,
  openCheckStore: (run: Run, workspaceId: string) => GroupCheckStore,
): GroupCommit {
  const waiting = createWaitingAdditions<Waiting>();
  let running = 0;
  /** For additions that have a transaction of their own. */
  const alone = createShares(maxAlonePerWorkspace, connectionTimeout, () =>
    databaseUnavailable('WORKSPACE_IN_CONFLICT'),
  );
  /** The number of additions from failed groups that are still being stored, by workspace. */
  const inConflict = new Map<string, number>();

  async function runGroups(): Promise<void> {
    while (!waiting.isEmpty()) await store(waiting.takeGroup());
    running -= 1;
  }

  async function store(group: readonly Waiting[]): Promise<void> {
    for (const uniqueness of ['database', 'lookup'] as const) {
      try {
        return settle(group, await storeTogether(group, uniqueness, { maxAttempts: 1 }));
      } catch (error) {
        if (failsWholeGroup(error, group.length)) return rejectAll(group, error);
        // One addition caused the timeout: the others must not wait for it a second time.
        if (isTimeout(error) || error instanceof WorkspaceClosed) break;
      }
    }
    // Two additions conflict, or one always fails: give each its own transaction. The next group does not wait for them.
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
    alone(addition.workspaceId, () => storeTogether([addition], 'lookup')).then(
      (outcomes) => settle([addition], outcomes),
      (error) => rejectAll([addition], error),
    );

  /** Stores the additions that their checks accept, and returns the outcome of each check. Throws if none is stored. */
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
      const changes = accepted.map((addition) => creationOf(addition, addition.records));
      const keyed = idempotencyRowsOf(accepted);
      // Looks ahead one statement: a single insert, without a lookup before it, needs no BEGIN and COMMIT.
      const second = statements.next();
      const together = hasRead || !second.done ? undefined : dialect.withChanges(first.value, changes, keyed);
      if (together) {
        await runAlone(together.sql, together.values);
        return outcomes;
      }
      await run(first.value.sql, first.value.values);
      for (let next = second; !next.done; next = statements.next()) await run(next.value.sql, next.value.values);
      const sharedBy =
        (additions: readonly Addition[]): Run =>
        (sql, values) => {
          for (const { usage } of additions) usage.statements += 1;
          return run(sql, values);
        };
      const storeKeys = sharedBy(accepted.filter(({ key }) => key));
      for (const { sql, values } of dialect.inserts(idempotencyResults, keyed)) await storeKeys(sql, values);
      await logChanges(dialect, sharedBy(accepted), changes);
      return outcomes;
    }, options);

  /** Runs the checks concurrently, so that their lookups can be combined into one statement. */
  async function checkAll(group: readonly Addition[], uniqueness: 'lookup' | 'database', run: Run) {
    const stores = new Map<string, GroupCheckStore>();
    const storeOf = (workspaceId: string): GroupCheckStore => {
      const store = stores.get(workspaceId) ?? openCheckStore(run, workspaceId);
      stores.set(workspaceId, store);
      return store;
    };
    const outcomes = await Promise.allSettled(
      group.map(({ workspaceId, check, usage }) => check(countLookups(storeOf(workspaceId), usage), uniqueness)),
    );
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected' && !isRejection(outcome.reason)) throw outcome.reason;
    }
    return outcomes;
  }

  function* insertsOf(additions: readonly Addition[]) {
    for (const kind of new Set(additions.map((addition) => addition.kind))) {
      const ofKind = additions.filter((addition) => addition.kind === kind);
      const records = ofKind.flatMap((addition) => addition.records);
      for (const statement of dialect.inserts(kind, records)) {
        for (const { usage } of ofKind) usage.statements += 1;
        yield statement;
      }
    }
  }

  return {
    add: (addition) =>
      new Promise((resolve, reject) => {
        const entry = { ...addition, length: textLengthOfAll(addition.records), resolve, reject };
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

/** Called just before the insert, so that with a single writer the order of IDs is the order of commits. */
export function addIds({ kind, workspaceId, records }: Pick<Addition, 'kind' | 'workspaceId' | 'records'>): void {
  newIds(kind.idPrefix, records.length).forEach((id, index) => {
    Object.assign(records[index] as Draft, { id, workspaceId });
  });
}

/** In the order of their keys, so that of two transactions with the same ones, one waits for the other at the first of them. */
const idempotencyRowsOf = (additions: readonly Addition[]): Row[] =>
  additions
    .flatMap(({ workspaceId, key, records }) =>
      key
        ? [{ key, row: idempotencyRow(workspaceId, key, creationResult(String(records[0]?.id), records.length)) }]
        : [],
    )
    .sort((a, b) => (a.key.key < b.key.key ? -1 : 1))
    .map(({ row }) => row);

/** Counts lookups in the usage of one addition. */
const countLookups = (store: GroupCheckStore, usage: Usage): GroupCheckStore => ({
  existingValues(...lookup) {
    usage.statements += 1;
    return store.existingValues(...lookup);
  },
  idempotencyResults(keys) {
    usage.statements += 1;
    return store.idempotencyResults(keys);
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

/** Whether a rule rejects the records. Any other error of a check is a failure of the database or of this service. */
export const isRejection = (error: unknown): boolean => error instanceof ServiceError && error.status < 500;

/**
 * Whether a retry is useless, because the database is unavailable, or wrong, because the group may be stored. A timeout is
 * caused by one addition of the group, and so is the name of a workspace that was given up: unless it is the only one, each is retried alone.
 */
const failsWholeGroup = (error: unknown, size: number): boolean =>
  error instanceof ServiceError &&
  !(error instanceof TransactionConflict) &&
  !((isTimeout(error) || error instanceof WorkspaceClosed) && size > 1);
