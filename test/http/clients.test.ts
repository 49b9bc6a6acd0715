/** What browsers, and programs of others, send besides the interface, and what they must get to go on. */
import { expect, test } from 'vitest';
import { listen, useSharedService } from '../support/service.ts';

const origin = 'https://app.example.com';
const service = useSharedService({ CORS_ORIGINS: origin, MAX_BODY_BYTES: '1024', RATE_LIMIT: '30' }, { closed: true });

test('a page of a listed origin may send whatever headers its libraries add', async () => {
  const requested = 'content-type,apollographql-client-name,sentry-trace,baggage,x-requested-with';
  const { status, headers } = await service.inject({
    method: 'OPTIONS',
    url: '/graphql',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': requested },
  });

  expect(status).toBe(204);
  expect(headers).toMatchObject({
    'access-control-allow-origin': origin,
    'access-control-allow-headers': requested,
    vary: 'Origin, Access-Control-Request-Headers',
  });
  expect(headers['access-control-allow-credentials']).toBeUndefined();
});

test('a page of a listed origin can read every response, whatever went wrong', async () => {
  const key = await service.key();
  const url = await listen(service.app);
  const authorization = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const send = (path: string, init: RequestInit = {}) =>
    fetch(url + path, { ...init, headers: { origin, ...authorization, ...init.headers } });
  const post = (body: string, headers: Record<string, string> = {}) =>
    send('/assets', { method: 'POST', body, headers });

  const responses = [
    [200, await send('/asset-categories')],
    [200, await send('/export/assets.csv')],
    [200, await send('/graphql', { method: 'POST', body: '{"query":"{ nothing }"}' })],
    [204, await send('/assets', { method: 'OPTIONS' })],
    [400, await post('{')],
    [400, await send('/%zz')],
    [400, await send('/export/assets.csv?x=1')],
    [401, await send('/asset-categories', { headers: { authorization: 'Bearer x' } })],
    [404, await send('/nothing')],
    [405, await send('/assets')],
    [413, await post(`[${' '.repeat(2_000)}]`)],
    [415, await post('[]', { 'content-type': 'text/plain' })],
    [415, await post('[]', { 'content-type': 'application/json; charset=latin1' })],
  ] as const;
  let limited = await send('/asset-categories');
  for (let more = 0; more < 40 && limited.status !== 429; more += 1) limited = await send('/asset-categories');

  for (const [status, response] of [...responses, [429, limited] as const]) {
    const { headers, url } = response;
    expect([url, response.status, headers.get('access-control-allow-origin')]).toEqual([url, status, origin]);
    expect(headers.get('access-control-expose-headers')).toContain('retry-after');
    expect(headers.get('vary')).toContain('Origin');
  }
});

test('HEAD of an export has its type and name, and reads no records', async () => {
  const reader = service.as(await service.key());
  const headers = { authorization: `Bearer ${await service.key()}` };

  const { status, headers: received } = await service.inject({ method: 'HEAD', url: '/export/assets.csv', headers });

  expect((await reader.get('/export/assets.csv')).status).toBe(200);
  expect(status).toBe(200);
  expect(received).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="assets.csv"',
  });
  expect(received).not.toHaveProperty('content-length');
});
