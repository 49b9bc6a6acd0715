/** Reads changes for one request: the histories of a list's records, and the records after a page's changes. */
import DataLoader from 'dataloader';
import type { RecordKind, RecordOf, Values } from '../../model/record-kind.ts';
import { kindNamed, kindOfId } from '../../records/index.ts';
import type { ChangePage, ChangePageQuery } from '../../store/log/change-pages.ts';
import type { Change } from '../../store/log/read-changes.ts';
import type { HistoryQuery } from '../../store/log/read-histories.ts';
import type { LimitedReads } from '../../store/workspace-store.ts';
import type { DocumentPlan } from '../plan/document-plan.ts';

/** Each query object is read once: see loaders.ts. */
export interface ChangeLoaders {
  changePage(query: Omit<ChangePageQuery, 'withBefore'>): Promise<ChangePage>;
  /**
   * Returns a page of a record's changes, latest first; empty if no record has had the ID. All records that pass the
   * same query object in a step are read together.
   */
  history(id: string, query: Omit<HistoryQuery, 'withBefore'>): Promise<ChangePage>;
  /** Returns the record as the change left it; null if it was deleted. */
  after(change: Change): Promise<Values | null>;
  /** Returns the record as it was at a time. */
  versionAt<K extends RecordKind>(kind: K, id: string, at: { readonly time: string }): Promise<RecordOf<K> | null>;
  /** Returns the number of the workspace's last change. */
  lastChange(): Promise<number>;
}

type Once = <T>(key: object, read: () => Promise<T>) => Promise<T>;

export function createChangeLoaders(
  store: LimitedReads,
  plan: DocumentPlan,
  once: Once,
): ChangeLoaders & { clear(): void } {
  // `before` can be long: it is read only if the document selects it.
  const withBefore = plan.storedFields.get('Change')?.has('before') ?? false;
  const histories = new Map<object, DataLoader<string, ChangePage>>();

  function createHistoryLoader({ limit, before }: Omit<HistoryQuery, 'withBefore'>) {
    return new DataLoader<string, ChangePage>(
      orErrors(async (ids) => {
        // Only well-formed IDs reach the database.
        const known = ids.filter((id) => kindOfId(id));
        const histories = await store.histories(known, { before, limit: limit + 1, withBefore });
        const found = new Map(known.map((id, index) => [id, histories[index]]));
        return ids.map((id): ChangePage => {
          const changes = found.get(id) ?? [];
          const page = changes.slice(0, limit);
          return { changes: page, end: page.at(-1)?.number ?? before ?? 0, hasMore: changes.length > limit };
        });
      }),
    );
  }

  const versions = new DataLoader<Change, Values | null>(
    orErrors(async (changes) => {
      const found = new Map<Change, Values | null>();
      const readKind = async (name: string) => {
        const ofKind = changes.filter(({ kind }) => kind === name);
        const records = await store.versions(kindNamed(name), ofKind);
        ofKind.forEach((change, index) => void found.set(change, records[index] ?? null));
      };
      await Promise.all([...new Set(changes.map(({ kind }) => kind))].map(readKind));
      return changes.map((change) => found.get(change) ?? null);
    }),
  );

  return {
    changePage: (query) => once(query, () => store.changePage({ ...query, withBefore })),
    history(id, query) {
      const loader = histories.get(query) ?? createHistoryLoader(query);
      histories.set(query, loader);
      return loader.load(id);
    },
    after: async (change) => (change.action === 'deleted' ? null : versions.load(change)),
    versionAt: async (kind, id, at) =>
      kindOfId(id) === kind ? once(at, () => store.versionAt(kind, id, at.time)) : null,
    lastChange: () => once(store, () => store.lastChange()),
    clear() {
      histories.clear();
      versions.clearAll();
    },
  };
}

/** Returns errors as values, because DataLoader forgets a batch that fails, and would read it again. */
const orErrors =
  <Key, T>(read: (keys: readonly Key[]) => Promise<T[]>) =>
  (keys: readonly Key[]): Promise<(T | Error)[]> =>
    read(keys).catch((error: Error) => keys.map(() => error));
