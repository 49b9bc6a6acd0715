/** Dry runs: a write is checked and its result returned, but nothing is stored. */
import type { WorkspaceStore } from '../store/workspace-store.ts';
import { requireMayWrite, type Session } from './session.ts';

/**
 * Runs services with a store that writes nothing, so that a dry run checks exactly what the write would. New records have IDs, but not
 * those that the write will give them. Throws what the services throw.
 */
export async function dryRun<T>(session: Session<WorkspaceStore>, work: (session: Session) => Promise<T>): Promise<T> {
  requireMayWrite(session);
  return session.store.dryRun((store) => work({ ...session, store }));
}
