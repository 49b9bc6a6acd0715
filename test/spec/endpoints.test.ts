/** Interface: "Endpoints". */

import { describe, expect, test } from 'vitest';
import { version } from '../../package.json';
import { routes } from '../../src/rest/routes.ts';
import { migrationNames } from '../../src/store/schema/migrations.ts';
import { useService } from '../support/service.ts';

const service = useService();

const creates = [
  ['/assets', 'asset', { name: 'Excavator' }],
  ['/work-orders', 'work_order', {}],
  ['/projects', 'project', { name: 'Bridge' }],
  ['/locations', 'location', {}],
  ['/transport-orders', 'transport_order', {}],
  ['/asset-categories', 'category', {}],
] as const;

test('the routes are exactly the eight operations of the endpoint table', () => {
  expect(routes.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /assets',
    'POST /work-orders',
    'POST /projects',
    'PATCH /projects/:id',
    'POST /locations',
    'POST /transport-orders',
    'POST /asset-categories',
    'GET /asset-categories',
  ]);
});

describe.each(creates)('POST %s', (path, prefix, smallest) => {
  test('returns 201 with the created records, in the order sent', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `record ${index}`);

    const { status, body } = await service.post(
      path,
      names.map((name) => ({ ...smallest, name })),
    );

    expect(status).toBe(201);
    expect(body.map(({ name }: { name: string }) => name)).toEqual(names);
  });

  test('gives every record a workspace and an ID with the prefix of its kind, sorted by creation', async () => {
    const first = await service.create(path, smallest, smallest);
    const second = await service.create(path, smallest);

    const ids = [...first, ...second].map(({ id }) => id);
    for (const id of ids) expect(id).toMatch(new RegExp(`^${prefix}_[0-7][0-9a-z]{25}$`));
    expect(ids.toSorted()).toEqual(ids);
    expect(first[0].workspaceId).toBe('default');
  });

  test('sets createdAt to the current time, and updatedAt to the same', async () => {
    const before = new Date().toISOString();

    const [{ createdAt, updatedAt }] = await service.create(path, smallest);

    expect(createdAt >= before && createdAt <= new Date().toISOString()).toBe(true);
    expect(updatedAt).toBe(createdAt);
  });

  test('returns 201 with an empty array for an empty array', async () => {
    const { status, body } = await service.post(path, []);

    expect([status, body]).toEqual([201, []]);
  });
});

test('GET /asset-categories returns 200 with all categories, oldest first, as one array', async () => {
  await service.create('/asset-categories', { name: 'first' }, { name: 'second' });
  await service.create('/asset-categories', { name: 'third' });

  const { status, body } = await service.get('/asset-categories');

  expect(status).toBe(200);
  expect(body.map(({ name }: { name: string }) => name)).toEqual(['first', 'second', 'third']);
});

test('GET /asset-categories returns an empty array if there are none', async () => {
  expect((await service.get('/asset-categories')).text).toBe('[]');
});

describe('GET /asset-categories with If-None-Match', () => {
  test('returns 304 without a body while nothing has changed', async () => {
    await service.create('/asset-categories', { name: 'first' });
    const { headers } = await service.get('/asset-categories');

    for (const etag of [headers.etag, `"other", ${headers.etag}`, `W/${headers.etag}`, '*']) {
      const { status, text } = await service.get('/asset-categories', { 'if-none-match': etag });
      expect([status, text], String(etag)).toEqual([304, '']);
    }
  });

  test('returns 200 with another ETag after a category was added', async () => {
    const { headers } = await service.get('/asset-categories');
    await service.create('/asset-categories', { name: 'first' });

    const response = await service.get('/asset-categories', { 'if-none-match': headers.etag });

    expect(response.status).toBe(200);
    expect(response.headers.etag).not.toBe(headers.etag);
  });
});

test('every response has the API version and a request ID', async () => {
  const { headers } = await service.get('/asset-categories');

  expect(headers['api-version']).toBe('1.0.0');
  expect(headers['x-request-id']).toMatch(/^[\w-]{36}$/);
});

test.each([
  ['sync-42:retry.1', 'sync-42:retry.1'],
  ['with space', /^[\w-]{36}$/],
  ['x'.repeat(129), /^[\w-]{36}$/],
])('a request ID from the client is used if it is valid: %s', async (sent, expected) => {
  const { headers } = await service.get('/asset-categories', { 'x-request-id': sent });

  expect(headers['x-request-id']).toMatch(expected);
});

test('/healthz reports that the process runs, /readyz that the database responds', async () => {
  expect((await service.get('/healthz')).body).toEqual({
    status: 'ok',
    idempotencyKeys: true,
    version,
    schema: migrationNames.at(-1),
  });
  expect((await service.get('/readyz')).body).toEqual({ status: 'ok' });

  await service.database.close();

  expect((await service.get('/healthz')).status).toBe(200);
  const { status, headers, body } = await service.get('/readyz');
  expect([status, headers['retry-after'], body.code]).toEqual([503, '1', '503']);
});
