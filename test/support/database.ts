/** Databases for tests, on the engine that the tests run on. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, inject } from 'vitest';
import { clearDatabase, databaseUrl, dropDatabase, makeDatabase } from './postgres.ts';
import { fastFolder } from './sqlite-template.ts';

const server = inject('postgres');
const serviceServer = inject('postgresService');

export const isPostgres = server !== undefined;

interface TestDatabase {
  readonly url: string;
  remove(): Promise<void>;
}

/** Databases that earlier tests of this process have left: with the schema of the service, without records. */
const cleared: string[] = [];

/**
 * A database without records that several processes can open. It has the schema of the service unless it is to be `empty`: on SQLite,
 * the file does not exist then.
 */
export async function createDatabase({ empty = false } = {}): Promise<TestDatabase> {
  if (!server || !serviceServer) return createFile({ empty });
  const name = (empty ? undefined : cleared.pop()) ?? (await makeDatabase(server, { empty }));
  const remove = async () => {
    // Creating a database takes far longer than clearing one.
    if (!empty && (await clearDatabase(server, name, { isPooled: server !== serviceServer }))) cleared.push(name);
    else await dropDatabase(server, name);
  };
  return { url: databaseUrl(serviceServer, name), remove };
}

/** A database file: the same on either engine. */
export async function createFile({ empty = false } = {}): Promise<TestDatabase> {
  const folder = mkdtempSync(join(fastFolder, 'yardgraph-'));
  const path = join(folder, 'yardgraph.db');
  // Migrating an empty one takes thirty times as long.
  if (!empty) copyFileSync(inject('sqliteTemplate'), path);
  return { url: `sqlite:${path}`, remove: async () => rmSync(folder, { recursive: true }) };
}

/** A database for each test of a file, which is removed when the hooks have run that the file adds later. */
export function useTestDatabase(options = {}): { readonly url: string } {
  const current = { url: '' };
  let remove: () => Promise<void>;
  beforeEach(async () => {
    ({ url: current.url, remove } = await createDatabase(options));
  });
  afterEach(() => remove());
  return current;
}
