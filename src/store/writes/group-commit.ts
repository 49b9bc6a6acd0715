/**
 * Group commit for new records: additions that arrive while others are being stored share the next transaction, and with it the cost of a
 * commit, a write to disk. Each is acknowledged after that commit, and one that fails does not fail the others. SQLite has one writer, and
 * therefore one queue. On Postgres each workspace has its own: its writers wait for the row of its change number anyway, and never for
 * another workspace.
 */
import { ServiceError } from '../../errors.ts';
import { externalIdCount, textLengthOfAll } from '../../model/fields.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { TransactionConflict, WorkspaceDeleted } from '../connections/database-error.ts';
import type { Driver, Row, Run, Usage } from '../connections/driver.ts';
import type { Statements, Transactions } from '../connections/transactions.ts';
import { creationOf, logChanges } from '../log/changes.ts';
import type { Dialect, NewRecords } from '../query/dialect.ts';
import { type Author, idempotencyResults, keyRowsOf } from '../query/tables.ts';
import { creationResult, type IdempotencyKey, idempotencyRow } from './idempotency.ts';
import { combined, createLookups, inLockOrder, type Lookups } from './lookups.ts';
import type { Uniqueness, Work, Written } from './work.ts';

export interface GroupCommit {
  /** Resolves to what the work has returned once it is stored. Rejects with the error of the work or of its transaction. */
  add<T>(addition: Addition & { readonly work: Work<T> }): Promise<Written<T>>;
}

interface Waiting extends Addition {
  /** The part of a transaction that it takes: more than 1 if it is larger than a transaction should be. */
  readonly size: number;
  readonly resolve: (written: Written<unknown>) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * The most records, external IDs (each is a row of its own on SQLite) and characters in one transaction, unless its first addition has more:
 * the next group waits for it.
 */
const maxRecords = 2_000;
const maxExternalIds = 30_000;
const maxLength = 4_000_000;

/** The part of these that others may have beside a first addition of any size, so that small ones do not wait for it and then for another. */
const reserve = 0.1;

export function createGroupCommit(
  { transaction, forWorkspace }: Pick<Transactions, 'transaction' | 'forWorkspace'>,
  dialect: Dialect,
  { hasGroupsByWorkspace }: Pick<Driver, 'hasGroupsByWorkspace'>,
): GroupCommit {
  const storeAdditions = createAdditionStore(dialect);
  /** The additions that wait, by workspace or all together. A queue is here as long as its groups are being stored. */
  const queues = new Map<number | undefined, Waiting[]>();

  async function runGroups(workspaceId: number | undefined, waiting: Waiting[]): Promise<void> {
    while (waiting.length > 0) await store(takeGroup(waiting));
    queues.delete(workspaceId);
  }

  async function store(group: readonly Waiting[]): Promise<void> {
    for (const uniqueness of ['database', 'lookup'] as const) {
      try {
        return settle(group, await storeAdditions(group, uniqueness, begin(group), 1));
      } catch (error) {
        if (!concernsSome(error)) return rejectAll(group, error);
      }
    }
    // Two additions conflict, or one always fails: give each its own transaction.
    for (const addition of group) {
      try {
        settle([addition], await storeAdditions([addition], 'lookup', begin([addition])));
      } catch (error) {
        addition.reject(error);
      }
    }
  }

  const begin = ([first]: readonly Waiting[]) =>
    hasGroupsByWorkspace && first ? forWorkspace(first.workspaceId).transaction : transaction;

  return {
    add: (addition) =>
      new Promise((resolve, reject) => {
        const key = hasGroupsByWorkspace ? addition.workspaceId : undefined;
        // The cast is safe: it is what this work has returned.
        const entry = { ...addition, size: sizeOf(addition), resolve: resolve as Waiting['resolve'], reject };
        const waiting = queues.get(key);
        if (waiting) return void waiting.push(entry);
        const queue = [entry];
        queues.set(key, queue);
        // Later, so that requests that have already arrived are read first and can join the group.
        setImmediate(() => void runGroups(key, queue));
      }),
  };
}

function sizeOf({ drafts }: Addition): number {
  let externalIds = 0;
  for (const draft of drafts) externalIds += externalIdCount(draft.externalIds ?? {});
  return Math.max(drafts.length / maxRecords, externalIds / maxExternalIds, textLengthOfAll(drafts) / maxLength);
}

/** Takes as many additions as one transaction may have, and at least one. Those that are too large for what is left wait. */
function takeGroup(waiting: Waiting[]): readonly Waiting[] {
  const maxSize = Math.max(1, (waiting[0]?.size ?? 0) + reserve);
  const group: Waiting[] = [];
  const others: Waiting[] = [];
  let size = 0;
  for (const addition of waiting.splice(0)) {
    const isTaken = size + addition.size <= maxSize;
    if (isTaken) size += addition.size;
    (isTaken ? group : others).push(addition);
  }
  waiting.push(...others);
  return group;
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

/** True if the cause may be one addition of the group. After any other error a retry cannot help, or might store the group twice. */
const concernsSome = (error: unknown): boolean =>
  !(error instanceof ServiceError) || error instanceof TransactionConflict || error instanceof WorkspaceDeleted;

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
