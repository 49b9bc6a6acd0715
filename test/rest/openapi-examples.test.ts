/** The examples of the OpenAPI document are what the service accepts and returns: each request is sent, each response compared. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { project, recordKinds } from '../../src/records/index.ts';
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
  readonly headers: object;
  readonly content: Readonly<Record<string, { readonly example: { readonly code: string } }>>;
}

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

/** All statements fail with an error of SQLite. */
function failWith(code: string, accept: string): Promise<TestResponse> {
  vi.spyOn(open.database.driver, 'query').mockRejectedValue(Object.assign(new Error(code), { code }));
  return open.post('/locations', [{}], { accept });
}

const withKey = async (options = {}) => ({ authorization: `Bearer ${await closed.key(options)}` });

/** By the status, a request that gets it. */
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
