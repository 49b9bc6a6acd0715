/** Waits of Postgres's connections for each other. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../src/store/database.ts';

/** Resolves when this many connections wait for a lock; fails after five seconds. */
export async function untilWaiting({ read }: Pick<Database, 'read'>, connections: number): Promise<void> {
  const waiting = 'select from pg_locks where not granted and pid <> pg_backend_pid()';
  for (const end = Date.now() + 5_000; (await read(waiting)).length < connections; await pause(5)) {
    if (Date.now() > end) throw new Error(`fewer than ${connections} connections wait`);
  }
}
