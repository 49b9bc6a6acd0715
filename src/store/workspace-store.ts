/** Every statement filters by the workspace's number or writes it. Rules belong to services. */
import type { AnyRecord, RecordKind, RecordOf } from '../model/record-kind.ts';
import { createChangeWatch } from './change-watch.ts';
import type { Run, Usage } from './connections/driver.ts';
import type { Database } from './database.ts';
import { type ChangeReads, createChangeReads, readLastChange } from './log.ts';
import { positionOfId, type RecordQuery } from './query/record-query.ts';
import type { WorkspaceId } from './query/tables.ts';
import { createReadBudget, type ReadLimits, type Turn, type WorkspaceScope } from './records/read-budget.ts';
import type { LinkToRead, RecordPage } from './records/read-records.ts';
import { createRecordReads, type RecordReads } from './records/read-records.ts';
import { createTextCache, type DerivedText } from './records/text-cache.ts';
import { applyWrite, type ChangeSource, dryRun, toQueuedCreation } from './writes/apply-changes.ts';
import { type RepeatableRequest, writeWithKey } from './writes/idempotency.ts';
import type { Change, Creation, Decide } from './writes/tx.ts';

export type { LinkToRead, RecordPage, RecordReads, Usage };

export interface TransactionOptions<T> {
  /** Stores the write once: see writes/idempotency.ts. */
  readonly key?: RepeatableRequest | undefined;
  readonly isDryRun?: boolean;
  /** The creation is tried first: see writes/tx.ts. */
  readonly creation?: Creation<T> | undefined;
  /** Set if the transaction's time depends mainly on the number of items. */
  readonly items?: readonly Pick<Change, 'kind'>[];
}

/** Such a write takes a few milliseconds. */
const maxItemsOfSmallWrite = 100;

export interface WorkspaceStore extends WorkspaceReads {
  transaction<T>(decide: Decide<T>, options?: TransactionOptions<T>): Promise<T>;
}

export interface WorkspaceReads extends RecordReads, ChangeReads {
  readonly workspaceName: string;
  snapshot<T>(work: (store: RecordReads) => Promise<T>): Promise<T>;
  /** A snapshot for reads that take minutes. Few run at a time; in memory, all else waits. */
  longSnapshot<T>(work: (store: RecordReads) => Promise<T>): Promise<T>;
  /** Its reads throw ResponseTooLarge. */
  withBudget(limits: ReadLimits, reserveResponse?: (length: number) => void, turn?: Turn): RecordReads & ChangeReads;
  /** A token that differs after each change, even after a restored backup. Calls may share a statement. */
  sharedVersion(): Promise<string>;
  /**
   * Reflects every write committed before the call. Cached until the workspace's next change: from the second request
   * on, or from the first with a version. A name identifies one computation.
   */
  deriveText<T extends DerivedText>(name: string, compute: () => Promise<T>, version?: string): Promise<T>;
  /** Resolves once any process has stored a later change, or the signal is aborted. */
  waitForChange(after: number, signal: AbortSignal): Promise<void>;
}

export interface StoreUser extends ChangeSource {
  readonly usage?: Usage;
}

type OpenStore = (workspace: WorkspaceId, user: StoreUser) => WorkspaceStore;

/** Called once per database: its stores share caches. */
export function createStoreOpener(database: Database): OpenStore {
  const { dialect } = database;
  const texts = createTextCache();
  const watch = createChangeWatch(
    async (workspaceId) => (await readLastChange({ dialect, run: database.read, workspaceId })).number,
  );

  return (workspace, user) => {
    const { number: workspaceId, name: workspaceName } = workspace;
    const { author, importRun, usage = { statements: 0 } } = user;
    const { read, snapshot } = database.forWorkspace(workspaceId);
    const scopeOf = (run: Run): WorkspaceScope => ({
      dialect,
      run: countStatements(run, usage),
      workspaceId,
      workspaceName,
    });
    const reads = createReads(scopeOf(read));
    const transaction: WorkspaceStore['transaction'] = async (decide, { key, isDryRun, creation, items } = {}) => {
      if (isDryRun) return snapshot((run) => dryRun(scopeOf(run), decide));
      // The statement of creations counts none in an import.
      const plain = importRun === undefined ? creation : undefined;
      const write = () =>
        database.transaction((run) => applyWrite(scopeOf(run), user, decide, key), {
          workspaceId,
          isSmall: items !== undefined && items.length <= maxItemsOfSmallWrite,
          creation: plain && toQueuedCreation({ workspaceId, usage }, author, plain, key),
        });
      const { returned, isRepeat } = await (key ? writeWithKey(key, scopeOf(read), write) : write());
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
      withBudget: (limits, reserveResponse, turn) =>
        createReads({ ...scopeOf(read), budget: createReadBudget(limits, reserveResponse, turn) }),
      sharedVersion: () => texts.readVersion(source),
      deriveText: async <T extends DerivedText>(name: string, compute: () => Promise<T>, version?: string) =>
        (await texts.derive(source, name, compute, version)) as T,
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

/** In the order of IDs. Without records, yields one empty page. */
export async function* pagesById(
  { list, resolve }: Pick<RecordReads, 'list' | 'resolve'>,
  kind: RecordKind,
  { limit, where: unresolved }: Pick<RecordQuery, 'where'> & { readonly limit: number },
): AsyncGenerator<readonly AnyRecord[]> {
  const where = await resolve(unresolved);
  let after: RecordQuery['after'];
  for (;;) {
    const records = await list(kind, { where, after, limit });
    const last = records.at(-1);
    if (last || !after) yield records;
    if (!last || records.length < limit) return;
    after = positionOfId(last.id);
  }
}

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
