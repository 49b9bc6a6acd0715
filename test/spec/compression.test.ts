/** Responses and request bodies that are compressed, for REST and GraphQL alike. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const decoders: Record<string, (bytes: Buffer) => Buffer> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  identity: (bytes) => bytes,
};

/** A response as it is sent, and its decoded body. */
async function inject(app: FastifyInstance, options: InjectOptions) {
  const { statusCode: status, headers, rawPayload: sent } = await app.inject(options);
  const encoding = String(headers['content-encoding'] ?? 'identity');
  const text = () => decoders[encoding]?.(sent).toString();
  return { status, headers, encoding, sent, text };
}

const json = { 'content-type': 'application/json' };
const service = useSharedService();
const categories = Array.from({ length: 200 }, (_, n) => ({
  name: `Cranes ${n}`,
  description: 'Lifts what is heavy.',
}));

beforeAll(async () => {
  await service.create('/asset-categories', ...categories);
});

const list = (headers = {}, method: 'GET' | 'HEAD' = 'GET') =>
  inject(service.app, { method, url: '/asset-categories', headers });

const tooLong = Array.from({ length: 40 }, () => ({ name: 'Crane', ['nmae'.repeat(25)]: 1 }));
const requests: [name: string, status: number, request: InjectOptions][] = [
  ['a list', 200, { method: 'GET', url: '/asset-categories' }],
  ['an error of many issues', 400, { method: 'POST', url: '/assets', headers: json, payload: tooLong }],
  [
    'a problem of many issues',
    400,
    { method: 'POST', url: '/assets', headers: { ...json, accept: 'application/problem+json' }, payload: tooLong },
  ],
  [
    'a GraphQL response',
    200,
    {
      method: 'POST',
      url: '/graphql',
      headers: json,
      payload: { query: '{ assetCategories(first: 200) { nodes { id name } } }' },
    },
  ],
];

describe.each(requests)('%s', (_, expectedStatus, request) => {
  test.each(['br', 'gzip'])('is sent as %s to a client that accepts it, with its length', async (encoding) => {
    const plain = await inject(service.app, request);
    const { status, headers, sent, text } = await inject(service.app, {
      ...request,
      headers: { ...request.headers, 'accept-encoding': encoding },
    });

    expect([status, headers['content-encoding'], headers.vary]).toEqual([expectedStatus, encoding, 'Accept-Encoding']);
    expect(headers['content-type']).toBe(plain.headers['content-type']);
    expect(Number(headers['content-length'])).toBe(sent.length);
    expect(sent.length).toBeLessThan(plain.sent.length / 3);
    expect(text()).toBe(plain.text());
  });
});

describe('a list', () => {
  test('has a weak ETag when it is compressed, because the bytes are others, and each ETag gets a 304', async () => {
    const plain = await list();
    const compressed = await list({ 'accept-encoding': 'gzip' });
    expect(compressed.headers.etag).toBe(`W/${plain.headers.etag}`);

    for (const etag of [plain.headers.etag, compressed.headers.etag]) {
      for (const { accepted, expected } of [
        { accepted: {}, expected: plain },
        { accepted: { 'accept-encoding': 'gzip' }, expected: compressed },
        { accepted: { 'accept-encoding': 'br' }, expected: compressed },
      ]) {
        const { status, headers, sent } = await list({ ...accepted, 'if-none-match': etag });
        expect([status, sent.length, headers.etag, headers.vary]).toEqual([
          304,
          0,
          expected.headers.etag,
          'Accept-Encoding',
        ]);
        expect(headers['content-encoding']).toBeUndefined();
      }
    }
  });
});

test('a short response is sent as it is', async () => {
  const { headers, encoding } = await inject(service.app, {
    method: 'POST',
    url: '/assets',
    headers: { ...json, 'accept-encoding': 'br, gzip' },
    payload: [{ name: 'Crane' }],
  });

  expect([encoding, headers.vary]).toEqual(['identity', undefined]);
});
