/** Opens stores as the service does, for requests of nobody in particular. */

import { createHash } from 'node:crypto';
import type { Usage } from '../../src/store/connections/driver.ts';
import type { Database } from '../../src/store/database.ts';
import { createStoreOpener, type WorkspaceStore } from '../../src/store/workspace-store.ts';

export const nobody = { userId: null, requestId: null, message: null };

/** The same in every database, so that a store can be opened without looking it up. The first workspace of a database is `default`. */
export const numberOf = (name: string): number =>
  name === 'default' ? 1 : 1_000 + createHash('sha256').update(name).digest().readUInt32BE();

/** Stores that share what those of one process share. */
export function storeOpener(database: Database) {
  const open = createStoreOpener(database);
  return (name: string, usage: Usage = { statements: 0 }): WorkspaceStore =>
    open({ number: numberOf(name), name }, { author: nobody, usage });
}

/** Makes a workspace known by its name, for operators' commands and for keys that are created later. */
export async function addWorkspace(database: Database, name: string): Promise<void> {
  await database.run(
    `insert into workspaces (number, name) values (${numberOf(name)}, '${name}') on conflict do nothing`,
  );
}
