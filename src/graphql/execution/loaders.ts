/**
 * Reads records for one request: whatever is asked for in the same step becomes one statement for each kind, with the
 * columns that the operation asks for. Goes through the session's store, and so never sees another workspace.
 */
import DataLoader from 'dataloader';
import type { RecordKind, RecordOf } from '../../model/record-kind.ts';
import { kindNamed, kindOfId } from '../../records/index.ts';
import type { RecordQuery } from '../../store/query.ts';
import type { LimitedReads } from '../../store/workspace-store.ts';
import type { AskedFields, Link } from './document-plan.ts';

/** Records have the fields that the operation asks for. */
export interface Loaders {
  /** The record, or null when there is none: the id is unknown, foreign, or of another kind. At once when it was loaded. */
  load<K extends RecordKind>(kind: K, id: string): RecordOf<K> | null | Promise<RecordOf<K> | null>;
  list<K extends RecordKind>(kind: K, query: RecordQuery): Promise<RecordOf<K>[]>;
  /** Follows links for a whole list, level by level, so that each record's link is there when it is answered. */
  follow(records: readonly object[], links: readonly Link[]): Promise<void>;
  /** How many records of a kind there are, counted once. */
  count(kind: RecordKind): Promise<number>;
  /** Forgets everything: after a write, what was loaded may be stale. */
  clear(): void;
  /** Forgets what was read, and how much: for an operation that is executed again. */
  renew(): void;
}

interface Known {
  /** By id; null where there is none. */
  readonly records: Map<string, object | null>;
  /** Makes ids known. */
  readonly loader: DataLoader<readonly string[], unknown>;
}

export function createLoaders(open: () => LimitedReads, asked: AskedFields): Loaders {
  let store = open();
  const knownByKind = new Map<RecordKind, Known>();
  const counts = new Map<RecordKind, Promise<number>>();

  function knownOf(kind: RecordKind): Known {
    const known = knownByKind.get(kind) ?? createKnown(store, kind, asked.get(kind.name));
    knownByKind.set(kind, known);
    return known;
  }

  async function followLink(records: readonly object[], { storedField, target, links }: Link): Promise<void> {
    const kind = kindNamed(target);
    const known = knownOf(kind);
    const ids = new Set<string>();
    for (const { [storedField]: id } of records as readonly Readonly<Record<string, unknown>>[]) {
      if (typeof id === 'string' && kindOfId(id) === kind) ids.add(id);
    }
    if (ids.size === 0) return;
    const unknown = [...ids].filter((id) => !known.records.has(id));
    if (unknown.length > 0) await known.loader.load(unknown);
    if (links.length > 0) {
      const found = [...ids].flatMap((id) => known.records.get(id) ?? []);
      await follow(found, links);
    }
  }

  const follow = async (records: readonly object[], links: readonly Link[]): Promise<void> => {
    await Promise.all(links.map((link) => followLink(records, link)));
  };

  function clear(): void {
    knownByKind.clear();
    counts.clear();
  }

  return {
    load<K extends RecordKind>(kind: K, id: string) {
      if (kindOfId(id) !== kind) return null;
      const { records, loader } = knownOf(kind);
      // Sound because what is known of a kind is what the store finds for that kind.
      const knownRecord = () => records.get(id) as RecordOf<K> | null | undefined;
      const record = knownRecord();
      return record === undefined ? loader.load([id]).then(() => knownRecord() ?? null) : record;
    },
    list: (kind, query) => store.list(kind, { ...query, fields: asked.get(kind.name) }),
    follow,
    count(kind) {
      const count = counts.get(kind) ?? store.count(kind);
      counts.set(kind, count);
      return count;
    },
    clear,
    renew() {
      clear();
      store = open();
    },
  };
}

function createKnown(store: LimitedReads, kind: RecordKind, fields: ReadonlySet<string> | undefined): Known {
  const records = new Map<string, object | null>();
  const loader = new DataLoader<readonly string[], unknown>(
    async (asked) => {
      const ids = [...new Set(asked.flat())];
      const found = await store.find(kind, ids, fields);
      for (const id of ids) records.set(id, null);
      for (const record of found) records.set(record.id, record);
      return asked;
    },
    { cache: false },
  );
  return { records, loader };
}
