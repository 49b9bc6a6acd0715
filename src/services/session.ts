/** Sessions: who makes a request, in which workspace, and whether they may write. */
import { forbidden } from '../errors.ts';
import type { WorkspaceReads, WorkspaceStore, WriteRecords } from '../store/workspace-store.ts';
import type { IdempotencyKey } from '../store/writes/idempotency.ts';

export interface Session {
  readonly store: WorkspaceReads;
  /** The name of the workspace, which records have as their `workspaceId`. */
  readonly workspace: string;
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
  workspace: store.workspaceName,
  userId,
  writer() {
    if (!mayWrite) throw forbidden('this API key is read-only', 'read-only key');
    return store.write;
  },
});

/** What records say of the session that wrote them. */
export type Author = Pick<Session, 'workspace' | 'userId'>;

/** Checks a write and returns its result, but stores nothing. New records have IDs other than those that the write will give them. */
export const dryRun = (session: Session): Session => ({
  ...session,
  writer() {
    const write = session.writer();
    return (work) => write(work, { isDryRun: true });
  },
});

/** Writes once for the key. A repeat returns the stored result, with the records as they were, and calls `onRepeat`. */
export function withIdempotencyKey(session: Session, key: IdempotencyKey | undefined, onRepeat: () => void): Session {
  if (!key) return session;
  let isUsed = false;
  return {
    ...session,
    writer() {
      const write = session.writer();
      return (work, options) => {
        if (isUsed) throw new Error('a session with a key writes once');
        isUsed = true;
        return write(work, { ...options, key: { ...key, onRepeat } });
      };
    },
  };
}
