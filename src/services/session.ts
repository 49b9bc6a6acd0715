/** Sessions: who makes a request, in which workspace, and whether they may write. */
import { forbidden } from '../errors.ts';
import type { RecordKind, RecordOf } from '../model/record-kind.ts';
import type { WorkspaceReads, WorkspaceStore, WriteRecords } from '../store/workspace-store.ts';
import type { Stamps } from '../store/writes/work.ts';

export interface Session {
  readonly store: WorkspaceReads;
  /** Recorded as `createdBy` and `updatedBy`; null while the service runs open. */
  readonly userId: string | null;
  /** Returns the function that writes, the only way to write. Throws a ServiceError 403 if the user may only read. */
  writer(): WriteRecords;
}

export const createSession = (
  store: WorkspaceStore,
  { userId, mayWrite }: { readonly userId: string | null; readonly mayWrite: boolean },
): Session => ({
  store,
  userId,
  writer() {
    if (!mayWrite) throw forbidden('this API key is read-only', 'read-only key');
    return store.write;
  },
});

/** Checks a write and returns its result, but stores nothing. New records have IDs other than those that the write will give them. */
export const dryRun = (session: Session): Session => ({
  ...session,
  writer() {
    const write = session.writer();
    return (work) => write(work, { isDryRun: true });
  },
});

/** A new record counts as last changed by its creator. */
export function creationStamps(
  kind: RecordKind,
  { userId }: Pick<Session, 'userId'>,
  now = new Date().toISOString(),
): Stamps {
  const users = Object.fromEntries(kind.stamps.map((stamp) => [stamp, userId]));
  return { createdAt: now, updatedAt: now, ...users };
}

type UpdateStamps<K extends RecordKind> = Partial<RecordOf<K>> & Pick<Stamps, 'updatedAt'>;

/** No two versions of a record have the same `updatedAt`, even when the clock is behind. */
export const updateStamps = <K extends RecordKind>(
  kind: K,
  { userId }: Pick<Session, 'userId'>,
  current: RecordOf<K>,
): UpdateStamps<K> =>
  // The cast is safe: these are fields of the kind, with values that they may have.
  ({
    updatedAt: timeAfter(current),
    ...(kind.stamps.includes('updatedBy') && { updatedBy: userId }),
  }) as object as UpdateStamps<K>;

export const timeAfter = ({ updatedAt }: { readonly updatedAt: string }): string =>
  new Date(Math.max(Date.now(), Date.parse(updatedAt) + 1)).toISOString();
