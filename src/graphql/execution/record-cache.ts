/** Caches the records of one kind for one request, by ID: those requested in the same step become one statement. */
import DataLoader from 'dataloader';
import type { RecordKind } from '../../model/record-kind.ts';
import type { LimitedReads } from '../../store/workspace-store.ts';

export interface RecordCache {
  /** Records by ID; null for an ID without a record. */
  readonly records: ReadonlyMap<string, object | null>;
  /** Adds a record that need not be read, or null for an ID that must have none. */
  set(id: string, record: object | null): void;
  /** Loads the records with these IDs. A read that failed is not repeated. */
  readonly loader: DataLoader<readonly string[], unknown>;
}

export function createRecordCache(
  store: Pick<LimitedReads, 'find'>,
  kind: RecordKind,
  fields: ReadonlySet<string>,
): RecordCache {
  const records = new Map<string, object | null>();
  const errors = new Map<string, Error>();

  async function read(ids: readonly string[]): Promise<void> {
    try {
      const found = await store.find(kind, ids, fields);
      for (const id of ids) records.set(id, null);
      for (const record of found) records.set(record.id, record);
    } catch (error) {
      for (const id of ids) errors.set(id, error as Error);
    }
  }

  const loader = new DataLoader<readonly string[], unknown>(
    async (requests) => {
      const ids = [...new Set(requests.flat())].filter((id) => !errors.has(id));
      if (ids.length > 0) await read(ids);
      return requests.map((request) => request.map((id) => errors.get(id)).find((error) => error) ?? request);
    },
    { cache: false },
  );
  return { records, set: (id, record) => void records.set(id, record), loader };
}
