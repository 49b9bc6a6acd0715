/** Stores new records of several requests in one transaction. Which ones, and what happens if it fails, is up to group-commit.ts. */

import { ServiceError } from '../../errors.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import type { Row, Run } from '../connections/driver.ts';
import type { Statements } from '../connections/transactions.ts';
import type { Usage } from '../connections/usage.ts';
import { creationOf, logChanges } from '../log/changes.ts';
import type { Dialect, NewRecords } from '../query/dialect.ts';
import { type Author, idempotencyResults, keyRowsOf } from '../query/tables.ts';
import { creationResult, type IdempotencyKey, idempotencyRow } from './idempotency.ts';
import { combined, createLookups, inLockOrder, type Lookups } from './lookups.ts';
import type { Uniqueness, Work, Written } from './work.ts';

/** A write that only creates records of one kind. */
export interface Addition {
  readonly workspaceId: number;
  readonly work: Work<unknown>;
  /** The records, which get their IDs and their workspace when the work is done. */
  readonly drafts: readonly Row[];
  readonly author: Author;
  readonly usage: Usage;
  /** The key under which the result is stored. */
  readonly key?: IdempotencyKey | undefined;
}

/** Returns the outcome of each work: the records of those that were fulfilled are stored. Throws if none is. */
type StoreAdditions = (
  group: readonly Addition[],
  uniqueness: Uniqueness,
  transaction: Statements['transaction'],
  maxAttempts?: number,
) => Promise<readonly PromiseSettledResult<Written<unknown>>[]>;

/** Calls each work once for each attempt, with lookups that are combined with those of the others in its workspace. */
export function createAdditionStore(dialect: Dialect): StoreAdditions {
  async function runAll(group: readonly Addition[], uniqueness: Uniqueness, run: Run) {
    const lookups = new Map<number, Lookups>();
    const lookupsIn = (workspaceId: number): Lookups => {
      const found =
        lookups.get(workspaceId) ?? combined(createLookups({ dialect, run, workspaceId, workspaceName: '' }));
      lookups.set(workspaceId, found);
      return found;
    };
    const outcomes = await Promise.allSettled(
      group.map(({ workspaceId, work, usage }) =>
        work(inLockOrder(countLookups(lookupsIn(workspaceId), usage)), uniqueness),
      ),
    );
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected' && !isRejection(outcome.reason)) throw outcome.reason;
    }
    return outcomes;
  }

  return (group, uniqueness, transaction, maxAttempts) =>
    transaction(async (run, runAlone) => {
      let hasRead = false;
      const read: Run = (sql, values) => {
        hasRead = true;
        return run(sql, values);
      };
      const outcomes = await runAll(group, uniqueness, read);
      const accepted = group.flatMap((addition, index) => newRecordsOf(addition, outcomes[index]));
      const [kind, ...otherKinds] = new Set(accepted.map((addition) => addition.kind));
      if (!kind) return outcomes;
      const sharedBy = (users: readonly Accepted[]) => (sql: string, values?: readonly unknown[]) => {
        for (const { usage } of users) usage.statements += 1;
        return run(sql, values);
      };
      // A single statement, without a lookup before it, needs no BEGIN and COMMIT.
      const isAlone = !hasRead && otherKinds.length === 0;
      const together = isAlone ? dialect.withChanges(kind, accepted) : undefined;
      if (together) {
        for (const { usage } of accepted) usage.statements += 1;
        await runAlone(together);
        return outcomes;
      }
      for (const each of [kind, ...otherKinds]) {
        const ofKind = accepted.filter((addition) => addition.kind === each);
        const records = ofKind.flatMap((addition) => addition.records);
        for (const { sql, values } of dialect.inserts(each, records)) await sharedBy(ofKind)(sql, values);
      }
      const keyed = accepted.filter((addition) => addition.keyed);
      for (const { sql, values } of dialect.inserts(idempotencyResults, keyRowsOf(keyed)))
        await sharedBy(keyed)(sql, values);
      await logChanges(
        dialect,
        sharedBy(accepted),
        accepted.map(({ change }) => change),
      );
      return outcomes;
    }, maxAttempts);
}

interface Accepted extends NewRecords {
  readonly kind: RecordKind;
  readonly usage: Usage;
}

/** Returns the rows that an addition stores: none if its work was rejected. */
function newRecordsOf(
  { workspaceId, author, usage, key }: Addition,
  outcome: PromiseSettledResult<Written<unknown>> | undefined,
): Accepted[] {
  if (outcome?.status !== 'fulfilled') return [];
  return outcome.value.changes.flatMap(({ kind, action, records }) => {
    if (action !== 'created') throw new Error(`what only creates records has ${action} some`);
    if (records.length === 0) return [];
    for (const record of records) Object.assign(record, { workspaceId });
    const result = creationResult(String(records[0]?.id), records.length);
    const change = creationOf({ workspaceId, kind, author }, records);
    return [{ kind, usage, records, change, keyed: key && idempotencyRow(workspaceId, key, result) }];
  });
}

/** Counts lookups in the usage of one addition. */
const countLookups = (lookups: Lookups, usage: Usage): Lookups => ({
  ...lookups,
  existingValues(...lookup) {
    usage.statements += 1;
    return lookups.existingValues(...lookup);
  },
  idempotencyResults(keys) {
    usage.statements += 1;
    return lookups.idempotencyResults(keys);
  },
});

/** True if a rule rejects the records. Any other error of a work is a failure of the database or of this service. */
const isRejection = (error: unknown): boolean => error instanceof ServiceError && error.status < 500;
