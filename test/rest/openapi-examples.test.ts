/**
 * The examples of the OpenAPI document are what the service accepts and returns: each request is sent, each response compared. Those of
 * errors are recorded: `npm run schema` writes what the service responds into `error-examples.json`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import type { RecordKind } from '../../src/model/record-kind.ts';
import { asset, assetCategory, location, recordKinds, transportOrder, workOrder } from '../../src/records/index.ts';
import { openApiDocument } from '../../src/rest/openapi/document.ts';
import { errorsOf, exportErrors, sharedErrors } from '../../src/rest/openapi/responses.ts';
import { type Route, routes } from '../../src/rest/routes.ts';
import { unknownId } from '../support/records.ts';
import { type TestResponse, useSharedService } from '../support/service.ts';

const folder = mkdtempSync(join(tmpdir(), 'yardgraph-'));
// Before the services, because these run in reverse order.
afterAll(() => rmSync(folder, { recursive: true }));

/** In a file, because the service closes a connection whose statement fails, and with it a database in memory. */
const open = useSharedService({ DATABASE_URL: `sqlite:${join(folder, 'test.db')}` });
const closed = useSharedService({}, { closed: true });
const limited = useSharedService({ RATE_LIMIT: '1' });

const document = JSON.parse(JSON.stringify(openApiDocument(loadConfig({}).limits)));

interface DescribedResponse {
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, { readonly examples?: object }>>;
}

const resolve = (part: { $ref?: string }) =>
  part.$ref
    ?.split('/')
    .slice(1)
    .reduce((found, name) => found[name], document) ?? part;

const operationOf = ({ template, method }: Route) => document.paths[template][method.toLowerCase()];

const titled = routes.map((route) => ({ title: `${route.method} ${route.path}`, route }));

const idPrefixes = new RegExp(`(${recordKinds.map(({ idPrefix }) => idPrefix).join('|')})_[0-9a-z]{26}`, 'g');

/** Replaces what differs from response to response. */
const fixed = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '7f0c9a4e-5d0b-4c8e-9d5e-0a1b2c3d4e5f')
    .replace(/at most \d+ (.*) per minute: try again in \d+ s/g, 'at most 600 $1 per minute: try again in 42 s')
    .replace(idPrefixes, '$1_01h455vb4pex5vsknk084sn02q')
    .replace(/"(createdAt|updatedAt)":"[^"]*"/g, '"$1":"NOW"');

const shown = (value: unknown): unknown => JSON.parse(fixed(JSON.stringify(value)));

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
    const [example] = [described[route.success].content['application/json'].example].flat();
    expect(shown([response.body].flat()[0])).toEqual(shown(example));
    expectHeaders(response, described[route.success]);
  }
});

const examplesFor = (method: string, path: string): object[] =>
  document.paths[path][method.toLowerCase()].requestBody.content['application/json'].example;

/** Invalid bodies for kinds where more than a misspelled name is worth showing. */
const invalidBatches = new Map<RecordKind, readonly object[]>([
  [asset, [{ name: 'Excavator' }, { nmae: 'Crane' }, { name: 'Pump', acquiredAt: 'soon' }]],
  [workOrder, [{ name: 'Set up the crane', startDate: 'tomorrow' }]],
  [location, [{ name: 'North yard', latitude: 530.8 }]],
  [transportOrder, [{ name: 'Bring the crane to the harbour wall', number: 1 }]],
  [assetCategory, [{ name: 'Cranes', parent: 'Machines' }]],
]);

function invalidBody({ kind, operation }: Route): unknown {
  if (operation === 'update') return { name: null, startDate: '2026-02-30' };
  return invalidBatches.get(kind) ?? [{ nmae: kind.example.name }];
}

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
    vi.spyOn(driver, 'query').mockImplementation(async (connection, sql, values, setUp) => {
      if (isChosen(sql)) throw Object.assign(new Error(code), { code });
      return query(connection, sql, values, setUp);
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
    'too-many-records': () => ({ body: Array.from({ length: 10_001 }, () => ({})) }),
    'body-too-large': () => ({ body: [{ name: 'x'.repeat(10_500_000) }] }),
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

  const exportRequests: Record<string, () => Sent> = {
    'unknown-parameter': () => ({ path: '/export/assets.csv?were=1' }),
    'invalid-filter': () => ({ path: '/export/assets.csv?where=Crane' }),
    'too-long': () => {
      let now = 0;
      vi.spyOn(performance, 'now').mockImplementation(() => (now += 200_000));
      return { path: '/export/assets.csv' };
    },
  };

  async function send(route: Route, name: string, accept: string): Promise<TestResponse> {
    const exported = exportRequests[name]?.();
    if (exported) return open.get(exported.path ?? '', { accept });
    const request = requests[name];
    if (!request) throw new Error(`no request gets the example ${name}`);
    const [{ id }] = await open.create('/projects', { name: 'Harbour wall' });
    const { to = open, path = route.path.replace(':id', id), body, headers } = await request(route);
    if (route.method === 'GET') return to.get(path, { accept, ...headers });
    const example = operationOf(route).requestBody.content['application/json'].example;
    return to.send(route.method, path, body ?? example, { accept, ...headers });
  }

  /** They differ from operation to operation; all others are sent and recorded once. */
  const isOfOperation = (example: string) =>
    /^(?:invalid-fields|unknown-id|taken-)/.test(example) || example in exportRequests;

  const operations = [
    ...routes.map((route) => ({ operation: `${route.method} ${route.template}`, route, errors: errorsOf(route) })),
    { operation: 'GET /export/{file}', route: routes[0] as Route, errors: exportErrors },
  ];
  const cases = operations.flatMap(({ operation, route, errors }) =>
    Object.entries(errors).flatMap(([status, error]) => {
      const { examples } = typeof error === 'string' ? sharedErrors[error] : error;
      return examples.map((example) => ({
        ...{ operation, route, example, status: Number(status) },
        section: isOfOperation(example) ? operation : 'shared',
      }));
    }),
  );
  const once = cases.filter(
    ({ section, example }, index) =>
      index === cases.findIndex((other) => other.section === section && other.example === example),
  );
  const responseOf = (operation: string, status: number): DescribedResponse => {
    const [method = '', path = ''] = operation.split(' ');
    return resolve(document.paths[path][method.toLowerCase()].responses[status]);
  };

  test('are as recorded, in both media types, with the headers that are described', async () => {
    const recorded: Record<string, Record<string, Record<string, unknown>>> = {};
    for (const { operation, route, status, example, section } of once) {
      const bodies: Record<string, unknown> = {};
      for (const mediaType of ['application/json', 'application/problem+json']) {
        const response = await send(route, example, mediaType);
        vi.restoreAllMocks();

        expect([operation, example, response.status]).toEqual([operation, example, status]);
        expect(String(response.headers['content-type']).split(';')[0]).toBe(mediaType);
        expectHeaders(response, responseOf(operation, status));
        bodies[mediaType] = shown(response.body);
      }
      recorded[section] = { ...recorded[section], [example]: bodies };
    }

    await expect(`${JSON.stringify(recorded, null, 2)}\n`).toMatchFileSnapshot(
      '../../src/rest/openapi/error-examples.json',
    );
  }, 120_000);
});
