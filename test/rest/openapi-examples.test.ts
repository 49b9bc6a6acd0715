/** The examples of the OpenAPI document are what the service accepts and returns: each request is sent, each response compared. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { recordKinds } from '../../src/records/index.ts';
import { openApiDocument } from '../../src/rest/openapi/document.ts';
import { invalidBody } from '../../src/rest/openapi/examples.ts';
import { type Route, routes } from '../../src/rest/routes.ts';
import { unknownId } from '../support/records.ts';
import { type TestResponse, useSharedService } from '../support/service.ts';

/** Small, so that exceeding them is cheap. */
const settings = { MAX_BODY_BYTES: '50000', MAX_BATCH: '20' };
const folder = mkdtempSync(join(tmpdir(), 'yardgraph-'));
// Before the services, because these run in reverse order.
afterAll(() => rmSync(folder, { recursive: true }));

/** In a file, because the service closes a connection whose statement fails, and with it a database in memory. */
const open = useSharedService({ ...settings, DATABASE_URL: `sqlite:${join(folder, 'test.db')}` });
const closed = useSharedService(settings, { closed: true });
const limited = useSharedService({ ...settings, RATE_LIMIT: '1' });

const document = JSON.parse(JSON.stringify(openApiDocument(loadConfig(settings).limits)));

interface ExampleContent {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface DescribedResponse {
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, ExampleContent>>;
}

const resolve = (part: { $ref?: string }) =>
  part.$ref
    ?.split('/')
    .slice(1)
    .reduce((found, name) => found[name], document) ?? part;

const operationOf = ({ template, method }: Route) => document.paths[template][method.toLowerCase()];

const responsesOf = (route: Route): [string, DescribedResponse][] =>
  Object.entries<object>(operationOf(route).responses).map(([status, response]) => [status, resolve(response)]);

const titled = routes.map((route) => ({ title: `${route.method} ${route.path}`, route }));

/** What differs from response to response. */
const masked = (text: string): unknown =>
  JSON.parse(
    text
      .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'REQUEST-ID')
      .replace(/at most \d+ (.*) per minute: try again in \d+ s/g, 'at most N $1 per minute: try again in N s')
      .replace(new RegExp(`(?:${recordKinds.map(({ idPrefix }) => idPrefix).join('|')})_[0-9a-z]{26}`, 'g'), 'ID')
      .replace(/"(createdAt|updatedAt)":"[^"]*"/g, '"$1":"NOW"'),
  );

const asShown = (value: unknown): unknown => masked(JSON.stringify(value));

/** Every required header that is described for the response. */
function expectHeaders(response: TestResponse, { headers = {} }: DescribedResponse): void {
  for (const [name, header] of Object.entries(headers)) {
    if (resolve(header).required) expect(response.headers).toHaveProperty(name.toLowerCase());
  }
}

test.each(titled)('the example of $title gets the response of its example, and does so again', async ({ route }) => {
  const client = closed.as(await closed.key({ workspace: 'acme', user: 'erp-sync' }));
  const [{ id }] = await client.create('/projects', ...examplesFor('POST', '/projects'));
  const { requestBody } = operationOf(route);

  for (const _ of ['first', 'again']) {
    const path = route.path.replace(':id', id);
    const body = requestBody?.content['application/json'].example;
    const response = route.method === 'GET' ? await client.get(path) : await client.send(route.method, path, body);
    const described = operationOf(route).responses;

    expect(response.status).toBe(route.success);
    const [shown] = [described[route.success].content['application/json'].example].flat();
    expect(masked(JSON.stringify([response.body].flat()[0]))).toEqual(asShown(shown));
    expectHeaders(response, described[route.success]);
  }
});

const examplesFor = (method: string, path: string): object[] =>
  document.paths[path][method.toLowerCase()].requestBody.content['application/json'].example;

describe('error responses', () => {
  interface Sent {
    readonly to?: typeof open;
    readonly path?: string;
    readonly body?: unknown;
    readonly headers?: Record<string, string>;
  }

  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Makes the statements that are chosen fail with an error of SQLite. */
  const failWith = (code: string, isChosen = (_sql: string) => true): Sent => {
    const { driver } = open.database;
    const query = driver.query.bind(driver);
    vi.spyOn(driver, 'query').mockImplementation(async (connection, sql, values) => {
      if (isChosen(sql)) throw Object.assign(new Error(code), { code });
      return query(connection, sql, values);
    });
    return {};
  };

  /** By the name of the example: the request that gets this response. */
  const requests: Record<string, (route: Route) => Sent | Promise<Sent>> = {
    'invalid-fields': (route) => ({ body: invalidBody(route) }),
    'not-json': () => ({ body: '[{' }),
    'invalid-host': () => ({ headers: { host: 'yard.example.com' } }),
    'no-key': () => ({ to: closed }),
    'invalid-key': () => ({ to: closed, headers: { authorization: 'Bearer yardgraph_acme_5f0c21d9_x' } }),
    'two-keys': () => ({ to: closed, headers: { authorization: 'Bearer a', 'x-api-key': 'b' } }),
    'read-only-key': async () => ({
      to: closed,
      headers: { authorization: `Bearer ${await closed.key({ readOnly: true })}` },
    }),
    'other-origin': () => ({ headers: { origin: 'https://example.com', 'sec-fetch-site': 'cross-site' } }),
    proxy: () => ({ headers: { 'x-forwarded-for': '192.0.2.1' } }),
    'unknown-id': ({ kind, path }) => ({ path: path.replace(':id', unknownId(kind)) }),
    'taken-uid': async ({ path }) => {
      const body = [{ name: 'Crane', uid: 'CR-1' }];
      await open.post(path, body);
      return { body };
    },
    'key-reused': async ({ method, path }) => {
      const [{ id }] = await open.create('/projects', { name: 'Harbour wall' });
      const own = path.replace(':id', id);
      const headers = { 'idempotency-key': id };
      await open.send(method as 'POST', own, method === 'POST' ? [{ name: 'Cranes' }] : { name: 'Pier' }, headers);
      return { path: own, headers };
    },
    'too-many-records': () => ({ body: Array.from({ length: 21 }, () => ({})) }),
    'body-too-large': () => ({ body: [{ name: 'x'.repeat(60_000) }] }),
    'content-type': () => ({ headers: { 'content-type': 'text/csv' } }),
    charset: () => ({ headers: { 'content-type': 'application/json; charset=latin1' } }),
    'rate-limit': async () => {
      await limited.get('/asset-categories');
      return { to: limited };
    },
    unexpected: () => failWith('SQLITE_ERROR'),
    unavailable: () => failWith('SQLITE_CANTOPEN'),
    // A create of records without references is one script, which commits itself.
    'may-be-stored': () => failWith('08006', (sql) => sql === 'commit' || sql.startsWith('insert into new_')),
  };

  async function send(route: Route, name: string, accept: string): Promise<TestResponse> {
    const request = requests[name];
    if (!request) throw new Error(`no request gets the example ${name}`);
    const [{ id }] = await open.create('/projects', { name: 'Harbour wall' });
    const { to = open, path = route.path.replace(':id', id), body, headers } = await request(route);
    if (route.method === 'GET') return to.get(path, { accept, ...headers });
    const example = operationOf(route).requestBody.content['application/json'].example;
    return to.send(route.method, path, body ?? example, { accept, ...headers });
  }

  const cases = titled.flatMap(({ title, route }) =>
    responsesOf(route)
      .filter(([status]) => Number(status) >= 400)
      .map(([status, response]) => ({ title, route, status, response })),
  );

  test.each(cases)('the examples of $status for $title are sent', async ({ route, status, response }) => {
    for (const [mediaType, { examples = {} }] of Object.entries(response.content ?? {})) {
      expect(Object.keys(examples)).not.toEqual([]);
      for (const [name, { value }] of Object.entries(examples)) {
        const received = await send(route, name, mediaType);

        expect([name, received.status, masked(received.text)]).toEqual([name, Number(status), asShown(value)]);
        expect(String(received.headers['content-type']).split(';')[0]).toBe(mediaType);
        expectHeaders(received, response);
        vi.restoreAllMocks();
      }
    }
  });

  test('all describe the headers of every response', () => {
    for (const { response } of cases) {
      expect(Object.keys(response.headers ?? {})).toEqual(expect.arrayContaining(['X-Request-Id', 'API-Version']));
    }
  });

  test('all have examples in both media types', () => {
    for (const { response } of cases) {
      expect(Object.keys(response.content ?? {})).toEqual(['application/json', 'application/problem+json']);
    }
    expect(new Set(cases.map(({ status }) => status))).toEqual(
      new Set(['400', '401', '403', '404', '409', '413', '415', '429', '500', '503']),
    );
  });
});

describe('the headers that depend on the request or on a setting', () => {
  test('are sent as described', async () => {
    const lenient = await open.post('/locations', [{ nmae: 'North yard' }], { prefer: 'handling=lenient' });
    const counted = await limited.get('/asset-categories');
    const list = await open.get('/asset-categories');
    const unchanged = await open.get('/asset-categories', { 'if-none-match': String(list.headers.etag) });

    expect(lenient.headers['preference-applied']).toBe('handling=lenient');
    for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) {
      expect(counted.headers).toHaveProperty(name);
    }
    expect(unchanged.status).toBe(304);
    const headers = { 'idempotency-key': 'one' };
    await open.post('/locations', [{ name: 'North yard' }], headers);
    const replayed = await open.post('/locations', [{ name: 'North yard' }], headers);
    expect(replayed.headers['idempotency-replayed']).toBe('true');
    expectHeaders(unchanged, operationOf(routes.find(({ method }) => method === 'GET') as Route).responses[304]);
  });
});
