/** Compressed responses, over REST and GraphQL alike: which encoding a client gets (RFC 9110, 12.5.3), and which are not compressed. */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { codecs } from '../../src/http/compression.ts';
import { createPage } from '../../src/http/pages.ts';
import { createServer } from '../../src/http/server.ts';
import { useSharedService } from '../support/service.ts';

const app = createServer(loadConfig({ LOG_LEVEL: 'silent' }));
afterAll(() => app.close());
const text = 'Cranes lift what is heavy. '.repeat(100);
const long = randomBytes(30_000).toString('hex');
app.get('/text', async (_request, reply) => reply.type('text/plain').send(text));
app.get('/long', async (_request, reply) => reply.type('text/plain').send(long));
app.get('/image', async (_request, reply) => reply.type('image/png').header('etag', '"1"').send(Buffer.from(text)));
app.get('/short', async (_request, reply) => reply.type('text/plain').send('short'));
app.get('/part', async (_request, reply) => reply.code(206).type('text/plain').send(text));
app.get('/encoded', async (_request, reply) => reply.type('text/plain').header('content-encoding', 'x').send(text));
app.get('/nothing', async (_request, reply) => reply.code(204).header('etag', '"1"').send());
app.get('/file', async (_request, reply) =>
  reply
    .type('text/plain')
    .headers({ vary: 'Origin', 'content-length': text.length, 'accept-ranges': 'bytes' })
    .send(Readable.from(text)),
);
app.get('/page', createPage('<p>Crane</p>'));
app.get('/broken', async (_request, reply) => {
  const broken = new Readable({ read: () => void broken.destroy(new Error('the disk is broken')) });
  return reply.type('text/plain').header('etag', '"1"').send(broken);
});

const get = (url: string, encoding?: string) =>
  app.inject({ url, headers: encoding === undefined ? {} : { 'accept-encoding': encoding } });
const getGzip = (url: string) => get(url, 'gzip');

test.each([
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['x-gzip', 'gzip'],
  ['br;q=0, *', 'gzip'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  [undefined, undefined],
  ['identity', undefined],
  ['gzip;q=0, br;q=0.000', undefined],
  ['identity, gzip;q=0.5', undefined],
  [',;=,;q', undefined],
])('the Accept-Encoding %j gets %s', async (header, encoding) => {
  expect((await get('/text', header)).headers['content-encoding']).toBe(encoding);
});

test('a response that is compressed on another thread has its length, and any number at a time gets all of it', async () => {
  const responses = await Promise.all(Array.from({ length: 40 }, () => getGzip('/long')));

  const encodings = responses.map(({ headers }) => headers['content-encoding'] ?? 'identity');
  expect(encodings.filter((encoding) => encoding === 'gzip').length).toBeGreaterThanOrEqual(16);
  expect(encodings).toContain('identity');
  responses.forEach(({ headers, rawPayload }, index) => {
    const body = encodings[index] === 'gzip' ? gunzipSync(rawPayload) : rawPayload;
    expect(headers['content-length']).toBe(String(rawPayload.length));
    expect(body.toString() === long).toBe(true);
  });
  expect((await getGzip('/long')).headers['content-encoding']).toBe('gzip');
});

test('a stream that is compressed has neither the length nor the ranges of its source, and depends on one more header', async () => {
  const { headers, rawPayload } = await getGzip('/file');
  expect([headers['content-encoding'], headers.vary]).toEqual(['gzip', 'Origin, Accept-Encoding']);
  expect([headers['content-length'], headers['accept-ranges']]).toEqual([undefined, undefined]);
  expect(gunzipSync(rawPayload).toString()).toBe(text);
});

test.each([
  ['/image', 200, undefined],
  ['/part', 206, undefined],
  ['/encoded', 200, 'x'],
  ['/nothing', 204, undefined],
  ['/short', 200, undefined],
])('%s is sent as it is', async (url, status, encoding) => {
  const { statusCode, headers } = await getGzip(url);
  expect([statusCode, headers['content-encoding'], headers.vary]).toEqual([status, encoding, undefined]);
  if (headers.etag) expect(headers.etag).toBe('"1"');
});

test('the error that replaces a stream that cannot be read is not called compressed', async () => {
  const { statusCode, headers, body } = await getGzip('/broken');
  expect(statusCode).toBe(500);
  expect([headers['content-encoding'], headers.etag]).toEqual([undefined, undefined]);
  expect(JSON.parse(body)).toEqual({ error: expect.stringContaining('unexpected error'), code: '500' });
});

test('a page that cannot be compressed is an error that nobody caches, and is compressed again the next time', async () => {
  vi.spyOn(codecs.br, 'async').mockRejectedValueOnce(new Error('no memory'));
  const responses = [await get('/page', 'br'), await get('/page', 'br')];
  expect(responses.map(({ statusCode, headers }) => [statusCode, headers.etag, headers['content-encoding']])).toEqual([
    [500, undefined, undefined],
    [200, expect.stringMatching(/^W\/"/), 'br'],
  ]);
});

const service = useSharedService();
beforeAll(async () => {
  await service.create('/asset-categories', ...Array.from({ length: 200 }, (_, n) => ({ name: `Cranes ${n}` })));
});

const list = (headers = {}) => service.app.inject({ url: '/asset-categories', headers });
const tooLong = Array.from({ length: 40 }, () => ({ name: 'Crane', ['nmae'.repeat(25)]: 1 }));
const query = { query: '{ assetCategories(first: 200) { nodes { id name } } }' };

test.each<[name: string, status: number, url: string, accept: string, payload?: object]>([
  ['a list', 200, '/asset-categories', '*/*'],
  ['a page', 200, '/documentation/docs/graphql.md', '*/*'],
  ['an error of many issues', 400, '/assets', '*/*', tooLong],
  ['a problem of many issues', 400, '/assets', 'application/problem+json', tooLong],
  ['a GraphQL response', 200, '/graphql', '*/*', query],
])('%s is sent compressed to a client that accepts it, with its length', async (_, status, url, accept, payload) => {
  const send = (encoding: string) =>
    service.app.inject({
      url,
      method: payload ? 'POST' : 'GET',
      headers: { accept, 'accept-encoding': encoding },
      ...(payload && { payload }),
    });
  const [plain, gzip, br] = [await send('identity'), await send('gzip'), await send('br')];

  for (const [encoding, { statusCode, headers, rawPayload }] of Object.entries({ gzip, br })) {
    expect([statusCode, headers['content-encoding'], headers.vary]).toEqual([status, encoding, 'Accept-Encoding']);
    expect(headers['content-type']).toBe(plain.headers['content-type']);
    expect(Number(headers['content-length'])).toBe(rawPayload.length);
    expect(rawPayload.length).toBeLessThan(plain.rawPayload.length / 3);
  }
  expect(gunzipSync(gzip.rawPayload).toString()).toBe(plain.body);
  expect(brotliDecompressSync(br.rawPayload).toString()).toBe(plain.body);
});

test('a compressed list has a weak ETag, because its bytes are others, and each ETag gets a 304, in a list or not', async () => {
  const plain = await list();
  const compressed = await list({ 'accept-encoding': 'gzip' });
  expect(compressed.headers.etag).toBe(`W/${plain.headers.etag}`);

  for (const etag of [plain.headers.etag, compressed.headers.etag, `"other", ${plain.headers.etag}`, '*']) {
    for (const { accepted, expected } of [
      { accepted: {}, expected: plain },
      { accepted: { 'accept-encoding': 'gzip' }, expected: compressed },
      { accepted: { 'accept-encoding': 'br' }, expected: compressed },
    ]) {
      const { statusCode, headers, rawPayload } = await list({ ...accepted, 'if-none-match': etag });
      const { etag: own } = expected.headers;
      expect([statusCode, rawPayload.length, headers.etag, headers.vary]).toEqual([304, 0, own, 'Accept-Encoding']);
      expect(headers['content-encoding']).toBeUndefined();
    }
  }
});
