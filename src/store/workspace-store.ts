/**
 * The records of one workspace. A store is bound to its workspace: every statement filters by it or writes it, and there is no
 * store without one. Contains no rules, which belong to services.
 */

import type { RecordKind, RecordOf } from '../model/record-kind.ts';
import type { Row, Run } from './connections/driver.ts';
import { counted, type Usage } from './connections/usage.ts';
import type { Database } from './database.ts';
import { type ChangePageReads, createChangePageReads } from './log/change-pages.ts';
import { createChangeWatch } from './log/change-watch.ts';
import { type ChangeReads, createChangeReads, lastChanges } from './log/read-changes.ts';
import { createHistoryReads, type HistoryReads } from './log/read-histories.ts';
import type { RecordQuery } from './query/record-query.ts';
import type { Author, WorkspaceId } from './query/tables.ts';
import { createDerivedCache, createTextCache, type Sized } from './records/derived-cache.ts';
import { createHeldTexts, notHeld, type ResponseTexts } from './records/held-texts.ts';
import { type LinkToRead, readLinked } from './records/linked-records.ts';
import { createReadBudget, type ReadLimits } from './records/read-budget.ts';
import { asRecords, createRecordReads, type RecordReads, type Scope } from './records/read-records.ts';
import { createGroupCommit } from './writes/group-commit.ts';
import type { IdempotencyKey } from './writes/idempotency.ts';
import { unused, writeOnce } from './writes/idempotent-writes.ts';
import type { Work } from './writes/work.ts';
import { dryRunIn, named, writeIn } from './writes/write.ts';

/** The reads of one request, which share a limit on their texts. */
export interface LimitedReads extends RecordReads, ChangeReads, ChangePageReads, HistoryReads {
  /**
   * Like `list`, with the records that they link to (see linked-records.ts), in one statement. Undefined, without reading
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

interface WriteOptions {
  /**
   * The write is carried out once for this key: it throws Repeated, and stores nothing, if a request with the key has stored a result, and
   * a ServiceError 409 if that was another request.
   */
  readonly key?: IdempotencyKey | undefined;
  /** True for a dry run, which stores nothing. No other write waits for it. */
  readonly isDryRun?: boolean;
  /** The new records of a work that only creates records of one kind: others may be stored in the same transaction (see group-commit.ts). */
  readonly drafts?: readonly Row[];
}

/** Carries out a write in one transaction: everything that it changes is stored, or nothing. */
export type WriteRecords = <T>(work: Work<T>, options?: WriteOptions) => Promise<T>;

export interface WorkspaceStore extends WorkspaceReads {
  readonly write: WriteRecords;
}

/** The reads of a session in its workspace. */
export interface WorkspaceReads extends RecordReads, ChangeReads {
  /** Runs work that only reads, on a consistent snapshot of the workspace. */
  snapshot<T>(work: (store: RecordReads) => Promise<T>): Promise<T>;
  /** Like `snapshot`, for work that may read for minutes. Others do not wait for it; few run at a time. */
  longSnapshot<T>(work: (store: RecordReads) => Promise<T>): Promise<T>;
  /**
   * Reads that together return at most the text that a response may hold. Beyond that, they throw ResponseTooLarge. What they return counts
   * as held by the workspace until the response is closed (see held-texts.ts).
   */
  within(limits: ReadLimits, response?: Closable): LimitedReads;
  /**
   * Returns the value that `make` derives from the workspace's records, cached under this name until the next change in the
   * workspace. Calls that arrive while it is being made share the next one.
   */
  derive<T extends Sized>(name: string, make: () => Promise<T>): Promise<T>;
  /** Like `derive`, for a text that is cached from the second request with this name on. */
  deriveText(name: string, write: () => Promise<string>): Promise<string>;
  /**
   * Returns the same store for a client that may leave: statements whose turn comes after the signal is aborted fail, without
   * being sent.
   */
  until(signal: AbortSignal): WorkspaceReads;
  /** Resolves when the workspace has a change with a greater number, written by whatever process, or the signal is aborted. */
  waitForChange(after: number, signal: AbortSignal): Promise<void>;
}

/** The author of a store's writes, and the counter of its statements. */
export interface StoreUser {
  readonly author: Author;
  /** Counts the statements. */
  readonly usage?: Usage;
}

/** Opens the store of a workspace. */
type OpenStore = (workspace: WorkspaceId, user: StoreUser) => WorkspaceStore;

/** Called once per database: the stores that it opens share group commits and cached values. */
export function createStoreOpener(database: Database): OpenStore {
  const { dialect, driver, options } = database;
  const derivedValues = createDerivedCache();
  const derivedTexts = createTextCache();
  const { pool } = driver.pools.reads ?? driver.pools.writes;
  const textsOf = createHeldTexts({ maxReads: pool?.max ?? 1, timeout: options.connectionTimeout });
  const watch = createChangeWatch((workspaceIds) => lastChanges({ dialect, run: database.read }, workspaceIds));
  const groupCommit = createGroupCommit(database, dialect, driver, options);

  function open(workspace: WorkspaceId, user: StoreUser, signal?: AbortSignal): WorkspaceStore {
    const { number: workspaceId, name: workspaceName } = workspace;
    const { author, usage = { statements: 0 } } = user;
    const { read, transaction, snapshot } = database.forWorkspace(workspaceId, signal);
    const scopeOf = (run: Run): Scope => ({ dialect, run: counted(run, usage), workspaceId, workspaceName });
    const reads = readsIn(scopeOf(read));
    const write: WriteRecords = async (work, { key, isDryRun = false, drafts } = {}) => {
      if (isDryRun) return snapshot((run) => dryRunIn(scopeOf(run), author, work));
      const store = async () => {
        if (!drafts) return transaction((run) => writeIn(scopeOf(run), author, work, key));
        const addition = { workspaceId, work: key ? unused(key, work) : work, drafts, author, usage, key };
        return named({ workspaceName }, await groupCommit.add(addition));
      };
      const returned = await (key ? writeOnce(key, scopeOf(read), store) : store());
      watch.changed(workspaceId);
      return returned;
    };
    const source = { workspace, lastChange: reads.lastChange };
    return {
      ...reads,
      write,
      snapshot: (work) => snapshot((run) => work(createRecordReads(scopeOf(run)))),
      longSnapshot: (work) => database.longSnapshot(workspaceId, (run) => work(createRecordReads(scopeOf(run)))),
      within(limits, response) {
        const texts = response ? textsOf(workspaceId) : notHeld;
        response?.once('close', texts.release);
        // Its client may have left while the request waited: there will be no other event.
        if (response?.closed || response?.destroyed) texts.release();
        const scope = { ...scopeOf(read), budget: createReadBudget(limits, texts) };
        const select = readLinked(scope, scope.budget);
        const listLinked: LimitedReads['listLinked'] = (kind, query, links) =>
          select(kind, query, links)?.then((records) => asRecords(scope, kind, records));
        const { hold } = texts;
        return { ...readsIn(scope), ...createChangePageReads(scope), ...createHistoryReads(scope), listLinked, hold };
      },
      derive: (name, make) => derivedValues.derive(source, name, make),
      deriveText: (name, write) => derivedTexts.derive(source, name, write),
      until: (signal) => open(workspace, user, signal),
      waitForChange: (after, signal) => watch.wait(workspaceId, after, signal),
    };
  }
  return (workspace, user) => open(workspace, user);
}

const readsIn = (scope: Scope): RecordReads & ChangeReads => ({
  ...createRecordReads(scope),
  ...createChangeReads(scope),
});
