/** Stores new records of several requests in one transaction. Which ones, and what happens if it fails, is up to group-commit.ts. */
import { ServiceError } from '../errors.ts';
import { newIds } from '../model/ids.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { type Author, creationOf, logChanges } from './changes.ts';
import type { GroupCheckStore } from './check-store.ts';
import type { Dialect, NewRecords } from './dialect.ts';
import type { Run } from './driver.ts';
import { creationResult, type IdempotencyKey, idempotencyResults, idempotencyRow, keyRowsOf } from './idempotency.ts';
import type { Statements, TransactionOptions } from './transactions.ts';
import type { Usage } from './usage.ts';

/** New records, to be stored all or none. */
export interface Addition {
  readonly workspaceId: number;
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

/** With `'database'`, checks may skip lookups: see Check. */
export type Uniqueness = 'lookup' | 'database';

/**
 * Throws a ServiceError below 500 if the records may not be stored. With `uniqueness: 'database'` it may skip the lookup of
 * duplicate unique values: the database then rejects the transaction, and the check runs again with `'lookup'`.
 */
export type Check = (store: GroupCheckStore, uniqueness: Uniqueness) => Promise<void>;

/** Stores the additions that their checks accept, and returns the outcome of each check. Throws if none is stored. */
export type StoreAdditions = (
  group: readonly Addition[],
  uniqueness: Uniqueness,
  transaction: Statements['transaction'],
  options?: TransactionOptions,
) => Promise<readonly PromiseSettledResult<void>[]>;

/** `openCheckStore` is called once per transaction and workspace. */
export function createAdditionStore(
  dialect: Dialect,
  openCheckStore: (run: Run, workspaceId: number) => GroupCheckStore,
): StoreAdditions {
  /** Runs the checks concurrently, so that their lookups can be combined into one statement. */
  async function checkAll(group: readonly Addition[], uniqueness: Uniqueness, run: Run) {
    const stores = new Map<number, GroupCheckStore>();
    const storeOf = (workspaceId: number): GroupCheckStore => {
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

  return (group, uniqueness, transaction, options = {}) =>
    transaction(async (run, runAlone) => {
      let hasRead = false;
      const read: Run = (sql, values) => {
        hasRead = true;
        return run(sql, values);
      };
      const outcomes = await checkAll(group, uniqueness, read);
      const accepted = group.filter(
        ({ records }, index) => outcomes[index]?.status === 'fulfilled' && records.length > 0,
      );
      for (const addition of accepted) addIds(addition);
      const additions = accepted.map(newRecordsOf);
      const [kind, ...otherKinds] = new Set(accepted.map((addition) => addition.kind));
      if (!kind) return outcomes;
      // A single statement, without a lookup before it, needs no BEGIN and COMMIT.
      const isAlone = !hasRead && otherKinds.length === 0;
      const together = isAlone ? dialect.withChanges(kind, additions, options.lockTimeout) : undefined;
      if (together) {
        for (const { usage } of accepted) usage.statements += 1;
        await runAlone(together);
        return outcomes;
      }
      for (const { sql, values } of insertsOf(accepted)) await run(sql, values);
      const sharedBy =
        (users: readonly Addition[]): Run =>
        (sql, values) => {
          for (const { usage } of users) usage.statements += 1;
          return run(sql, values);
        };
      const storeKeys = sharedBy(accepted.filter(({ key }) => key));
      for (const { sql, values } of dialect.inserts(idempotencyResults, keyRowsOf(additions)))
        await storeKeys(sql, values);
      await logChanges(
        dialect,
        sharedBy(accepted),
        additions.map(({ change }) => change),
      );
      return outcomes;
    }, options);
}

/** Called just before the insert, so that with a single writer the order of IDs is the order of commits. */
function addIds({ kind, workspaceId, records }: Addition): void {
  newIds(kind.idPrefix, records.length).forEach((id, index) => {
    Object.assign(records[index] as Draft, { id, workspaceId });
  });
}

/** Of records that have their IDs. */
const newRecordsOf = (addition: Addition): NewRecords => {
  const { workspaceId, key, records } = addition;
  const result = creationResult(String(records[0]?.id), records.length);
  return { records, change: creationOf(addition, records), keyed: key && idempotencyRow(workspaceId, key, result) };
};

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

/** Whether a rule rejects the records. Any other error of a check is a failure of the database or of this service. */
export const isRejection = (error: unknown): boolean => error instanceof ServiceError && error.status < 500;
