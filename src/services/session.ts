import { forbidden } from '../errors.ts';
import type { TransactionStore } from '../store/workspace-store.ts';

/** Who asks, and the store of their workspace. Services take it first; adapters get one for each request. */
export interface Session<S extends TransactionStore = TransactionStore> {
  readonly store: S;
  /** Noted on records as createdBy and updatedBy; null while the service runs open. */
  readonly userId: string | null;
  readonly mayWrite: boolean;
}

/** Every service that writes asks first. Throws a ServiceError 403. */
export function requireMayWrite({ mayWrite }: Session): void {
  if (!mayWrite) throw forbidden('this API key is read-only');
}
