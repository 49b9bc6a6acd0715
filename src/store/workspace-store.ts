/**
 * The records of one workspace. A store is bound to its workspace: every statement filters by it or writes it, and there is no
 * store without one. Contains no rules, which belong to services.
 */
import type { CreateOf, RecordKind, RecordOf } from '../model/record-kind.ts';
import { mapInSlices } from '../slices.ts';
import { type ChangePageReads, createChangePageReads } from './change-pages.ts';
import { createChangeWatch } from './change-watch.ts';
import { type Author, logChanges, type NewChange } from './changes.ts';
import { batchLookups } from './check-store.ts';
import type { Database } from './database.ts';
import { TransactionConflict } from './database-error.ts';
import { createDerivedCache, createTextCache, type Sized } from './derived-cache.ts';
import type { Run } from './driver.ts';
import { createGroupCommit } from './group-commit.ts';
import { createHeldTexts, notHeld, type ResponseTexts } from './held-texts.ts';
import { findIdempotencyResults, type IdempotencyKey, requireUnused } from './idempotency.ts';
import { checkUnused, storeResult, writeOnce } from './idempotent-writes.ts';
import { type LinkToRead, readLinked } from './linked-records.ts';
import type { RecordQuery } from './query/record-query.ts';
import { createReadBudget, type ReadLimits } from './read-budget.ts';
import { type ChangeReads, createChangeReads, lastChanges } from './read-changes.ts';
import { createHistoryReads, type HistoryReads } from './read-histories.ts';
import { createRecordReads, type RecordReads, type Scope, stored } from './read-records.ts';
import type { Check } from './store-additions.ts';
import { counted, type Usage } from './usage.ts';
import type { WorkspaceId } from './workspace-names.ts';
import {
  createRecordWrites,
  draftOf,
  type Effects,
  effectsOn,
  noEffects,
  type RecordWrites,
  type Stamps,
} from './write-records.ts';

/** The reads of one request, which share a limit on their texts. */
export interface LimitedReads extends RecordReads, ChangeReads, ChangePageReads, HistoryReads {
  /**
   * The same as `list`, with what the records link to (see linked-records.ts), in one statement. Undefined, without reading
   * anything, where their texts together may be too long for that.
   */
  listLinked<K extends RecordKind>(
    kind: K,
    query: RecordQuery & { readonly limit: number },
    links: readonly LinkToRead[],
  ): Promise<RecordOf<K>[]> | undefined;
  /** Counts a text as held that another response has read: see held-texts.ts. */
  readonly hold: ResponseTexts['hold'];
}

/** A response of Node, or one like it. */
interface Closable {
  readonly closed: boolean;
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
}

/** The store of a transaction. It caches nothing, and uses only the transaction's connection. */
export interface TransactionStore extends RecordReads, ChangeReads, Omit<RecordWrites, 'add'> {
  /** Like that of the workspace's store, in this transaction. */
  add<K extends RecordKind>(
    kind: K,
    inputs: readonly CreateOf<K>[],
    stamps: Stamps,
    options?: AddOptions & {
      /** Those that newIds has returned for the records, if they are known. */
      readonly ids?: readonly string[];
    },
  ): Promise<RecordOf<K>[]>;
  /** Ends the transaction, and runs it again: other transactions have changed what this one has looked up. */
  retry(): never;
  /** Joins the transaction: nothing of it is stored unless all of it is. */
  transaction<T>(work: (store: TransactionStore) => Promise<T>): Promise<T>;
}

interface AddOptions {
  readonly check?: Check;
}

export interface WorkspaceStore extends RecordReads, ChangeReads {
  /**
   * Runs the work in one transaction: all of it is stored, or nothing. Only the store passed in may be used inside. Work that
   * conflicts with other transactions runs again, so it must have no effects except through that store.
   */
  transaction<T>(work: (store: TransactionStore) => Promise<T>): Promise<T>;
  /**
   * A store for one write, which is carried out once for a key: it throws Repeated, and stores nothing, if a request with this key has
   * stored a result, and a ServiceError 409 if that was another request. The result is what the work of the transaction returns.
   */
  withIdempotencyKey(key: IdempotencyKey): WorkspaceStore;
  /**
   * Runs the work of a transaction on a consistent snapshot, without storing or locking anything: no write waits for it. The work must not
   * read what it has written.
   */
  dryRun<T>(work: (store: TransactionStore) => Promise<T>): Promise<T>;
  /**
   * Stores new records, all or none, unless `check` throws, together with those of other requests (see group-commit.ts), and returns
   * them in the order given. Fields that are absent are not set.
   */
  add<K extends RecordKind>(
    kind: K,
    inputs: readonly CreateOf<K>[],
    stamps: Stamps,
    options?: AddOptions,
  ): Promise<RecordOf<K>[]>;
  /** Runs work that only reads, on a consistent snapshot of the workspace. */
  snapshot<T>(work: (store: RecordReads) => Promise<T>): Promise<T>;
  /**
   * Reads that together return at most the text that a response may hold. Beyond that, they throw ResponseTooLarge. What they return counts
   * as held by the workspace until the response is closed (see held-texts.ts).
   */
  within(limits: ReadLimits, response?: Closable): LimitedReads;
  /**
   * The value that `make` derives from the workspace's records, cached under this name until the next change in the workspace. Calls
   * that arrive while it is being made share the next one.
   */
  derive<T extends Sized>(name: string, make: () => Promise<T>): Promise<T>;
  /** The same for a text, from the second request with this name on. */
  deriveText(name: string, write: () => Promise<string>): Promise<string>;
  /** The same store for a client that may leave: statements whose turn comes after the signal is aborted fail, without being sent. */
  until(signal: AbortSignal): WorkspaceStore;
  /** Resolves when the workspace has a change with a greater number, written by whatever process, or the signal is aborted. */
  waitForChange(after: number, signal: AbortSignal): Promise<void>;
}

/** Who uses a store. */
export interface StoreUser {
  readonly author: Author;
  /** Counts the statements. */
  readonly usage?: Usage;
}

/** Opens the store of a workspace. */
export type OpenStore = (workspace: WorkspaceId, user: StoreUser) => WorkspaceStore;

/** Called once per database: the stores that it opens share group commits and cached values. */
export function createStoreOpener(database: Database): OpenStore {
  const { dialect, driver, options } = database;
  const values = createDerivedCache();
  const texts = createTextCache();
  const { pool } = driver.pools.reads ?? driver.pools.writes;
  const textsOf = createHeldTexts({ maxReads: pool?.max ?? 1, timeout: options.connectionTimeout });
  const watch = createChangeWatch((workspaceIds) => lastChanges({ dialect, run: database.read }, workspaceIds));
  const groupCommit = createGroupCommit(database, dialect, driver, options, (run, workspaceId) =>
    batchLookups(createRecordWrites({ dialect, run, workspaceId, workspaceName: '' }, effectsOn(run), nobody, [])),
  );

  function open(workspace: WorkspaceId, user: StoreUser, signal?: AbortSignal): WorkspaceStore {
    const { number: workspaceId, name: workspaceName } = workspace;
    const { author, usage = { statements: 0 } } = user;
    const { read, transaction, snapshot } = database.forWorkspace(workspaceId, signal);
    const scopeOf = (run: Run): Scope => ({ dialect, run: counted(run, usage), workspaceId, workspaceName });
    const reads = readsIn(scopeOf(read));
    const writesWith = (key: IdempotencyKey | undefined): Pick<WorkspaceStore, 'transaction' | 'add'> => {
      let isUsed = false;
      const once = async <T>(write: () => Promise<T>) => {
        if (!key) return write();
        if (isUsed) throw new Error('a store with a key writes once');
        isUsed = true;
        return writeOnce(key, scopeOf(read), write);
      };
      return {
        async transaction(work) {
          const result = await once(() =>
            transaction(async (run) => {
              const scope = scopeOf(run);
              if (key) requireUnused(key, await findIdempotencyResults(scope, [key.key]));
              const log: NewChange[] = [];
              const returned = await work(transactionStore(scope, effectsOn(scope.run), author, log));
              const numbers = await logChanges(dialect, scope.run, log);
              if (key) await storeResult(scope, key, { returned, log, lastChange: numbers.get(workspaceId) });
              return returned;
            }),
          );
          watch.changed(workspaceId);
          return result;
        },
        async add(kind, inputs, stamps, { check = acceptAll } = {}) {
          const records = await mapInSlices(inputs, (input) => draftOf(kind, input, stamps));
          const checkOnce: Check = key ? checkUnused(key, check) : check;
          await once(() => groupCommit.add({ workspaceId, kind, records, check: checkOnce, author, usage, key }));
          watch.changed(workspaceId);
          return stored({ workspaceName }, kind, records);
        },
      };
    };
    const source = { workspace, lastChange: reads.lastChange };
    const store: WorkspaceStore = {
      ...reads,
      ...writesWith(undefined),
      withIdempotencyKey: (key) => ({ ...store, ...writesWith(key) }),
      dryRun: (work) => snapshot((run) => work(transactionStore(scopeOf(run), noEffects, author, []))),
      snapshot: (work) => snapshot((run) => work(createRecordReads(scopeOf(run)))),
      within(limits, response) {
        const texts = response ? textsOf(workspaceId) : notHeld;
        response?.once('close', texts.release);
        // Its client may have left while the request waited: there will be no other event.
        if (response?.closed || response?.destroyed) texts.release();
        const scope = { ...scopeOf(read), budget: createReadBudget(limits, texts) };
        const select = readLinked(scope, scope.budget);
        const listLinked: LimitedReads['listLinked'] = (kind, query, links) =>
          select(kind, query, links)?.then((records) => stored(scope, kind, records));
        const { hold } = texts;
        return { ...readsIn(scope), ...createChangePageReads(scope), ...createHistoryReads(scope), listLinked, hold };
      },
      derive: (name, make) => values.derive(source, name, make),
      deriveText: (name, write) => texts.derive(source, name, write),
      until: (signal) => open(workspace, user, signal),
      waitForChange: (after, signal) => watch.wait(workspaceId, after, signal),
    };
    return store;
  }
  return (workspace, user) => open(workspace, user);
}

const nobody: Author = { userId: null, requestId: null, message: null };

const acceptAll: Check = async () => {};

const readsIn = (scope: Scope): RecordReads & ChangeReads => ({
  ...createRecordReads(scope),
  ...createChangeReads(scope),
});

function transactionStore(scope: Scope, effects: Effects, author: Author, log: NewChange[]): TransactionStore {
  const writes = createRecordWrites(scope, effects, author, log);
  const store: TransactionStore = {
    ...readsIn(scope),
    ...writes,
    transaction: (work) => work(store),
    retry() {
      throw new TransactionConflict('LOOKUP_OUTDATED');
    },
    async add(kind, inputs, stamps, { check = acceptAll, ids } = {}) {
      await check(store, 'lookup');
      return writes.add(kind, inputs, stamps, ids);
    },
  };
  return store;
}
