/** The service on a fresh database, reached without a port. */
import type { InjectOptions } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { createApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { recordKinds } from '../../src/records/index.ts';
import { openDatabase } from '../../src/store/database.ts';
import { createOwnDatabase } from './database.ts';

// biome-ignore lint/suspicious/noExplicitAny: what was answered is what the tests are about.
type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly body: Json;
}

type Settings = Readonly<Record<string, string>>;
type Service = Awaited<ReturnType<typeof startService>>;

/** Starts a service; whoever starts it stops it. */
export async function startService(settings: Settings = {}) {
  const { url, remove } = await createOwnDatabase();
  const config = loadConfig({ DATABASE_URL: url, LOG_LEVEL: 'silent', ...settings });
  const database = await openDatabase(config.databaseUrl, config.databaseOptions);
  const unfiltered: string[] = [];
  database.knex.on('query', ({ sql }: { sql: string }) => {
    if (!isFiltered(sql)) unfiltered.push(sql);
  });
  const app = await createApp(database, config);

  async function inject(options: InjectOptions): Promise<Answer> {
    const { statusCode, headers, body } = await app.inject(options);
    return { status: statusCode, headers, text: body, body: jsonOf(body) };
  }

  /** Sends a body as JSON; text is sent as it is. */
  const send = (method: 'POST' | 'PATCH' | 'PUT' | 'DELETE', url: string, body?: unknown, headers = {}) =>
    inject({
      method,
      url,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    });

  return {
    app,
    database,
    inject,
    send,
    post: (url: string, body: unknown, headers = {}) => send('POST', url, body, headers),
    patch: (url: string, body: unknown, headers = {}) => send('PATCH', url, body, headers),
    get: (url: string, headers = {}) => inject({ method: 'GET', url, headers }),

    /** Creates records that must be accepted. */
    async create(url: string, ...records: object[]): Promise<Json[]> {
      const answer = await send('POST', url, records);
      if (answer.status !== 201) throw new Error(`not created: ${answer.text}`);
      return answer.body;
    },

    graphql: (query: string, variables: object = {}) => send('POST', '/graphql', { query, variables }),

    /** The data of an operation that must succeed. */
    async data(query: string, variables: object = {}): Promise<Json> {
      const { body } = await send('POST', '/graphql', { query, variables });
      if (body.errors) throw new Error(JSON.stringify(body.errors));
      return body.data;
    },

    /** The SQL statements run meanwhile. */
    async statements(work: () => Promise<unknown>): Promise<string[]> {
      const statements: string[] = [];
      const note = ({ sql }: { sql: string }) => statements.push(sql);
      database.knex.on('query', note);
      await work();
      database.knex.removeListener('query', note);
      return statements;
    },

    async stop(): Promise<void> {
      await app.close();
      await database.close();
      await remove();
      if (unfiltered.length > 0) throw new Error(`without its workspace: ${unfiltered.join('; ')}`);
    },
  };
}

/** A fresh service for each test of a file. */
export function useService(settings: Settings = {}): Service {
  const service = {} as Service;
  beforeEach(async () => {
    Object.assign(service, await startService(settings));
  });
  afterEach(() => service.stop());
  return service;
}

/** One service for all tests of a file: for those that do not mind what others have stored. */
export function useSharedService(settings: Settings = {}): Service {
  const service = {} as Service;
  beforeAll(async () => {
    Object.assign(service, await startService(settings));
  });
  afterAll(() => service.stop());
  return service;
}

const tables = recordKinds.map(({ table }) => table).join('|');
const touchesRecords = new RegExp(`\\b(?:from|into|update|join) (?:${tables})\\b`);

/** Whatever the tests do: no statement reaches records but those of one workspace. */
const isFiltered = (sql: string): boolean =>
  !touchesRecords.test(sql) ||
  (sql.startsWith('insert') ? /^insert into \w+ \([^)]*\bworkspace_id\b/ : / where workspace_id = (?:\?|\$\d+)/).test(
    sql,
  );

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
