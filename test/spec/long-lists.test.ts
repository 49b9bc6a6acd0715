/** GET /asset-categories of a workspace with very many categories. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assetCategory } from '../../src/records/index.ts';
import { toResponse } from '../../src/rest/handler.ts';
import { createDatabase } from '../support/database.ts';
import { insert } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';
import { startService } from '../support/service.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
let service: Awaited<ReturnType<typeof startService>>;
let expected: string;

const store = () => storeOpener(service.database)('default');

beforeAll(async () => {
  database = await createDatabase();
  // Limits of GraphQL responses do not apply to lists.
  service = await startService({ DATABASE_URL: database.url, MAX_RESPONSE_LENGTH: '1000', MAX_RECORD_LENGTH: '10000' });
  const description = 'ü'.repeat(3_600);
  const records = await insert(
    store(),
    assetCategory,
    Array.from({ length: 2_500 }, (_, n) => ({ name: `category ${n}`, ...(n % 2 === 0 && { description }) })),
  );
  // More than is cached, and read in several slices.
  expected = JSON.stringify(records.map((record) => toResponse(assetCategory, record)));
  await service.app.listen({ port: 0, host: '127.0.0.1' });
});

afterAll(async () => {
  await service.stop();
  await database.remove();
});

const list = () => service.get('/asset-categories');

test('GET /asset-categories returns very many, oldest first, as one array, with an ETag', async () => {
  const { status, headers, text } = await list();

  expect(status).toBe(200);
  expect(text === expected).toBe(true);
  expect(headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', etag: expect.any(String) });
  const unchanged = await service.get('/asset-categories', { 'if-none-match': headers.etag });
  expect([unchanged.status, unchanged.text]).toEqual([304, '']);
  const head = await service.inject({ method: 'HEAD', url: '/asset-categories' });
  expect([head.status, head.headers.etag, head.text]).toEqual([200, headers.etag, '']);
});

describe('a client that', () => {
  const request = async (): Promise<IncomingMessage> => {
    const { port } = service.app.server.address() as AddressInfo;
    const [response] = await once(
      get({ port, host: '127.0.0.1', path: '/asset-categories', agent: false }),
      'response',
    );
    return response;
  };

  test('stops reading holds no database connection', async () => {
    const slow = await Promise.all(Array.from({ length: 12 }, request));
    const others = await Promise.all([service.post('/locations', [{}]), list()]);
    expect(others.map(({ status }) => status)).toEqual([201, 200]);
    for (const response of slow) response.destroy();
  });

  test('does not read is one of at most fifty: the next one gets 503 until another has left', async () => {
    const slow = await Promise.all(Array.from({ length: 50 }, request));
    const { status, headers, body } = await list();
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect(body.error).toBe('too many long lists are being sent, try again');
    for (const response of slow) response.destroy();
    await expect.poll(async () => (await list()).status).toBe(200);
  });
});
