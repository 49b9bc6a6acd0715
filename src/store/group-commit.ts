/**
 * Records that are added, committed together: what waits while others are stored shares the next transaction, and with it
 * what a commit costs, a write to the disk. Nobody is answered before that, and whoever fails fails alone.
 */
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';
import { ServiceError } from '../errors.ts';
import { textLength } from '../model/fields.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { isTimeout, TransactionConflict } from './database-error.ts';
import type { Engine, Row, Run } from './engine.ts';
import type { Connections } from './transactions.ts';

/** Records to be added, all or none of them. `S` is what they are checked against. */
export interface Addition<S> {
  readonly workspaceId: string;
  readonly kind: RecordKind;
  readonly records: readonly Row[];
  /**
   * Throws a ServiceError below 500 when they may not be stored. Unless it must be careful, it may leave to the database
   * what that refuses anyway: then it is run again.
   */
  check(store: S, isCareful: boolean): Promise<void>;
}

export interface GroupCommit<S> {
  /** Resolves once the records are stored. Throws what their check throws, and what a transaction does. */
  add(addition: Addition<S>): Promise<void>;
}

interface Waiting<S> extends Addition<S> {
  /** Characters of all texts. */
  readonly length: number;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Records, and characters, in one transaction, unless a single addition has more: what comes later need not wait long. */
const maxRecords = 2_000;
const maxLength = 4_000_000;

/** Two, so that one that waits until its time is up does not hold up all others of its workspace. */
const singlesAtOnce = 2;
const maxWorkspaces = 10_000;

/** `open` makes what additions to a workspace are checked against, once for all of a group. */
export function createGroupCommit<S>(
  { transaction }: Pick<Connections, 'transaction'>,
  engine: Engine,
  open: (run: Run, workspaceId: string) => S,
): GroupCommit<S> {
  const waiting: Waiting<S>[] = [];
  let running = 0;
  /** Additions that have a transaction each, by workspace: few at once, so that none takes all connections. */
  const singles = new LRUCache<string, LimitFunction>({ max: maxWorkspaces, memoMethod: () => pLimit(singlesAtOnce) });
  /** Additions of failed groups that are not stored yet, by workspace. */
  const inConflict = new Map<string, number>();

  async function runGroups(): Promise<void> {
    while (waiting.length > 0) await store(nextGroup());
    running -= 1;
  }

  /** As many as there is room for, and at least one. */
  function nextGroup(): Waiting<S>[] {
    let records = 0;
    let length = 0;
    const end = waiting.findIndex((addition, index) => {
      records += addition.records.length;
      length += addition.length;
      return index > 0 && (records > maxRecords || length > maxLength);
    });
    return waiting.splice(0, end < 0 ? waiting.length : end);
  }

  async function store(group: readonly Waiting<S>[]): Promise<void> {
    for (const isCareful of [false, true]) {
      try {
        return tell(group, await storeTogether(group, isCareful, { maxAttempts: 1 }));
      } catch (error) {
        if (isOfAll(error, group.length)) return tellAll(group, error);
        // The others need not wait for it once more.
        if (isTimeout(error)) break;
      }
    }
    // Two want the same, or one breaks whatever it is in: now each has its own transaction. The next group need not wait.
    for (const addition of group) void storeAfterConflict(addition);
  }

  async function storeAfterConflict(addition: Waiting<S>): Promise<void> {
    const { workspaceId } = addition;
    inConflict.set(workspaceId, (inConflict.get(workspaceId) ?? 0) + 1);
    await storeAlone(addition);
    const left = (inConflict.get(workspaceId) ?? 1) - 1;
    if (left > 0) inConflict.set(workspaceId, left);
    else inConflict.delete(workspaceId);
  }

  const storeAlone = (addition: Waiting<S>): Promise<void> =>
    singles.memo(addition.workspaceId)(() =>
      storeTogether([addition], true).then(
        (outcomes) => tell([addition], outcomes),
        (error) => tellAll([addition], error),
      ),
    );

  /** Whether each was found acceptable, and is stored. Throws when none is stored. */
  const storeTogether = (group: readonly Addition<S>[], isCareful: boolean, options: { maxAttempts?: number } = {}) =>
    transaction(async (run, runAlone) => {
      let hasAsked = false;
      const outcomes = await checkAll(group, isCareful, (sql, values) => {
        hasAsked = true;
        return run(sql, values);
      });
      const accepted = group.filter((_, index) => outcomes[index]?.status === 'fulfilled');
      const inserts = insertsOf(accepted);
      const first = inserts.next();
      const second = inserts.next();
      if (!first.done) {
        const isOnlyStatement = !hasAsked && second.done;
        await (isOnlyStatement ? runAlone : run)(first.value.sql, first.value.values);
      }
      if (!second.done) await run(second.value.sql, second.value.values);
      for (const { sql, values } of inserts) await run(sql, values);
      return outcomes;
    }, options);

  /** Side by side, so that what they ask in the same step can become one statement. */
  async function checkAll(group: readonly Addition<S>[], isCareful: boolean, run: Run) {
    const stores = new Map<string, S>();
    const storeOf = (workspaceId: string): S => {
      const known = stores.get(workspaceId) ?? open(run, workspaceId);
      stores.set(workspaceId, known);
      return known;
    };
    const outcomes = await Promise.allSettled(
      group.map((addition) => addition.check(storeOf(addition.workspaceId), isCareful)),
    );
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected' && !isRefusal(outcome.reason)) throw outcome.reason;
    }
    return outcomes;
  }

  function* insertsOf(additions: readonly Addition<S>[]) {
    for (const kind of new Set(additions.map((addition) => addition.kind))) {
      const records = additions.filter((addition) => addition.kind === kind).flatMap((addition) => addition.records);
      yield* engine.inserts(kind, records);
    }
  }

  return {
    add: (addition) =>
      new Promise((resolve, reject) => {
        const entry = { ...addition, length: lengthOf(addition.records), resolve, reject };
        // It would likely be in conflict too.
        if (inConflict.has(entry.workspaceId)) return void storeAlone(entry);
        waiting.push(entry);
        if (running >= engine.groupsAtOnce) return;
        running += 1;
        // What else has arrived by now is still to be read.
        setImmediate(() => void runGroups());
      }),
  };
}

/** About how much memory the records take on their way. */
const lengthOf = (records: readonly Row[]): number =>
  records.reduce(
    (sum, record) => Object.values(record).reduce<number>((length, it) => length + textLength(it), sum),
    0,
  );

function tell(group: readonly Waiting<never>[], outcomes: readonly PromiseSettledResult<void>[]): void {
  outcomes.forEach((outcome, index) => {
    if (outcome.status === 'fulfilled') group[index]?.resolve();
    else group[index]?.reject(outcome.reason);
  });
}

function tellAll(group: readonly Waiting<never>[], error: unknown): void {
  for (const { reject } of group) reject(error);
}

/** What was sent is refused by a rule. */
const isRefusal = (error: unknown): boolean => error instanceof ServiceError && error.status < 500;

/** The database is away, or may have stored the group: nothing to try again. One that waited in vain is all of a group of one. */
const isOfAll = (error: unknown, size: number): boolean =>
  error instanceof ServiceError && !(error instanceof TransactionConflict) && !(isTimeout(error) && size > 1);
