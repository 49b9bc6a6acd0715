/** How often a key may ask, and an address that presents wrong ones. */
import { expect, test } from 'vitest';
import { useService } from '../support/service.ts';

const service = useService({ RATE_LIMIT: '3', FAILED_LOGIN_LIMIT: '2' }, { closed: true });
const query = '{ __typename }';

test('a key that has asked as often as it may gets 429 with Retry-After; another key is not held up', async () => {
  const key = service.as(await service.key());
  const other = service.as(await service.key());

  const answers = [];
  for (let request = 0; request < 4; request += 1) answers.push(await key.get('/asset-categories'));

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  expect(answers.map(({ headers }) => headers['ratelimit-remaining'])).toEqual(['2', '1', '0', '0']);
  const { headers, body } = answers[3] ?? {};
  expect(headers).toMatchObject({ 'ratelimit-limit': '3', 'retry-after': expect.anything() });
  expect(Number(headers?.['retry-after'])).toBeGreaterThan(0);
  expect(body).toEqual({
    error: expect.stringMatching(/^at most 3 requests a minute: try again in \d+ s$/),
    code: '429',
  });
  const graphql = await key.graphql(query);
  expect([graphql.status, graphql.body.errors[0].extensions.code]).toEqual([429, 'TOO_MANY_REQUESTS']);
  expect((await other.get('/asset-categories')).status).toBe(200);
});

test('an address that presents too many wrong keys gets 429 for them; a right one is let in from there all the same', async () => {
  const key = await service.key();

  const wrong = [];
  for (let attempt = 0; attempt < 3; attempt += 1) wrong.push(await service.as('wrong').get('/asset-categories'));

  expect(wrong.map(({ status }) => status)).toEqual([401, 401, 429]);
  expect(Number(wrong[2]?.headers['retry-after'])).toBeGreaterThan(0);
  expect((await service.as(key).get('/asset-categories')).status).toBe(200);
  const elsewhere = await service.app.inject({ url: '/asset-categories', remoteAddress: '127.0.0.9' });
  expect(elsewhere.statusCode).toBe(401);
});
