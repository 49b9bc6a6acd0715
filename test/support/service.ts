/** The service on a fresh database, reached without a port. */
import type { InjectOptions } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { createApp } from '../../src/app.ts';
import { createKey, type NewKey } from '../../src/auth/keys.ts';
import { loadConfig } from '../../src/config.ts';
import { recordKinds } from '../../src/records/index.ts';
import { createKeyStore } from '../../src/store/api-keys.ts';
import { openDatabase } from '../../src/store/database.ts';
import { createOwnDatabase } from './database.ts';

// biome-ignore lint/suspicious/noExplicitAny: the tests say what a response holds.
type Json = any;

export interface TestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly body: Json;
}

type Settings = Readonly<Record<string, string>>;
type Service = Awaited<ReturnType<typeof startService>>;

interface Access {
  /** Whether there is a key before the service starts, so that it never runs open. */
  readonly closed?: boolean;
}

/** Starts a service; the caller stops it. */
export async function startService(settings: Settings = {}, { closed = false }: Access = {}) {
  const { url, remove } = settings.DATABASE_URL
    ? { url: settings.DATABASE_URL, remove: async () => {} }
    : await createOwnDatabase();
  const config = loadConfig({ DATABASE_URL: url, ...settings });
  const database = await openDatabase(config.databaseUrl, config.databaseOptions);
  const unfiltered: string[] = [];
  database.knex.on('query', ({ sql }: { sql: string }) => {
    if (!isFiltered(sql)) unfiltered.push(sql);
  });
  const key = async (options: Partial<NewKey> = {}): Promise<string> => {
    const made = { workspace: 'acme', user: 'erp-sync', readOnly: false, ...options };
    return (await createKey(createKeyStore(database), made)).text;
  };
  if (closed) await key({ user: 'operator' });
  const logs: string[] = [];
  const app = await createApp(database, config, { write: (line) => logs.push(line) });
  const sentTexts = new Set<string>();
  const cookies: unknown[] = [];

  async function inject(options: InjectOptions): Promise<TestResponse> {
    noteTexts(options.payload, sentTexts);
    const { statusCode, headers, body } = await app.inject(options);
    if (headers['set-cookie'] !== undefined) cookies.push(headers['set-cookie']);
    return { status: statusCode, headers, text: body, body: jsonOf(body) };
  }

  /** A client that sends these headers with every request. */
  const client = (own: Record<string, string> = {}) => {
    /** Sends a body as JSON; text is sent as it is. */
    const send = (method: 'POST' | 'PATCH' | 'PUT' | 'DELETE', path: string, body?: unknown, headers = {}) =>
      inject({
        method,
        url: path,
        headers: { 'content-type': 'application/json', ...own, ...headers },
        ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
      });

    return {
      send,
      post: (path: string, body: unknown, headers = {}) => send('POST', path, body, headers),
      patch: (path: string, body: unknown, headers = {}) => send('PATCH', path, body, headers),
      get: (path: string, headers = {}) => inject({ method: 'GET', url: path, headers: { ...own, ...headers } }),

      /** Creates records that must be accepted. */
      async create(path: string, ...records: object[]): Promise<Json[]> {
        const response = await send('POST', path, records);
        if (response.status !== 201) throw new Error(`not created: ${response.text}`);
        return response.body;
      },

      graphql: (query: string, variables: object = {}) => send('POST', '/graphql', { query, variables }),

      /** The data of an operation that must succeed. */
      async data(query: string, variables: object = {}): Promise<Json> {
        const { body } = await send('POST', '/graphql', { query, variables });
        if (body.errors) throw new Error(JSON.stringify(body.errors));
        return body.data;
      },
    };
  };

  return {
    ...client(),
    app,
    database,
    logs,
    inject,
    as: (key: string) => client({ authorization: `Bearer ${key}` }),

    /** Creates an API key, and returns its text. */
    key,

    /** The SQL statements that run during the work. */
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
      if (unfiltered.length > 0) throw new Error(`statement not limited to a workspace: ${unfiltered.join('; ')}`);
      if (cookies.length > 0) throw new Error(`a cookie: ${cookies.join('; ')}`);
      requireSilence(logs, sentTexts);
    },
  };
}

/** Collects the texts of a body that are long enough not to be in a log line by chance. */
function noteTexts(payload: unknown, texts: Set<string>): void {
  if (typeof payload !== 'string' || texts.size > 500) return;
  const body = jsonOf(payload);
  const visit = (value: unknown, level: number): void => {
    if (typeof value === 'string' && value.length >= 10) texts.add(value);
    if (typeof value !== 'object' || value === null || level === 5) return;
    for (const inner of Object.values(value).slice(0, 50)) visit(inner, level + 1);
  };
  visit(body, 0);
}

/** In every test, no key and no text of a body is logged. */
function requireSilence(logs: readonly string[], texts: ReadonlySet<string>): void {
  const all = logs.join('');
  const key = /yardgraph_[a-z0-9-]+_[0-9a-f]{8}_[\w-]{43}/.exec(all);
  const text = [...texts].find((it) => all.includes(it) || all.includes(JSON.stringify(it).slice(1, -1)));
  if (key || text !== undefined) throw new Error(`logged: ${key?.[0] ?? text}`);
}

/** A fresh service for each test of a file. */
export function useService(settings: Settings = {}, access: Access = {}): Service {
  const service = {} as Service;
  beforeEach(async () => {
    Object.assign(service, await startService(settings, access));
  });
  afterEach(() => service.stop());
  return service;
}

/** One service for all tests of a file: for tests that pass whatever others have stored. */
export function useSharedService(settings: Settings = {}, access: Access = {}): Service {
  const service = {} as Service;
  beforeAll(async () => {
    Object.assign(service, await startService(settings, access));
  });
  afterAll(() => service.stop());
  return service;
}

const tables = recordKinds.map(({ table }) => table).join('|');
const touchesRecords = new RegExp(`\\b(?:from|into|update|join) (?:${tables})\\b`);

/** In every test, each statement reaches the records of one workspace only. */
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
