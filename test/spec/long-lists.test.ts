/** GET /asset-categories of a workspace with very many categories. */
import { beforeAll, describe, expect, test } from 'vitest';
import { assetCategory } from '../../src/records/index.ts';
import { toResponse } from '../../src/rest/handler.ts';
import { insert } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';
import { useSharedService } from '../support/service.ts';

// Limits of GraphQL responses do not apply to lists.
const service = useSharedService({ MAX_RESPONSE_LENGTH: '1000', MAX_RECORD_LENGTH: '10000' });
let expected: string;

beforeAll(async () => {
  // More than is cached, and read in several pages.
  const categories = Array.from({ length: 1_001 }, (_, n) => ({ name: `category ${n}`, description: 'ü'.repeat(n) }));
  const records = await insert(storeOpener(service.database)('default'), assetCategory, categories);
  expected = JSON.stringify(records.map((record) => toResponse(assetCategory, record)));
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
  /** Returns what closes the connections of clients that do not read. */
  async function stall(clients: number) {
    const request = () => service.app.inject({ url: '/asset-categories', payloadAsStream: true });
    const responses = await Promise.all(Array.from({ length: clients }, request));
    return () => {
      for (const { raw } of responses) raw.res.destroy();
    };
  }

  test('stops reading holds no database connection', async () => {
    const leave = await stall(12);
    const others = await Promise.all([service.post('/locations', [{}]), list()]);
    expect(others.map(({ status }) => status)).toEqual([201, 200]);
    leave();
  });

  test('does not read is one of at most fifty: the next one gets 503 until another has left', async () => {
    const leave = await stall(50);
    const { status, headers, body } = await list();
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect(body.error).toBe('too many long lists are being sent, try again');
    leave();
    await expect.poll(async () => (await list()).status).toBe(200);
  });
});
