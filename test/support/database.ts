/** Fresh databases for tests, on the engine that the tests run on. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { databaseUrl, query, template, testDatabasePrefix } from './postgres.ts';

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
  const name = `${testDatabasePrefix}${randomBytes(6).toString('hex')}`;
  await query(server, `create database ${name}${empty ? '' : ` template ${template}`}`);
  return {
    url: databaseUrl(serviceServer, name),
    remove: async () => void (await query(server, `drop database ${name} with (force)`)),
  };
}

/** A database file, which is not there yet. */
export async function createFile(): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'yardgraph-'));
  return { url: `sqlite:${folder}/yardgraph.db`, remove: async () => rmSync(folder, { recursive: true }) };
}

/** The fastest fresh database: for one process only. */
export const createOwnDatabase = async (): Promise<TestDatabase> =>
  isPostgres ? createDatabase() : { url: 'sqlite::memory:', remove: async () => {} };
