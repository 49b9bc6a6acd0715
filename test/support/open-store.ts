/** Opens stores as the service does, for requests of nobody in particular. */
import type { Database } from '../../src/store/database.ts';
import type { Usage } from '../../src/store/usage.ts';
import { createStoreOpener, type WorkspaceStore } from '../../src/store/workspace-store.ts';

export const nobody = { userId: null, requestId: null, message: null };

/** Stores that share what those of one process share. */
export function storeOpener(database: Database) {
  const open = createStoreOpener(database);
  return (workspaceId: string, usage: Usage = { statements: 0 }): WorkspaceStore =>
    open(workspaceId, { author: nobody, usage });
}
