/** What is at `/`: a way for people, JSON for programs; and the icon of all pages. */
import { describe, expect, test } from 'vitest';
import { version } from '../../package.json';
import { startService, useSharedService } from '../support/service.ts';

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const service = useSharedService();
const off = useSharedService({ GRAPHIQL: 'off', EXPLORER: 'off' });
const closed = useSharedService({}, { closed: true });
const exposed = useSharedService({ HOST: '0.0.0.0' });

describe('the home page', () => {
  test.each([
    [{}, 'explore'],
    [{ EXPLORER: 'off' }, 'documentation/README.md'],
  ])('with %j leads browsers to %s', async (settings, target) => {
    const own = await startService(settings);
    const { status, headers, text } = await own.get('/', browser);

    expect([status, headers.location, text]).toEqual([302, target, '']);
    expect(headers.vary).toContain('Accept');
    expect((await own.get(`/${target}`, browser)).status).toBe(200);
    for (const path of ['/explore', '/pages/explorer.js', '/pages/map.css'])
      expect((await own.get(path, browser)).status).toBe(target === 'explore' ? 200 : 404);
    await own.stop();
  });

  test('is JSON for programs, which names only what is there', async () => {
    const { headers, body } = await service.get('/');
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(body).toEqual({
      name: 'Yardgraph',
      version,
      needsKey: false,
      links: {
        explorer: '/explore',
        graphql: '/graphql',
        graphiql: '/graphql',
        reference: '/reference',
        documentation: '/documentation/README.md',
        openapi: '/openapi.json',
        health: '/healthz',
        readiness: '/readyz',
      },
    });
    for (const link of Object.values<string>(body.links))
      expect([link, (await service.get(link, browser)).status]).toEqual([link, 200]);
    const { links } = (await off.get('/')).body;
    expect([links.graphiql, links.explorer]).toEqual([undefined, undefined]);
  });

  test('responds to HEAD, and says which methods it supports', async () => {
    const { status, text } = await service.inject({ method: 'HEAD', url: '/' });
    const refused = await service.post('/', []);
    expect([status, text, refused.status, refused.headers.allow]).toEqual([200, '', 405, 'GET, HEAD']);
  });

  test('says that a key is needed once there is one, and on other addresses than loopback', async () => {
    for (const needing of [closed, exposed]) expect((await needing.get('/')).body.needsKey).toBe(true);
  });
});

test('the icon is there for every page, and cached', async () => {
  const { status, headers, text } = await service.get('/favicon.ico');

  expect(status).toBe(200);
  expect(headers).toMatchObject({ 'content-type': 'image/svg+xml', 'cache-control': 'public, max-age=86400' });
  expect(text).toMatch(/^<svg /);
  for (const page of ['/explore', '/graphql', '/reference']) {
    expect((await service.get(page, browser)).text).toContain('<link rel="icon" href="favicon.ico"');
  }
});
