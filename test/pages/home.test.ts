/** What is at `/`: a page for people, the same as JSON for programs, and the icon of all pages. */
import { describe, expect, test } from 'vitest';
import { version } from '../../package.json';
import { useSharedService } from '../support/service.ts';

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const service = useSharedService({ EXPLORER: 'off' });

describe('the home page', () => {
  test('says what this is and in which version, and leads to everything there is', async () => {
    const { status, headers, text } = await service.get('/', browser);

    expect([status, headers['content-type'], headers.vary]).toEqual([
      200,
      'text/html; charset=utf-8',
      'Accept, Accept-Encoding',
    ]);
    expect(text).toContain('records as one linked graph');
    expect(text).toContain(`Version ${version}`);
    const links = [...text.matchAll(/<a href="(.*?)"/g)].map(([, href]) => href);
    expect(links.map((link) => link?.replace(/#.*/, ''))).toEqual([
      'documentation/README.md',
      'graphql',
      'reference',
      'documentation/README.md',
      'openapi.json',
      'healthz',
      'readyz',
    ]);
    for (const link of links) expect([link, (await service.get(`/${link}`, browser)).status]).toEqual([link, 200]);
  });

  test('runs no script, and loads nothing but its icon and its styles', async () => {
    const { headers, text } = await service.get('/', browser);

    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self'; img-src/);
    expect(text).not.toMatch(/<script|\sstyle=|\son\w+=|https?:/);
  });

  test('is JSON for programs', async () => {
    const { headers, body } = await service.get('/');

    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(body).toEqual({
      name: 'Yardgraph',
      version,
      needsKey: false,
      links: {
        graphql: '/graphql',
        graphiql: '/graphql',
        reference: '/reference',
        documentation: '/documentation/README.md',
        openapi: '/openapi.json',
        health: '/healthz',
        readiness: '/readyz',
      },
    });
  });

  test('responds to HEAD, and says which methods it supports', async () => {
    const { status, text } = await service.inject({ method: 'HEAD', url: '/', headers: browser });
    const refused = await service.post('/', []);

    expect([status, text]).toEqual([200, '']);
    expect([refused.status, refused.headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  const explorer = useSharedService();

  test('is the explorer, unless that is off', async () => {
    const { status, headers } = await explorer.get('/', browser);

    expect([status, headers.location]).toEqual([302, 'explore']);
    expect((await explorer.get('/')).body.links.explorer).toBe('/explore');
    expect((await explorer.get('/explore', browser)).status).toBe(200);
    expect((await service.get('/explore', browser)).status).toBe(404);
  });

  const off = useSharedService({ GRAPHIQL: 'off', EXPLORER: 'off' });

  test('does not link to GraphiQL where it is off', async () => {
    expect((await off.get('/', browser)).text).not.toContain('GraphiQL');
    expect((await off.get('/')).body.links).not.toHaveProperty('graphiql');
  });
});

describe('whether a key is needed', () => {
  const closed = useSharedService({ EXPLORER: 'off' }, { closed: true });

  test('is what the page says', async () => {
    expect((await service.get('/', browser)).text).toMatch(/Requests need no API key until the first one is .*created/);
    expect((await closed.get('/', browser)).text).toContain('Requests need an API key.');
    expect((await closed.get('/')).body.needsKey).toBe(true);
  });

  const exposed = useSharedService({ HOST: '0.0.0.0' });

  test('is yes on other addresses than loopback, even before the first key', async () => {
    expect((await exposed.get('/')).body.needsKey).toBe(true);
  });
});

test('the icon is there for every page, and cached', async () => {
  const { status, headers, text } = await service.get('/favicon.ico');

  expect([status, headers['content-type'], headers['cache-control']]).toEqual([
    200,
    'image/svg+xml',
    'public, max-age=86400',
  ]);
  expect(text).toMatch(/^<svg /);
  for (const page of ['/', '/graphql', '/reference']) {
    expect((await service.get(page, browser)).text).toContain('<link rel="icon" href="favicon.ico"');
  }
});
