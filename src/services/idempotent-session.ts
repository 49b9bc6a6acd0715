/** Requests that may be repeated: the first one writes, and the others get the same result. */
import { kindOfId } from '../records/index.ts';
import { WorkspaceDeleted } from '../store/connections/database-error.ts';
import type { VersionAt } from '../store/log/read-changes.ts';
import type { WorkspaceReads, WriteRecords } from '../store/workspace-store.ts';
import { type IdempotencyKey, idsToRecords, Repeated, type WriteResult } from '../store/writes/idempotency.ts';
import type { Work } from '../store/writes/work.ts';
import type { Session } from './session.ts';

/** Writes once for the key. A repeat returns the stored result, with the records as they were, and calls `onRepeat`. */
export function withIdempotencyKey(session: Session, key: IdempotencyKey | undefined, onRepeat: () => void): Session {
  if (!key) return session;
  let isUsed = false;
  return {
    ...session,
    writer() {
      const write = session.writer();
      return async <T>(work: Work<T>, options?: Parameters<WriteRecords>[1]) => {
        if (isUsed) throw new Error('a session with a key writes once');
        isUsed = true;
        try {
          return await write(work, { ...options, key });
        } catch (error) {
          if (!(error instanceof Repeated)) throw error;
          const returned = await returnedBy(session.store, error.result);
          onRepeat();
          // The cast is safe: a request with the same key, operation and body returned it.
          return returned as T;
        }
      };
    },
  };
}

/** The number of statements does not depend on the number of records. */
async function returnedBy(store: WorkspaceReads, { before, after, returned }: WriteResult): Promise<unknown> {
  const ids = new Set<string>();
  idsToRecords(returned, (id) => {
    ids.add(id);
    return {};
  });
  const records = await recordsAt(store, ids, after);
  // The write deleted the others: they are returned as they were before it.
  const deleted = [...ids].filter((id) => !records.has(id));
  for (const [id, record] of await recordsAt(store, deleted, before)) records.set(id, record);
  return idsToRecords(returned, (id) => {
    const record = records.get(id);
    // The log is deleted only with its workspace: another process has done that since the key was found.
    if (!record) throw new WorkspaceDeleted();
    return record;
  });
}

/** Returns the records as they were right after the change with this number, by ID. */
async function recordsAt(store: WorkspaceReads, ids: Iterable<string>, number: number): Promise<Map<string, object>> {
  const records = new Map<string, object>();
  const keys = [...ids].map((id): VersionAt => ({ id, number }));
  for (const kind of new Set(keys.map(({ id }) => kindOfId(id)))) {
    if (!kind) continue;
    const ofKind = keys.filter(({ id }) => kindOfId(id) === kind);
    for (const record of await store.versions(kind, ofKind)) if (record) records.set(record.id, record);
  }
  return records;
}
