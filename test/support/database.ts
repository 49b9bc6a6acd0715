/** Databases for tests, on the engine that the tests run on. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { clearDatabase, databaseUrl, dropDatabase, makeDatabase } from './postgres.ts';

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
 * A database without records that several processes can open. On Postgres it has the schema of the service unless it is to be
 * `empty`; on SQLite the file does not exist yet.
 */
export async function createDatabase({ empty = false } = {}): Promise<TestDatabase> {
  if (!server || !serviceServer) return createFile();
  const name = (empty ? undefined : cleared.pop()) ?? (await makeDatabase(server, { empty }));
  const remove = async () => {
    // Creating a database takes far longer than clearing one.
    if (!empty && (await clearDatabase(server, name, { isPooled: server !== serviceServer }))) cleared.push(name);
    else await dropDatabase(server, name);
  };
  return { url: databaseUrl(serviceServer, name), remove };
}

/** A database file, which does not exist yet. */
export async function createFile(): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'yardgraph-'));
  return { url: `sqlite:${folder}/yardgraph.db`, remove: async () => rmSync(folder, { recursive: true }) };
}

/** The fastest database without records: for one process only. */
export const createOwnDatabase = async (): Promise<TestDatabase> =>
  isPostgres ? createDatabase() : { url: 'sqlite::memory:', remove: async () => {} };
