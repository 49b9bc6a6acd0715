/**
 * Reads records for one request: all IDs requested in the same step become one statement per kind, with the columns that
 * the document selects. Reads through the session's store, and so never sees another workspace.
 */
import DataLoader from 'dataloader';
import type { FieldNode } from 'graphql';
import type { RecordKind, RecordOf } from '../../model/record-kind.ts';
import { kindNamed, kindOfId } from '../../records/index.ts';
import type { RecordQuery } from '../../store/query.ts';
import type { LimitedReads } from '../../store/workspace-store.ts';
import type { DocumentPlan, Link, Selection } from '../plan/document-plan.ts';

/** Records have the fields that the document selects, and their ID. */
export interface Loaders {
  /** The record, or null if there is none: the ID is unknown, foreign, or of another kind. A promise unless it is loaded. */
  load<K extends RecordKind>(kind: K, id: string): RecordOf<K> | null | Promise<RecordOf<K> | null>;
  list<K extends RecordKind>(kind: K, query: RecordQuery): Promise<RecordOf<K>[]>;
  /** Loads what the records of a list link to, level by level, so that the resolvers of the links need not wait. */
  follow(records: readonly object[], listFields: readonly FieldNode[]): Promise<void>;
  /** The number of records of a kind, counted once. */
  count(kind: RecordKind): Promise<number>;
  /** Discards everything loaded, which may be stale after a write. */
  clear(): void;
  /** Discards everything loaded and starts a new read budget, for an operation that is executed again. */
  reset(): void;
}

/** The records of one kind. */
interface Cache {
  /** By ID; null if there is none. */
  readonly records: Map<string, object | null>;
  /** Adds the records with these IDs. */
  readonly loader: DataLoader<readonly string[], unknown>;
}

/** The links of one field, which fragments and aliases may select several times. */
type LinksOfField = [Link, ...Link[]];
type LinksByField = ReadonlyMap<string, LinksOfField>;

/** Shared by all documents, because the store caches what it derives from a set of fields. */
const idOnly: ReadonlySet<string> = new Set(['id']);

export function createLoaders(openStore: () => LimitedReads, plan: DocumentPlan): Loaders {
  let store = openStore();
  const caches = new Map<RecordKind, Cache>();
  const counts = new Map<RecordKind, Promise<number>>();
  const fieldsOf = ({ name }: RecordKind) => plan.storedFields.get(name) ?? idOnly;

  function cacheOf(kind: RecordKind): Cache {
    const cache = caches.get(kind) ?? createCache(store, kind, fieldsOf(kind));
    caches.set(kind, cache);
    return cache;
  }

  async function followLinks(records: readonly object[], linksByField: LinksByField): Promise<void> {
    await Promise.all([...linksByField.values()].map((links) => followLink(records, links)));
  }

  /** Follows the links of one field, each of which may have other links below it. */
  async function followLink(records: readonly object[], links: LinksOfField): Promise<void> {
    const [{ storedField, target }] = links;
    const kind = kindNamed(target);
    const cache = cacheOf(kind);
    const ids = new Set<string>();
    for (const { [storedField]: id } of records as readonly Readonly<Record<string, unknown>>[]) {
      if (typeof id === 'string' && kindOfId(id) === kind) ids.add(id);
    }
    if (ids.size === 0) return;
    const missing = [...ids].filter((id) => !cache.records.has(id));
    if (missing.length > 0) await cache.loader.load(missing);
    const linksBelow = linksIn(links.map(({ selection }) => selection));
    if (linksBelow.size === 0) return;
    const found = [...ids].flatMap((id) => cache.records.get(id) ?? []);
    await followLinks(found, linksBelow);
  }

  function clear(): void {
    caches.clear();
    counts.clear();
  }

  return {
    load<K extends RecordKind>(kind: K, id: string) {
      if (kindOfId(id) !== kind) return null;
      const { records, loader } = cacheOf(kind);
      // The cast is safe because a kind's cache holds what the store finds for that kind.
      const loaded = () => records.get(id) as RecordOf<K> | null | undefined;
      const record = loaded();
      return record === undefined ? loader.load([id]).then(() => loaded() ?? null) : record;
    },
    list: (kind, query) => store.list(kind, { ...query, fields: fieldsOf(kind) }),
    follow: (records, listFields) =>
      followLinks(records, linksIn(listFields.flatMap((field) => plan.listSelections.get(field) ?? []))),
    count(kind) {
      const count = counts.get(kind) ?? store.count(kind);
      counts.set(kind, count);
      return count;
    },
    clear,
    reset() {
      clear();
      store = openStore();
    },
  };
}

/** The links of the selections and of their fragments, each fragment once. */
function linksIn(selections: Iterable<Selection>): LinksByField {
  const byField = new Map<string, LinksOfField>();
  const all = new Set(selections);
  // The loop also visits the selections that it adds.
  for (const { links, parts } of all) {
    for (const link of links) {
      const sameField = byField.get(link.storedField);
      if (sameField) sameField.push(link);
      else byField.set(link.storedField, [link]);
    }
    for (const part of parts) all.add(part);
  }
  return byField;
}

function createCache(store: LimitedReads, kind: RecordKind, fields: ReadonlySet<string>): Cache {
  const records = new Map<string, object | null>();
  const loader = new DataLoader<readonly string[], unknown>(
    async (requests) => {
      const ids = [...new Set(requests.flat())];
      const found = await store.find(kind, ids, fields);
      for (const id of ids) records.set(id, null);
      for (const record of found) records.set(record.id, record);
      return requests;
    },
    { cache: false },
  );
  return { records, loader };
}
