/** The records of one workspace: every statement filters by it or writes it. Contains no rules, which belong to services. */
import type { AnyRecord, RecordKind, RecordOf } from '../model/record-kind.ts';
import { createChangeWatch } from './change-watch.ts';
import type { Run, Usage } from './connections/driver.ts';
import type { Database } from './database.ts';
import { type ChangeReads, createChangeReads, readLastChange } from './log.ts';
import { positionOfId, type RecordQuery } from './query/record-query.ts';
import type { ChangeAuthor, WorkspaceId } from './query/tables.ts';
import { createReadBudget, type ReadLimits, type Turn, type WorkspaceScope } from './records/read-budget.ts';
import type { LinkToRead, RecordPage } from './records/read-records.ts';
import { createRecordReads, type RecordReads } from './records/read-records.ts';
import { createTextCache, type DerivedText } from './records/text-cache.ts';
import { dryRunIn, queuedCreation, writeIn } from './writes/apply-changes.ts';
import { type RepeatableRequest, writeWithKey } from './writes/idempotency.ts';
import type { Creation, Decide } from './writes/tx.ts';

export type { LinkToRead, RecordPage, RecordReads, Usage };

export interface TransactionOptions<T> {
  /** If the key has a stored result, returns it, or throws a ServiceError 409 if that was another request, and stores nothing. */
  readonly key?: RepeatableRequest | undefined;
  /** True for a dry run, which stores nothing. No other write waits for it. */
  readonly isDryRun?: boolean;
  /** Tried first: what is decided if all references are found and no value is taken. */
  readonly creation?: Creation<T> | undefined;
  /** The number of items, if it says how long the transaction takes. */
  readonly items?: number;
}

/** The most items of a write that others may be made to wait for: it takes a few milliseconds. */
const maxItemsOfSmallWrite = 100;

export interface WorkspaceStore extends WorkspaceReads {
  /** Stores the changes that are decided in the transaction, with their log, or nothing. */
  transaction<T>(decide: Decide<T>, options?: TransactionOptions<T>): Promise<T>;
}

export interface WorkspaceReads extends RecordReads, ChangeReads {
  readonly workspaceName: string;
  snapshot<T>(work: (store: RecordReads) => Promise<T>): Promise<T>;
  /** Like `snapshot`, for work that may read for minutes. Others do not wait for it; few run at a time. */
  longSnapshot<T>(work: (store: RecordReads) => Promise<T>): Promise<T>;
  /** Throws ResponseTooLarge beyond one response's text. `hold` gets the length of what is read, and may refuse to read on. */
  withBudget(limits: ReadLimits, hold?: (length: number) => void, turn?: Turn): RecordReads & ChangeReads;
  /** Another one after each change, also where a backup goes on. One statement serves all who ask while another one is answered. */
  sharedVersion(): Promise<string>;
  /**
   * Returns a text that includes every write committed before the call. It is cached until the workspace's next change: from the
   * second request on, or from the first if the version is known. All calls with a name must pass an equivalent `write`.
   */
  deriveText<T extends DerivedText>(name: string, write: () => Promise<T>, version?: string): Promise<T>;
  /** Resolves when the workspace has a change with a greater number, written by whatever process, or the signal is aborted. */
  waitForChange(after: number, signal: AbortSignal): Promise<void>;
}

export interface StoreUser {
  readonly author: ChangeAuthor;
  readonly usage?: Usage;
}

type OpenStore = (workspace: WorkspaceId, user: StoreUser) => WorkspaceStore;

/** Called once per database: the stores that it opens share cached values. */
export function createStoreOpener(database: Database): OpenStore {
  const { dialect } = database;
  const texts = createTextCache();
  const lastIn = (workspaceId: number) => readLastChange({ dialect, run: database.read, workspaceId });
  const watch = createChangeWatch(async (workspaceId) => (await lastIn(workspaceId)).number);

  return (workspace, user) => {
    const { number: workspaceId, name: workspaceName } = workspace;
    const { author, usage = { statements: 0 } } = user;
    const { read, snapshot } = database.forWorkspace(workspaceId);
    const scopeOf = (run: Run): WorkspaceScope => ({
      dialect,
      run: countStatements(run, usage),
      workspaceId,
      workspaceName,
    });
    const reads = createReads(scopeOf(read));
    const transaction: WorkspaceStore['transaction'] = async (decide, { key, isDryRun, creation, items } = {}) => {
      if (isDryRun) return snapshot((run) => dryRunIn(scopeOf(run), decide));
      const store = () =>
        database.transaction((run) => writeIn(scopeOf(run), author, decide, key), {
          workspaceId,
          isSmall: items !== undefined && items <= maxItemsOfSmallWrite,
          creation: creation && queuedCreation({ workspaceId, usage }, author, creation, key),
        });
      const { returned, isRepeat } = await (key ? writeWithKey(key, scopeOf(read), store) : store());
      if (isRepeat) key?.onRepeat();
      watch.changed(workspaceId);
      return returned;
    };
    const source = { workspace, version: async () => Object.values(await readLastChange(scopeOf(read))).join('-') };
    return {
      ...reads,
      workspaceName,
      transaction,
      snapshot: (work) => snapshot((run) => work(createRecordReads(scopeOf(run)))),
      longSnapshot: (work) => database.longSnapshot(workspaceId, (run) => work(createRecordReads(scopeOf(run)))),
      withBudget: (limits, hold, turn) =>
        createReads({ ...scopeOf(read), budget: createReadBudget(limits, hold, turn) }),
      sharedVersion: () => texts.readVersion(source),
      // The cast is safe: it is what this or an equivalent function has made.
      deriveText: async <T extends DerivedText>(name: string, write: () => Promise<T>, version?: string) =>
        (await texts.derive(source, name, write, version)) as T,
      waitForChange: (after, signal) => watch.wait(workspaceId, after, signal),
    };
  };
}

const countStatements =
  (run: Run, usage: Usage): Run =>
  (sql, values) => {
    usage.statements += 1;
    return run(sql, values);
  };

const createReads = (scope: WorkspaceScope): RecordReads & ChangeReads => ({
  ...createRecordReads(scope),
  ...createChangeReads(scope),
});

/** In the order of IDs, each page as it is when it is asked for. Without records, yields one page that is empty. */
export async function* pagesById(
  { list }: Pick<RecordReads, 'list'>,
  kind: RecordKind,
  { limit, where }: Pick<RecordQuery, 'where'> & { readonly limit: number },
): AsyncGenerator<readonly AnyRecord[]> {
  let after: RecordQuery['after'];
  for (;;) {
    const records = await list(kind, { where, after, limit });
    const last = records.at(-1);
    if (last || !after) yield records;
    if (!last || records.length < limit) return;
    after = positionOfId(last.id);
  }
}

/** Returns the records that have one of these values in a field of which no two have the same, by the value. */
export async function findByUniqueField<K extends RecordKind>(
  { list }: Pick<RecordReads, 'list'>,
  kind: K,
  field: keyof K['fields'] & string,
  values: readonly string[],
  fields: ReadonlySet<string>,
): Promise<ReadonlyMap<string, RecordOf<K>>> {
  if (values.length === 0) return new Map();
  const byValue = { where: { field, in: values }, orderBy: [{ field, direction: 'asc' }] } as const;
  const found = await list(kind, { ...byValue, limit: values.length, fields });
  return new Map(found.map((record) => [String(record[field]), record]));
}
