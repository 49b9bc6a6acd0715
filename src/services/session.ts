/** Sessions: who makes a request, in which workspace, and whether they may write. */
import { forbidden } from '../errors.ts';
import type { WorkspaceReads, WorkspaceStore, WriteRecords } from '../store/workspace-store.ts';

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
