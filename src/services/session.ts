import type { WorkspaceStore } from '../store/workspace-store.ts';

/** Who asks, and the store of their workspace. Services take it first; adapters get one for each request. */
export interface Session {
  readonly store: WorkspaceStore;
  /** Noted on records as createdBy and updatedBy; null while the service runs open. */
  readonly userId: string | null;
}
