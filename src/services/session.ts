/** Sessions: who makes a request, in which workspace, and whether they may write. */
import { forbidden } from '../errors.ts';
import type { WorkspaceStore } from '../store/workspace-store.ts';

/** The part of a store that services use. Both a request's store and a transaction's have it. */
type ServiceStore = Pick<WorkspaceStore, 'add' | 'transaction'>;

/** A user and the store of their workspace. Services take it as their first argument; adapters get one for each request. */
export interface Session<S extends ServiceStore = ServiceStore> {
  readonly store: S;
  /** Recorded as `createdBy` and `updatedBy`; null while the service runs open. */
  readonly userId: string | null;
  readonly mayWrite: boolean;
}

/** Called first by every service that writes. Throws a ServiceError 403. */
export function requireMayWrite({ mayWrite }: Session): void {
  if (!mayWrite) throw forbidden('this API key is read-only', 'read-only key');
}
