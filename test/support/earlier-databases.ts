/** Databases that the code of earlier migrations has written, with what it responded: see test/fixtures/databases. */
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import sqlite3 from 'sqlite3';
import { expect } from 'vitest';
import { migrationNames } from '../../src/store/schema/migrations.ts';
import { createDatabase, isPostgres } from './database.ts';
import { query } from './postgres.ts';
import { startService } from './service.ts';

// biome-ignore lint/suspicious/noExplicitAny: the tests say what a response holds.
type Json = any;

/** What was recorded while a database was written. Keys are called by the names of their users. */
interface Recorded {
  /** What the commands listed, in JSON; null if there were no such commands. */
  readonly lists: { readonly workspaces: Json[] | null; readonly keys: Json[] | null };
  /** With the workspace that a key gives access to; null if it is no longer valid. Without keys, the service is open. */
  readonly keys: Readonly<Record<string, { readonly text: string; readonly workspace: string | null }>>;
  /** GraphQL queries by name. */
  readonly queries: Readonly<Record<string, string>>;
  /** Requests that were sent with an Idempotency-Key. */
  readonly repeated: readonly {
    readonly key: string;
    readonly path: string;
    readonly body: object;
    readonly idempotencyKey: string;
    readonly response: Json;
  }[];
  /** Either of a GET of a path or of a query. */
  readonly responses: readonly {
    readonly key: string;
    readonly path?: string;
    readonly query?: string;
    readonly response: Json;
  }[];
}

type Service = Awaited<ReturnType<typeof startService>>;

const folder = 'test/fixtures/databases';
const engine = isPostgres ? 'postgres' : 'sqlite';

/** The numbers of the last migrations of the databases. */
export const versions = readdirSync(folder)
  .filter((name) => /^\d+$/.test(name))
  .toSorted();

/** The names of the migrations that a database has. */
export const migrationsOf = (version: string): readonly string[] => migrationNames.slice(0, Number(version));

/** Those that have not all migrations. */
export const versionsToMigrate = versions.filter((version) => Number(version) < migrationNames.length);

/** A copy of the database, which no one has opened yet. */
export async function earlierDatabase(version: string) {
  const { url, remove } = await createDatabase({ empty: true });
  const file = `${folder}/${version}/${engine}`;
  await execute(url, readFileSync(`${file}.sql`, 'utf8'));
  const recorded: Recorded = JSON.parse(readFileSync(`${file}.json`, 'utf8'));
  return { url, remove, ...recorded };
}

async function execute(url: string, sql: string): Promise<void> {
  if (isPostgres) return void (await query(url, sql));
  const database = new sqlite3.Database(url.replace('sqlite:', ''));
  await promisify(database.exec.bind(database))(sql);
  await promisify(database.close.bind(database))();
}

/** Requests of the user of a key. */
export const clientOf = (service: Service, { keys }: Pick<Recorded, 'keys'>, name: string) => {
  const key = keys[name];
  return key ? service.as(key.text) : service;
};

/** Expects the responses that were recorded. */
export async function compareResponses(service: Service, recorded: Recorded): Promise<void> {
  const compare = async ({ key, path, query = '', response }: Recorded['responses'][number]) => {
    const client = clientOf(service, recorded, key);
    const received = path ? (await client.get(path)).body : await client.data(recorded.queries[query] ?? '');
    expect(received, `${path ?? query} of ${key}`).toEqual(response);
  };
  await Promise.all(recorded.responses.map(compare));
  expect(recorded.responses.length).toBeGreaterThan(0);
}

/** The same, from a service of its own. */
export async function startAndCompare(recorded: Recorded & { readonly url: string }): Promise<void> {
  const service = await startService({ DATABASE_URL: recorded.url });
  await compareResponses(service, recorded);
  await service.stop();
}
