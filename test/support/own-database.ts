/** Opens databases for single tests, or for all of a file. */
import { type Database, openDatabase } from '../../src/store/database.ts';
import { createDatabase } from './database.ts';

/** Opens a new database. Return `close` from the hook that opens it: Vitest calls it afterwards. */
export async function openOwnDatabase(): Promise<{ readonly database: Database; close(): Promise<void> }> {
  const { url, remove } = await createDatabase();
  const database = await openDatabase(url);
  const close = async () => {
    await database.close();
    await remove();
  };
  return { database, close };
}
