/** Sessions: who makes a request, in which workspace, and whether they may write. */
import { forbidden } from '../errors.ts';
import type { TransactionStore } from '../store/workspace-store.ts';

/** A user and the store of their workspace. Services take it as their first argument; adapters get one for each request. */
export interface Session<S extends TransactionStore = TransactionStore> {
  readonly store: S;
  /** Noted on records as createdBy and updatedBy; null while the service runs open. */
  readonly userId: string | null;
  readonly mayWrite: boolean;
}

/** Called first by every service that writes. Throws a ServiceError 403. */
export function requireMayWrite({ mayWrite }: Session): void {
  if (!mayWrite) throw forbidden('this API key is read-only');
}
