/** Opens databases for single tests, or for all of a file. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { createDatabase } from './database.ts';

/** Opens a new database. The caller must close it, which removes it. */
export async function openOwnDatabase() {
  const { url, remove } = await createDatabase();
  const database = await openDatabase(url);
  const close = async () => {
    await database.close();
    await remove();
  };
  return { database, url, close };
}

/** A new database for each test of a file. */
export const useDatabase = (): Database => opened(beforeEach, afterEach);

/** One database for all tests of a file. */
export const useSharedDatabase = (): Database => opened(beforeAll, afterAll);

function opened(before: (open: () => Promise<void>) => void, after: (close: () => Promise<void>) => void): Database {
  const current = {} as Database;
  let close: () => Promise<void>;
  before(async () => {
    const own = await openOwnDatabase();
    Object.assign(current, own.database);
    close = own.close;
  });
  after(() => close());
  return current;
}
