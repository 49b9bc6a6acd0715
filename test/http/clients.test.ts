/** What browsers, and programs of others, send besides the interface, and what they must get to go on. */
import { expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const origin = 'https://app.example.com';
const service = useSharedService({ CORS_ORIGINS: origin }, { closed: true });

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

test.each(['https://evil.example.com', 'https://app.example.com.evil.com', 'null'])(
  'a page of another origin may not call the service: %s',
  async (origin) => {
    const request = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };
    const asked = await service.inject({ method: 'OPTIONS', url: '/locations', headers: { origin, ...request } });
    const sent = await service.post('/locations', [{}], { origin, authorization: `Bearer ${await service.key()}` });
    const error = `Origin: expected an origin that CORS_ORIGINS lists, received "${origin}"`;
    expect([asked.status, asked.body.error]).toEqual([403, error]);
    for (const { headers } of [asked, sent]) expect(headers).not.toHaveProperty('access-control-allow-origin');
  },
);
