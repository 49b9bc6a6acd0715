/** The OpenAPI document: what it describes, no problems that the usual linters report, and examples that the service accepts and returns. */

import { mkdtempSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { project, recordKinds } from '../../src/records/index.ts';
import { openApiDocument } from '../../src/rest/openapi/document.ts';
import { type Route, routes } from '../../src/rest/routes.ts';
import { restKinds, unknownId } from '../support/records.ts';
import { type TestResponse, useSharedService } from '../support/service.ts';

const service = useSharedService();

const source = JSON.stringify(openApiDocument(loadConfig({}).limits));
const document = JSON.parse(source);

const operations: Record<string, unknown>[] = Object.values<object>(document.paths).flatMap((path) =>
  Object.values(path),
);

test("Redocly's recommended rules find no problem, and send no request", async () => {
  const connect = vi.spyOn(Socket.prototype, 'connect');
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  expect(connect).not.toHaveBeenCalled();
  connect.mockRestore();
});

test('the introduction names the references that must be stored here', () => {
  const fields = restKinds.flatMap(({ kind }) => Object.entries(kind.fields));
  const required = fields.flatMap(([name, field]) => (field.type === 'reference' && field.mustExist ? [name] : []));
  expect([...new Set(required)]).toEqual(['parentId']);
  expect(document.info.description).toContain(' A `parentId` must be the ID of a stored record.');
});

// The rules of Spectral (spectral:oas) that earlier versions of the document broke. Spectral itself reports its installations.
test.each(operations)('$operationId has a description, and so has each of its parameters', (operation) => {
  const { description, parameters } = operation as { description: string; parameters: { $ref?: string }[] };
  const resolved = parameters.map((parameter) =>
    parameter.$ref ? document.components.parameters[parameter.$ref.split('/').at(-1) ?? ''] : parameter,
  );
  expect(description).toMatch(/^[A-Z].*\.$/s);
  for (const parameter of resolved) expect(parameter.description).toMatch(/\w/);
});

test.each(restKinds)(
  'the required fields of $kind.name are those that a request must have and a response always has',
  async ({ kind, path, smallest }) => {
    const [record] = await service.create(path, smallest);
    expect(document.components.schemas[`New${kind.name}`].required ?? []).toEqual(Object.keys(smallest));
    expect(document.components.schemas[kind.name].required.toSorted()).toEqual(Object.keys(record).toSorted());
  },
);

test('every field in the document lists its types separately, so that client generators find each of them, including null', () => {
  const isSupported = (type: unknown): boolean =>
    Array.isArray(type) ? !type.includes('object') : typeof type === 'string';
  for (const [kind, { properties }] of Object.entries<{ properties: object }>(document.components.schemas)) {
    for (const [field, { type, anyOf = [{ type }] }] of Object.entries(properties)) {
      for (const option of anyOf) expect(isSupported(option.type), `${kind}.${field}`).toBe(true);
    }
  }
  expect(document.components.schemas.NewAsset.properties.externalIds.anyOf).toContainEqual({ type: 'null' });
});

test('the server of the document is where the document itself is, also below the path of a proxy', () => {
  const [{ url }] = document.servers;
  // As generators join them: the URL of the server, and the path of an operation.
  for (const base of ['https://example.com/', 'https://example.com/yard/'])
    expect(new URL(`${url}/assets`, `${base}openapi.json`).href).toBe(`${base}assets`);
});

test('GET /openapi.json returns the document, and not again while it is unchanged', async () => {
  const { status, headers, body } = await service.get('/openapi.json');
  const again = await service.get('/openapi.json', { 'if-none-match': String(headers.etag) });

  expect([status, headers['content-type'], headers.vary]).toEqual([
    200,
    'application/json; charset=utf-8',
    'Accept-Encoding',
  ]);
  expect(body).toEqual(document);
  expect([body.openapi, body.info.version]).toEqual(['3.1.0', '1.0.0']);
  expect([again.status, again.text, again.headers.etag]).toEqual([304, '', headers.etag]);
});

const folder = mkdtempSync(join(tmpdir(), 'yardgraph-'));
// Before the services, because these run in reverse order.
afterAll(() => rmSync(folder, { recursive: true }));

/** In a file, because the service closes a connection whose statement fails, and with it a database in memory. */
const open = useSharedService({ DATABASE_URL: `sqlite:${join(folder, 'test.db')}` });
const closed = useSharedService({}, { closed: true });
const limited = useSharedService({ RATE_LIMIT: '1' });

interface DescribedResponse {
  readonly headers: object;
  readonly content: Readonly<Record<string, { readonly example: { readonly code: string } }>>;
}

const operationOf = ({ template, method }: Route) => document.paths[template][method.toLowerCase()];

const titled = routes.map((route) => ({ title: `${route.method} ${route.path}`, route }));

const idPrefixes = new RegExp(`(${recordKinds.map(({ idPrefix }) => idPrefix).join('|')})_[0-9a-z]{26}`, 'g');

const fixed = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '7f0c9a4e-5d0b-4c8e-9d5e-0a1b2c3d4e5f')
    .replace(/at most \d+ (.*) per minute: try again in \d+ s/g, 'at most 600 $1 per minute: try again in 42 s')
    .replace(idPrefixes, '$1_01h455vb4pex5vsknk084sn02q')
    .replace(/"(createdAt|updatedAt)":"[^"]*"/g, '"$1":"NOW"');

const shown = (value: unknown): unknown => JSON.parse(fixed(JSON.stringify(value)));

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
  }
});

const examplesFor = (method: string, path: string): object[] =>
  document.paths[path][method.toLowerCase()].requestBody.content['application/json'].example;

afterEach(() => {
  vi.restoreAllMocks();
});

function failWith(code: string, accept: string): Promise<TestResponse> {
  vi.spyOn(open.database.driver, 'query').mockRejectedValue(Object.assign(new Error(code), { code }));
  return open.post('/locations', [{}], { accept });
}

const withKey = async (options = {}) => ({ authorization: `Bearer ${await closed.key(options)}` });

const requests: Record<number, (accept: string) => Promise<TestResponse>> = {
  400: (accept) => open.post('/assets', [{ name: 'Crane' }, { name: 'Pump', nmae: 'Pump' }], { accept }),
  401: (accept) => closed.get('/asset-categories', { accept }),
  403: async (accept) => closed.post('/assets', [], { accept, ...(await withKey({ readOnly: true })) }),
  404: (accept) => open.patch(`/projects/${unknownId(project)}`, {}, { accept }),
  409: async (accept) => {
    await open.post('/assets', [{ name: 'Crane', uid: 'C-7' }]);
    return open.post('/assets', [{ name: 'Crane', uid: 'C-7' }], { accept });
  },
  413: (accept) => open.post('/assets', [{ name: 'x'.repeat(10_500_000) }], { accept }),
  415: (accept) => open.post('/assets', [], { accept, 'content-type': 'text/csv' }),
  429: async (accept) => {
    await limited.get('/asset-categories');
    return limited.get('/asset-categories', { accept });
  },
  500: (accept) => failWith('SQLITE_ERROR', accept),
  503: (accept) => failWith('SQLITE_CANTOPEN', accept),
};

const errors = Object.values(document.components.responses).map((described) => {
  const { content } = described as DescribedResponse;
  return { code: content['application/json']?.example.code, described: described as DescribedResponse };
});

test.each(errors)('the error $code is that of its example', async ({ code, described }) => {
  for (const [mediaType, { example }] of Object.entries(described.content)) {
    const response = await requests[Number(code)]?.(mediaType);
    vi.restoreAllMocks();

    expect(String(response?.headers['content-type']).split(';')[0]).toBe(mediaType);
    expect(shown(response?.body)).toEqual(example);
    for (const name of Object.keys(described.headers)) {
      if (!name.startsWith('RateLimit')) expect(response?.headers).toHaveProperty(name.toLowerCase());
    }
  }
});
