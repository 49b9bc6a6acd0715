/** Limits of the requests of a key, and of the failed logins of an address. */
import { expect, test } from 'vitest';
import { startService, useService } from '../support/service.ts';

const service = useService({ RATE_LIMIT: '3', FAILED_LOGIN_LIMIT: '2' }, { closed: true });
const query = '{ __typename }';

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

const wrongKey = (index = 0) => `yardgraph_acme_${index.toString(16).padStart(8, '0')}_${'x'.repeat(43)}`;

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

test('an address over its limit cannot try secrets of a key that is cached but was never accepted', async () => {
  const service = await startService({ FAILED_LOGIN_LIMIT: '2' }, { closed: true });
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
  await service.stop();
});
