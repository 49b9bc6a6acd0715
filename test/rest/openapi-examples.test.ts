/** The examples of the OpenAPI document are what the service accepts and returns: each request is sent, each response compared. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { recordKinds } from '../../src/records/index.ts';
import { openApiDocument } from '../../src/rest/openapi/document.ts';
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
  readonly content: Readonly<Record<string, { readonly example: object }>>;
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

interface Sent {
  readonly to?: typeof open;
  readonly path?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

afterEach(() => {
  vi.restoreAllMocks();
});

/** Makes all statements fail with an error of SQLite. */
const failWith = (code: string): Sent => {
  vi.spyOn(open.database.driver, 'query').mockRejectedValue(Object.assign(new Error(code), { code }));
  return {};
};

/** By the status: the request that gets it. */
const requests: Record<number, (route: Route) => Sent | Promise<Sent>> = {
  400: ({ method }) => ({
    body: method === 'POST' ? [{ name: 'Crane' }, { name: 'Pump', nmae: 'Pump' }] : { nmae: 'Pump' },
    ...(method === 'GET' && { headers: { host: 'yard.example.com' } }),
  }),
  401: () => ({ to: closed }),
  403: async ({ method }) =>
    method === 'GET'
      ? { headers: { origin: 'https://example.com', 'sec-fetch-site': 'cross-site' } }
      : { to: closed, headers: { authorization: `Bearer ${await closed.key({ readOnly: true })}` } },
  404: ({ kind, path }) => ({ path: path.replace(':id', unknownId(kind)) }),
  409: async ({ method, path, kind }) => {
    const [{ id }] = await open.create('/projects', { name: 'Harbour wall' });
    const own = path.replace(':id', id);
    const headers = { 'idempotency-key': id };
    const unique = Object.entries(kind.fields).flatMap(([name, field]) =>
      field.type === 'text' && field.unique ? [[name, field.example]] : [],
    );
    const body = [{ name: 'Crane', ...Object.fromEntries(unique) }];
    if (unique.length > 0) await open.post(own, body);
    else await open.send(method as 'POST', own, method === 'POST' ? [{ name: 'Cranes' }] : { name: 'Pier' }, headers);
    return { path: own, headers, ...(unique.length > 0 && { body }) };
  },
  413: () => ({ body: [{ name: 'x'.repeat(10_500_000) }] }),
  415: () => ({ headers: { 'content-type': 'text/csv' } }),
  429: async () => {
    await limited.get('/asset-categories');
    return { to: limited };
  },
  500: () => failWith('SQLITE_ERROR'),
  503: () => failWith('SQLITE_CANTOPEN'),
};

async function sendFor(status: number, route: Route, accept: string): Promise<TestResponse> {
  const [{ id }] = await open.create('/projects', { name: 'Harbour wall' });
  const { to = open, path = route.path.replace(':id', id), body, headers } = (await requests[status]?.(route)) ?? {};
  if (route.method === 'GET') return to.get(path, { accept, ...headers });
  const example = operationOf(route).requestBody.content['application/json'].example;
  return to.send(route.method, path, body ?? example, { accept, ...headers });
}

const mediaTypes = ['application/json', 'application/problem+json'];

async function expectExample(
  described: DescribedResponse,
  status: number,
  send: (accept: string) => Promise<TestResponse>,
) {
  for (const mediaType of mediaTypes) {
    const response = await send(mediaType);
    vi.restoreAllMocks();

    expect(response.status).toBe(status);
    expect(String(response.headers['content-type']).split(';')[0]).toBe(mediaType);
    expect(shown(response.body)).toEqual(described.content[mediaType]?.example);
    expectHeaders(response, described);
  }
}

test.each(titled)('the errors of $title are those of its examples', async ({ route }) => {
  for (const [status, described] of Object.entries(operationOf(route).responses)) {
    if (Number(status) < 400) continue;
    await expectExample(resolve(described as object), Number(status), (accept) =>
      sendFor(Number(status), route, accept),
    );
  }
});

test.each([
  [400, '/export/assets.csv?were=1'],
  [413, '/export/assets.csv'],
])('an export has the error of its example: %i', async (status, path) => {
  await expectExample(document.paths['/export/{file}'].get.responses[status], status, (accept) => {
    let now = 0;
    if (status === 413) vi.spyOn(performance, 'now').mockImplementation(() => (now += 200_000));
    return open.get(path, { accept });
  });
});
