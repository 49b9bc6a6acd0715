/** Reads changes for one request: the histories of a list's records, and the records after a page's changes. */
import type DataLoader from 'dataloader';
import type { RecordKind, RecordOf, Values } from '../../model/record-kind.ts';
import { kindNamed, kindOfId } from '../../records/index.ts';
import type { ChangePage, ChangePageQuery } from '../../store/log/change-pages.ts';
import type { Change } from '../../store/log/read-changes.ts';
import type { HistoryQuery } from '../../store/log/read-histories.ts';
import type { LimitedReads } from '../../store/workspace-store.ts';
import type { DocumentPlan } from '../plan/document-plan.ts';
import { createBatchLoader } from './batch-loader.ts';

export interface ChangeLoaders {
  changePage(query: Omit<ChangePageQuery, 'withBefore'>): Promise<ChangePage>;
  /**
   * Returns a page of a record's changes, latest first; empty if no record has had the ID. All records whose pages
   * are requested by the same query in a step are read together.
   */
  history(id: string, query: Omit<HistoryQuery, 'withBefore'>): Promise<ChangePage>;
  /** Returns the record as the change left it; null if it was deleted. */
  after(change: Change): Promise<Values | null>;
  /** Returns the record as it was at a time. */
  versionAt<K extends RecordKind>(kind: K, id: string, time: string): Promise<RecordOf<K> | null>;
  /** Returns the number of the workspace's last change. */
  lastChange(): Promise<number>;
}

/** Begins a read unless one with the same key has begun. */
export type Once = <T>(key: string, read: () => Promise<T>) => Promise<T>;

export function createChangeLoaders(
  store: LimitedReads,
  plan: DocumentPlan,
  once: Once,
): ChangeLoaders & { clear(): void } {
  // `before` can be long: it is read only if the document selects it.
  const withBefore = plan.storedFields.get('Change')?.has('before') ?? false;
  const historyLoaders = new Map<string, DataLoader<string, ChangePage>>();

  function createHistoryLoader({ limit, before }: Omit<HistoryQuery, 'withBefore'>) {
    return createBatchLoader(async (ids: readonly string[]) => {
      // Only well-formed IDs reach the database.
      const known = ids.filter((id) => kindOfId(id));
      const histories = await store.histories(known, { before, limit: limit + 1, withBefore });
      const found = new Map(known.map((id, index) => [id, histories[index]]));
      return ids.map((id): ChangePage => {
        const changes = found.get(id) ?? [];
        const page = changes.slice(0, limit);
        return { changes: page, end: page.at(-1)?.number ?? before ?? 0, hasMore: changes.length > limit };
      });
    });
  }

  async function readVersions(changes: readonly Change[]): Promise<(Values | null)[]> {
    const found = new Map<number, Values | null>();
    const readKind = async (name: string) => {
      const ofKind = changes.filter(({ kind }) => kind === name);
      const records = await store.versions(kindNamed(name), ofKind);
      ofKind.forEach(({ number }, index) => void found.set(number, records[index] ?? null));
    };
    await Promise.all([...new Set(changes.map(({ kind }) => kind))].map(readKind));
    return changes.map(({ number }) => found.get(number) ?? null);
  }
  const versions = createBatchLoader(readVersions, ({ number }) => number);

  return {
    changePage: (query) => once(`changes ${JSON.stringify(query)}`, () => store.changePage({ ...query, withBefore })),
    history(id, query) {
      const key = `${query.limit} ${query.before}`;
      const loader = historyLoaders.get(key) ?? createHistoryLoader(query);
      historyLoaders.set(key, loader);
      return loader.load(id);
    },
    after: async (change) => (change.action === 'deleted' ? null : versions.load(change)),
    versionAt: async (kind, id, time) =>
      kindOfId(id) === kind ? once(`version ${id} ${time}`, () => store.versionAt(kind, id, time)) : null,
    lastChange: () => once('last change', () => store.lastChange()),
    clear() {
      historyLoaders.clear();
      versions.clearAll();
    },
  };
}
