/**
 * Starts the service on a fresh database; requests are injected, so no port is opened. Stopping it fails the test if a statement
 * was not limited to a workspace, a cookie was set, or a key or a text of a request was logged.
 */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach, onTestFinished } from 'vitest';
import { createApp } from '../../src/app.ts';
import { createKey, type NewKey } from '../../src/auth/keys.ts';
import { type Config, loadConfig } from '../../src/config.ts';
import { recordKinds } from '../../src/records/index.ts';
import { createKeyStore } from '../../src/store/admin/api-keys.ts';
import { openDatabase } from '../../src/store/database.ts';
import { createDatabase } from './database.ts';
import { addWorkspace } from './open-store.ts';

// biome-ignore lint/suspicious/noExplicitAny: the tests say what a response holds.
export type Json = any;

export interface TestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly body: Json;
}

type Settings = Readonly<Record<string, string>>;
type Service = Awaited<ReturnType<typeof startService>>;

interface Access {
  /** Creates an API key before the start, so that requests need one from the beginning. */
  readonly closed?: boolean;
}

/** Constants of the service that tests change, by the names that they would have as settings. */
const constants: Readonly<
  Record<string, { readonly http?: keyof Config['http']; readonly limits?: keyof Config['limits'] }>
> = {
  HEADER_TIMEOUT: { http: 'headerTimeout' },
  EXPORT_TIMEOUT: { http: 'exportTimeout' },
  MAX_NESTING: { limits: 'maxNesting' },
  MAX_QUERY_LENGTH: { limits: 'maxQueryLength' },
  MAX_QUERY_TOKENS: { limits: 'maxTokens' },
  MAX_QUERY_ALIASES: { limits: 'maxAliases' },
};

function configOf(settings: Settings): Config {
  const config = loadConfig(settings);
  const changed = (group: 'http' | 'limits') =>
    Object.fromEntries(
      Object.entries(constants).flatMap(([name, { [group]: key }]) =>
        key !== undefined && settings[name] !== undefined ? [[key, Number(settings[name])]] : [],
      ),
    );
  return {
    ...config,
    http: { ...config.http, ...changed('http') },
    limits: { ...config.limits, ...changed('limits') },
  };
}

/** Starts a service. The caller must stop it. */
export async function startService(settings: Settings = {}, { closed = false }: Access = {}) {
  const { url, remove } = settings.DATABASE_URL
    ? // The caller's own database is the caller's to remove.
      { url: settings.DATABASE_URL, remove: async () => {} }
    : await createDatabase();
  const config = configOf({ ...settings, DATABASE_URL: url });
  const database = await openDatabase(config.databaseUrl, config.databaseOptions);
  const withoutWorkspace: string[] = [];
  database.knex.on('query', ({ sql }: { sql: string }) => {
    if (!isLimitedToWorkspace(sql)) withoutWorkspace.push(sql);
  });
  const key = async (options: Partial<NewKey> = {}): Promise<string> => {
    const newKey = { workspace: 'acme', user: 'erp-sync', readOnly: false, ...options };
    await addWorkspace(database, newKey.workspace);
    return (await createKey(createKeyStore(database), newKey)).text;
  };
  if (closed) await key({ user: 'operator' });
  const logs: string[] = [];
  const app = await createApp(database, config, { logs: { write: (line) => logs.push(line) } });
  const sentTexts = new Set<string>();
  const cookies: unknown[] = [];

  async function inject(options: InjectOptions): Promise<TestResponse> {
    collectTexts(options.payload, sentTexts);
    const { statusCode, headers, body } = await app.inject(options);
    if (headers['set-cookie'] !== undefined) cookies.push(headers['set-cookie']);
    return { status: statusCode, headers, text: body, body: parseJson(body) };
  }

  /** A client that sends these headers with every request. */
  const client = (defaultHeaders: Record<string, string> = {}) => {
    /** Sends the body as JSON; a string is sent verbatim. */
    const send = (method: 'POST' | 'PATCH' | 'PUT' | 'DELETE', path: string, body?: unknown, headers = {}) =>
      inject({
        method,
        url: path,
        headers: { 'content-type': 'application/json', ...defaultHeaders, ...headers },
        ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
      });

    return {
      send,
      post: (path: string, body: unknown, headers = {}) => send('POST', path, body, headers),
      patch: (path: string, body: unknown, headers = {}) => send('PATCH', path, body, headers),
      get: (path: string, headers = {}) =>
        inject({ method: 'GET', url: path, headers: { ...defaultHeaders, ...headers } }),

      /** Creates records, and throws if they are rejected. */
      async create(path: string, ...records: object[]): Promise<Json[]> {
        const response = await send('POST', path, records);
        if (response.status !== 201) throw new Error(`not created: ${response.text}`);
        return response.body;
      },

      graphql: (query: string, variables: object = {}) => send('POST', '/graphql', { query, variables }),

      /** Runs a GraphQL operation and returns its data; throws if it has errors. */
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
    url,
    database,
    logs,
    inject,
    as: (key: string) => client({ authorization: `Bearer ${key}` }),

    /** Creates an API key, and returns its text. */
    key,

    /**
     * Runs the work and returns the SQL statements sent meanwhile, by any request, but for those that ask whether anything was
     * written, and for those on keys, which are looked up again from time to time.
     */
    async statements(work: () => Promise<unknown>): Promise<string[]> {
      const statements: string[] = [];
      const record = ({ sql }: { sql: string }) => {
        if (!/number from change_numbers|(?:from|update) api_keys|from workspaces where name/.test(sql))
          statements.push(sql);
      };
      database.knex.on('query', record);
      try {
        await work();
      } finally {
        database.knex.removeListener('query', record);
      }
      return statements;
    },

    async stop(): Promise<void> {
      // As the process does: a client may have opened a connection without sending anything, which would never be closed.
      app.server.closeAllConnections();
      await app.close();
      await database.close();
      await remove();
      if (withoutWorkspace.length > 0) {
        throw new Error(`statements not limited to a workspace: ${withoutWorkspace.join('; ')}`);
      }
      if (cookies.length > 0) throw new Error(`the service set cookies: ${cookies.join('; ')}`);
      requireNoSecretsInLogs(logs, sentTexts);
    },
  };
}

/** A service that ends with the test. */
export async function startForTest(settings: Settings = {}, access: Access = {}): Promise<Service> {
  const service = await startService(settings, access);
  onTestFinished(() => service.stop());
  return service;
}

/** The origin of the service, which listens from now on. */
export async function listen(app: FastifyInstance): Promise<string> {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

const started: Service[] = [];

/**
 * A service on this database, in the process of the tests: a process takes ten times as long to start. The test stops all of them with
 * `stopServices` before it removes the database.
 */
export async function startOn(url: string): Promise<Service> {
  const service = await startService({ DATABASE_URL: url });
  started.push(service);
  return service;
}

export async function stopServices(): Promise<void> {
  await Promise.all(started.splice(0).map(({ stop }) => stop()));
}

/** The path of a file of five megabytes, which is more than the buffers of a connection hold. */
export const largeFile = '/pages/yoga-graphiql.js';

/** Shorter texts are in log lines by chance; more, deeper or longer ones would make large batches slow. */
const collected = { minLength: 10, maxTexts: 500, maxDepth: 5, maxValues: 50 };

/** Collects texts of a request body, to search the logs for them in the end. */
function collectTexts(payload: unknown, texts: Set<string>): void {
  if (typeof payload !== 'string' || texts.size > collected.maxTexts) return;
  const visit = (value: unknown, depth: number): void => {
    if (typeof value === 'string' && value.length >= collected.minLength) texts.add(value);
    if (typeof value !== 'object' || value === null || depth === collected.maxDepth) return;
    for (const inner of Object.values(value).slice(0, collected.maxValues)) visit(inner, depth + 1);
  };
  visit(parseJson(payload), 0);
}

/** Throws if the logs contain an API key or a text of a request body. */
function requireNoSecretsInLogs(logs: readonly string[], texts: ReadonlySet<string>): void {
  const all = logs.join('');
  const key = /yardgraph_[a-z0-9-]+_[0-9a-f]{8}_[\w-]{43}/.exec(all);
  const isLogged = (text: string) => all.includes(text) || all.includes(JSON.stringify(text).slice(1, -1));
  const text = [...texts].find(isLogged);
  if (key || text !== undefined) throw new Error(`logged a key or a text of a request: ${key?.[0] ?? text}`);
}

/** A fresh service for each test of a file. */
export const useService = (settings: Settings = {}, access: Access = {}): Service =>
  useStarted(beforeEach, afterEach, settings, access);

/** One service for all tests of a file, if none depends on an empty database. */
export const useSharedService = (settings: Settings = {}, access: Access = {}): Service =>
  useStarted(beforeAll, afterAll, settings, access);

type Hook = (work: () => Promise<void>) => void;

function useStarted(before: Hook, after: Hook, settings: Settings, access: Access): Service {
  const service = {} as Service;
  before(async () => void Object.assign(service, await startService(settings, access)));
  after(() => service.stop());
  return service;
}

/**
 * One service for all tests of a file, each of which has a new workspace: a key for it costs an insert, a service and its database
 * a hundred times as much. Requests send this key, unless the test sends another one with `as`.
 */
export function useWorkspaces(settings: Settings = {}) {
  const service = {} as Service & { workspace: string; headers: { authorization: string } };
  let keyFor: Service['key'];
  let last = 0;
  beforeAll(async () => {
    Object.assign(service, await startService(settings, { closed: true }));
    keyFor = service.key;
  });
  beforeEach(async () => {
    last += 1;
    const workspace = `workspace-${last}`;
    const key = (options: Partial<NewKey> = {}) => keyFor({ workspace, ...options });
    const own = await key();
    Object.assign(service, service.as(own), { key, workspace, headers: { authorization: `Bearer ${own}` } });
  });
  afterAll(() => service.stop());
  return service;
}

const others = ['changes', 'import_runs', 'change_numbers', 'idempotency_keys', 'locks'];
const tables = [...recordKinds.map(({ table }) => table), ...others].join('|');
const inserted = new RegExp(`\\binsert into (?:${tables})\\b(?: \\(([^)]*)\\))?`, 'g');
const read = new RegExp(`\\b(?:from|update) (?:${tables})\\b`, 'g');
const joined = new RegExp(
  `\\bjoin (?:${tables})(?: as)? (\\w+)\\s+(?:on \\1\\.workspace_id = (?:\\?|\\$\\d+)|(using \\(workspace_id\\)))?`,
  'g',
);
const limited = /\bworkspace_id (?:\+ 0 )?= (?:\?|\$\d+)/g;

/** What the process reads for itself, while anybody waits for changes, and for metrics. */
const watches =
  /^select (?:workspace_id, number from change_numbers where workspace_id in \([?$, \d]+\)$|page_count|pg_database_size)/;

/**
 * Inserts name workspace_id; other statements on records, or on their changes, have it as the first condition, and each of their parts
 * has it as a condition.
 */
const isLimitedToWorkspace = (sql: string): boolean => {
  const reads = [...sql.matchAll(read)].length;
  return (
    watches.test(sql) ||
    ([...sql.matchAll(inserted)].every(([, columns = '']) => /\bworkspace_id\b/.test(columns)) &&
      [...sql.matchAll(joined)].every(([join]) => join.includes('workspace_id')) &&
      (reads === 0 || / where (?:found\.)?workspace_id (?:\+ 0 )?= (?:\?|\$\d+)/.test(sql)) &&
      reads <= [...sql.matchAll(limited)].length)
  );
};

/** Undefined if the text is not JSON. */
function parseJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
