/**
 * The records of one workspace. A store is bound to its workspace: every statement filters by it or writes it, and there is no
 * store without one. Contains no rules, which belong to services.
 */
import type { RecordKind, RecordOf } from '../model/record-kind.ts';
import { mapInSlices } from '../slices.ts';
import { batchLookups } from './check-store.ts';
import type { Database } from './database.ts';
import { createDerivedCache, createTextCache, type Sized } from './derived-cache.ts';
import type { Run } from './driver.ts';
import { createGroupCommit } from './group-commit.ts';
import { type LinkToRead, readLinked } from './linked-records.ts';
import type { RecordQuery } from './query/record-query.ts';
import { createReadBudget, type ReadBudget, type ReadLimits } from './read-budget.ts';
import { acceptAll, bindStore, draftOf, stored, type TransactionStore } from './transaction-store.ts';
import { counted, type Usage } from './usage.ts';

/** The reads of one request, which share a limit on their texts. */
export interface LimitedReads extends Pick<WorkspaceStore, 'find' | 'list' | 'count' | 'pages' | 'summarize'> {
  /**
   * The same as `list`, with what the records link to (see linked-records.ts), in one statement. Undefined, without reading
   * anything, where their texts together may be too long for that.
   */
  listLinked<K extends RecordKind>(
    kind: K,
    query: RecordQuery & { readonly limit: number },
    links: readonly LinkToRead[],
  ): Promise<RecordOf<K>[]> | undefined;
}

export interface WorkspaceStore extends Omit<TransactionStore, 'findForUpdate'> {
  /** Runs work that only reads, on a consistent snapshot of the workspace. */
  snapshot<T>(work: (store: Pick<WorkspaceStore, 'list'>) => Promise<T>): Promise<T>;
  /** Reads that together return at most the text that a response may hold. Beyond that, they throw ResponseTooLarge. */
  within(limits: ReadLimits): LimitedReads;
  /**
   * The value that `make` derives from the workspace's records, cached under this name until the next write; recomputed where
   * the database reports no version. Calls that arrive while it is being made share the next one.
   */
  derive<T extends Sized>(name: string, make: () => Promise<T>): Promise<T>;
  /** The same for a text, from the second request with this name on. */
  deriveText(name: string, write: () => Promise<string>): Promise<string>;
}

/** Opens the store of a workspace. Its statements are counted in `usage`. */
export type OpenStore = (workspaceId: string, usage?: Usage) => WorkspaceStore;

/** Called once per database: the stores that it opens share group commits and cached values. */
export function createStoreOpener(database: Database): OpenStore {
  const { dialect, driver, options } = database;
  const values = createDerivedCache(driver);
  const texts = createTextCache(driver);
  const groupCommit = createGroupCommit(database, dialect, driver, options, (run, workspaceId) =>
    batchLookups(bindStore(dialect, run, workspaceId)),
  );

  return (workspaceId, usage = { statements: 0 }) => {
    const { run, read, transaction, snapshot } = database.forWorkspace(workspaceId);
    const bind = (runStatement: Run, budget?: ReadBudget) =>
      bindStore(dialect, counted(runStatement, usage), workspaceId, budget);
    const runVersionQuery = counted(database.runVersionQuery, usage);
    return {
      // Everything not overridden below only reads.
      ...bind(read),
      update: bind(run).update,
      transaction: (work) => transaction((runStatement) => work(bind(runStatement))),
      snapshot: (work) => snapshot((runStatement) => work(bind(runStatement))),
      within(limits) {
        const budget = createReadBudget(limits);
        const select = readLinked(dialect, counted(read, usage), workspaceId, budget);
        const listLinked: LimitedReads['listLinked'] = (kind, query, links) =>
          select(kind, query, links)?.then((records) => stored(kind, records));
        return { ...bind(read, budget), listLinked };
      },
      derive: (name, make) => values.derive(runVersionQuery, `${workspaceId} ${name}`, make),
      deriveText: (name, write) => texts.derive(runVersionQuery, `${workspaceId} ${name}`, write),
      async add(kind, inputs, stamps, check = acceptAll) {
        const records = await mapInSlices(inputs, (input) => draftOf(kind, input, stamps));
        await groupCommit.add({ workspaceId, kind, records, check, usage });
        return stored(kind, records);
      },
    };
  };
}
