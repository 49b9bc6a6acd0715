/**
 * Loads records by id for one request: whatever is asked for in the same step becomes one statement for each kind.
 * Goes through the session's store, and so never sees another workspace.
 */
import DataLoader from 'dataloader';
import type { RecordKind, RecordOf } from '../model/record-kind.ts';
import { kindOfId } from '../records/index.ts';
import type { WorkspaceStore } from '../store/workspace-store.ts';

export interface Loaders {
  /** The record, or null when there is none: the id is unknown, foreign, or of another kind. */
  load<K extends RecordKind>(kind: K, id: string): Promise<RecordOf<K> | null>;
  /** How many records of a kind there are, counted once. */
  count(kind: RecordKind): Promise<number>;
  /** Forgets everything: after a write, what was loaded may be stale. */
  clear(): void;
}

type Loader = DataLoader<string, { readonly id: string } | null>;

export function createLoaders(store: WorkspaceStore): Loaders {
  const loaders = new Map<RecordKind, Loader>();

  const counts = new Map<RecordKind, Promise<number>>();

  const loaderOf = (kind: RecordKind): Loader => {
    const loader = loaders.get(kind) ?? new DataLoader((ids: readonly string[]) => loadAll(store, kind, ids));
    loaders.set(kind, loader);
    return loader;
  };

  return {
    async load<K extends RecordKind>(kind: K, id: string) {
      if (kindOfId(id) !== kind) return null;
      // Sound because a kind's loader returns what the store finds for that kind.
      return (await loaderOf(kind).load(id)) as RecordOf<K> | null;
    },
    count(kind) {
      const count = counts.get(kind) ?? store.count(kind);
      counts.set(kind, count);
      return count;
    },
    clear() {
      loaders.clear();
      counts.clear();
    },
  };
}

async function loadAll(store: WorkspaceStore, kind: RecordKind, ids: readonly string[]) {
  const records = await store.find(kind, ids);
  const recordsById = new Map(records.map((record) => [record.id, record]));
  return ids.map((id) => recordsById.get(id) ?? null);
}
