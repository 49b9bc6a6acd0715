/** Fresh databases for tests, on the engine that the tests run on. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { databaseUrl, dropDatabase, makeDatabase } from './postgres.ts';

const server = inject('postgres');
const serviceServer = inject('postgresService');

export const isPostgres = server !== undefined;

interface TestDatabase {
  readonly url: string;
  remove(): Promise<void>;
}

/** A database that several processes can open. On SQLite it is not there yet, on Postgres it may be `empty` too. */
export async function createDatabase({ empty = false } = {}): Promise<TestDatabase> {
  if (!server || !serviceServer) return createFile();
  const name = await makeDatabase(server, { empty });
  return { url: databaseUrl(serviceServer, name), remove: () => dropDatabase(server, name) };
}

/** A database file, which is not there yet. */
export async function createFile(): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'yardgraph-'));
  return { url: `sqlite:${folder}/yardgraph.db`, remove: async () => rmSync(folder, { recursive: true }) };
}

/** The fastest fresh database: for one process only. */
export const createOwnDatabase = async (): Promise<TestDatabase> =>
  isPostgres ? createDatabase() : { url: 'sqlite::memory:', remove: async () => {} };
