/** Other connections to Postgres, and waits of connections for each other. */
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import type { Database } from '../../src/store/database.ts';

/** A connection that does not belong to the service. The caller must end it. */
export async function connectTo(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

/** Resolves when this many connections wait for a lock; fails after two minutes. */
export async function untilWaiting({ read }: Pick<Database, 'read'>, connections: number): Promise<void> {
  const waiting = 'select from pg_locks where not granted and pid <> pg_backend_pid()';
  for (const end = Date.now() + 120_000; (await read(waiting)).length < connections; await pause(5)) {
    if (Date.now() > end) throw new Error(`fewer than ${connections} connections wait`);
  }
}
