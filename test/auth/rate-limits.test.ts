/** Limits of the requests of a key, and of the failed logins of an address: that of the client behind a trusted proxy. */
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createServer } from '../../src/http/server.ts';
import { startForTest, useService } from '../support/service.ts';

const query = '{ __typename }';
const wrongKey = (index = 0) => `yardgraph_acme_${index.toString(16).padStart(8, '0')}_${'x'.repeat(43)}`;

describe('of three requests of a key, and two failed logins:', () => {
  const service = useService({ RATE_LIMIT: '3', FAILED_LOGIN_LIMIT: '2' }, { closed: true });

  test('a key beyond its limit gets 429 with Retry-After; another key is not affected', async () => {
    const key = service.as(await service.key());
    const other = service.as(await service.key());

    const responses = [];
    for (let request = 0; request < 4; request += 1) responses.push(await key.get('/asset-categories'));

    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(responses.map(({ headers }) => headers['ratelimit-remaining'])).toEqual(['2', '1', '0', '0']);
    const { headers, body } = responses[3] ?? {};
    expect(headers).toMatchObject({ 'ratelimit-limit': '3', 'retry-after': expect.anything() });
    expect(Number(headers?.['retry-after'])).toBeGreaterThan(0);
    expect(body).toEqual({
      error: expect.stringMatching(/^at most 3 requests per minute: try again in \d+ s$/),
      code: '429',
    });
    const graphql = await key.graphql(query);
    expect([graphql.status, graphql.body.errors[0].extensions.code]).toEqual([429, 'TOO_MANY_REQUESTS']);
    expect((await other.get('/asset-categories')).status).toBe(200);
  });

  test('an address that presents too many wrong keys gets 429 for them; other addresses do not', async () => {
    const wrong = [];
    for (let attempt = 0; attempt < 3; attempt += 1) wrong.push(await service.as('wrong').get('/asset-categories'));

    expect(wrong.map(({ status }) => status)).toEqual([401, 401, 429]);
    expect(wrong[2]?.body).toEqual({
      error: expect.stringMatching(/^at most 2 failed logins per minute: try again in \d+ s$/),
      code: '429',
    });
    expect(wrong[2]?.headers).toMatchObject({ 'ratelimit-limit': '2', 'ratelimit-remaining': '0' });
    expect(Number(wrong[2]?.headers['retry-after'])).toBeGreaterThan(0);
    const elsewhere = await service.app.inject({ url: '/asset-categories', remoteAddress: '127.0.0.9' });
    expect(elsewhere.statusCode).toBe(401);
  });

  test('many unknown keys at once are 401 up to the limit, and 429 beyond it', async () => {
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, index) => service.as(wrongKey(index)).get('/asset-categories')),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([401, 401, ...Array(48).fill(429)]);
  });

  test('beyond the limit, a key that was accepted before is still accepted, and any other key must wait for the next minute', async () => {
    const used = service.as(await service.key());
    const unused = service.as(await service.key());
    expect((await used.get('/asset-categories')).status).toBe(200);

    for (let index = 0; index < 3; index += 1) await service.as(wrongKey(index)).get('/asset-categories');

    expect((await used.get('/asset-categories')).status).toBe(200);
    expect((await unused.get('/asset-categories')).status).toBe(429);
    const elsewhere = await service.app.inject({
      url: '/asset-categories',
      remoteAddress: '127.0.0.9',
      headers: { 'x-api-key': await service.key() },
    });
    expect(elsewhere.statusCode).toBe(200);
  });
});

test('an address over its limit cannot try secrets of a key that is cached but was never accepted', async () => {
  const service = await startForTest({ FAILED_LOGIN_LIMIT: '2' }, { closed: true });
  const key = await service.key();
  const wrong = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
  const statuses: number[] = [];

  for (const presented of [wrong, wrong, wrong, key]) {
    const { statusCode } = await service.app.inject({
      url: '/asset-categories',
      remoteAddress: '198.51.100.7',
      headers: { authorization: `Bearer ${presented}` },
    });
    statuses.push(statusCode);
  }

  expect(statuses).toEqual([401, 401, 429, 429]);
});

test.each([
  ['the client behind a trusted proxy', '10.0.0.0/8', '10.0.0.7', ['203.0.113.1', '203.0.113.1'], 429],
  ['each client behind it', '10.0.0.0/8', '10.0.0.7', ['203.0.113.1', '203.0.113.2'], 401],
  // What the client itself has sent comes before what the proxy adds.
  [
    'the client, whatever it says itself',
    '10.0.0.0/8',
    '10.0.0.7',
    ['1.1.1.1, 203.0.113.1', '2.2.2.2, 203.0.113.1'],
    429,
  ],
  ['the peer if no proxy is trusted', '', '203.0.113.9', ['1.1.1.1', '2.2.2.2'], 429],
  ['the peer if it is not trusted', '10.0.0.0/8', '203.0.113.9', ['1.1.1.1', '2.2.2.2'], 429],
])('failed logins count for %s', async (_, trusted, peer, forwarded, second) => {
  const service = await startForTest({ FAILED_LOGIN_LIMIT: '1', TRUSTED_PROXIES: trusted }, { closed: true });
  const statuses = [];
  for (const address of forwarded) {
    const headers = { 'x-api-key': 'wrong', 'x-forwarded-for': address };
    statuses.push((await service.app.inject({ url: '/asset-categories', remoteAddress: peer, headers })).statusCode);
  }

  expect(statuses).toEqual([401, second]);
});

test('the log has the address of the client', async () => {
  const lines: string[] = [];
  const config = loadConfig({ TRUSTED_PROXIES: 'loopback' });
  const app = createServer(config, { write: (line) => void lines.push(line) });
  app.get('/', async () => 'ok');
  for (const remoteAddress of ['127.0.0.1', '203.0.113.9']) {
    await app.inject({ url: '/', remoteAddress, headers: { 'x-forwarded-for': '198.51.100.4' } });
  }
  await app.close();

  expect(lines.map((line) => JSON.parse(line).address)).toEqual(['198.51.100.4', '203.0.113.9']);
});

test.each(['10.0.0.0/33', '10.0.0', 'proxy.example.com', '10.0.0.1,,', '10.0.0.0/8/8', '::1/129'])(
  'what is no address is rejected at the start: %s',
  (text) => {
    expect(() => loadConfig({ TRUSTED_PROXIES: text })).toThrow(/^TRUSTED_PROXIES: expected addresses, ranges such as/);
  },
);
