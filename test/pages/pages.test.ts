/** The pages over HTTP: the home page, the documentation, and those that ask for a key; all from this service only. */

import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { version } from '../../package.json';
import { pages } from '../support/docs.ts';
import { type TestResponse, useSharedService } from '../support/service.ts';

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const service = useSharedService();
const off = useSharedService({ GRAPHIQL: 'off', EXPLORER: 'off' });
const closed = useSharedService({}, { closed: true });
const exposed = useSharedService({ HOST: '0.0.0.0' });

describe('the home page', () => {
  test.each([
    ['explore', service],
    ['documentation/README.md', off],
  ])('leads browsers to %s', async (target, served) => {
    const { status, headers, text } = await served.get('/', browser);
    expect([status, headers.location, text]).toEqual([302, target, '']);
    expect(headers.vary).toContain('Accept');
    expect((await served.get(`/${target}`, browser)).status).toBe(200);
    for (const path of ['/explore', '/pages/explorer.js', '/pages/map.css'])
      expect((await served.get(path, browser)).status).toBe(target === 'explore' ? 200 : 404);
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

describe('the documentation', () => {
  const served = [...pages, 'client/README.md'];
  const documents = new Map<string, TestResponse>();

  beforeAll(async () => {
    for (const page of served) documents.set(page, await closed.get(`/documentation/${page}`));
  });

  test.each(served)('every link and image of %s leads to something that is served, without a key', async (page) => {
    const links = [...(documents.get(page)?.text ?? '').matchAll(/(?:href|src)="(?!https?:)([^"]+)"/g)].map(
      ([, link = '']) => link,
    );
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : posix.join(posix.dirname(page), path);
      const { status, text } = documents.get(target) ?? (await closed.get(posix.join('/documentation', target)));
      expect([link, status]).toEqual([link, 200]);
      if (anchor) expect(text, link).toContain(` id="${anchor}"`);
    }
  });

  test('a page has its own title, runs no script, and loads nothing from other servers', async () => {
    const { status, headers } = await closed.get('/documentation/docs/commands.md');

    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self'; img-src/);
    expect(documents.get('docs/commands.md')?.text).toMatch(/<title>[A-Z][\w, ]+ – Yardgraph documentation<\/title>/);
    for (const [page, { text }] of documents) {
      expect(text, page).not.toMatch(/<script|\sstyle=|<link[^>]+href="https?:|src="https?:/);
    }
  });

  test('what is no page is served as it is', async () => {
    const image = await closed.app.inject('/documentation/docs/graphiql.png');
    const license = await closed.get('/documentation/LICENSE');

    expect(image.headers['content-type']).toBe('image/png');
    expect(image.rawPayload.equals(readFileSync('docs/graphiql.png'))).toBe(true);
    expect([license.headers['content-type'], license.text]).toEqual([
      'text/plain; charset=utf-8',
      readFileSync('LICENSE', 'utf8'),
    ]);
  });

  test.each([
    ['/documentation', 'documentation/README.md'],
    ['/documentation/', 'README.md'],
    ['/docs', 'reference'],
    ['/docs/', '../reference'],
    ['/reference/', '../reference'],
    ['/explore/', '../explore'],
  ])('%s leads to %s, below any path of a proxy', async (path, target) => {
    const { status, headers } = await closed.get(path);
    expect([status, headers.location]).toEqual([308, target]);
  });

  test('every page has a list of all pages, and a long one a list of its sections', () => {
    for (const [page, { text }] of documents) {
      const [, list = ''] = text.split('<nav aria-label="Documentation"');
      expect([...list.matchAll(/<a href/g)], page).toHaveLength(['Home', ...served].length);
      expect(list.match(/aria-current/g), page).toHaveLength(1);
    }
    expect(documents.get('docs/graphql.md')?.text).toMatch(/<nav aria-label="On this page"><ul><li><a href="#[\w-]+">/);
    expect(documents.get('docs/settings.md')?.text).not.toContain('On this page');
  });

  test.each([
    'package.json',
    'docs',
    '../package.json',
    '..%2Fpackage.json',
    'docs/..%2f..%2fpackage.json',
    '__proto__',
  ])('nothing else is there: /documentation/%s', async (path) => {
    expect(await closed.get(`/documentation/${path}`)).toMatchObject({
      status: 404,
      body: { error: expect.stringMatching(/^there is (?:nothing|no page) at this path/), code: '404' },
    });
  });
});

const filesIn = (html: string) => [...html.matchAll(/(?:src|href)="(pages\/[^"]+)"/g)].map(([, file]) => `/${file}`);

describe.each([
  ['/graphql', 'GraphiQL', "script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; font-src data:;"],
  ['/reference', 'REST reference', "script-src 'self'; style-src 'self';"],
  ['/explore', 'Explorer', "script-src 'self'; style-src 'self';"],
])('the page at %s', (path, title, policy) => {
  test('contains no script, and its policy allows only files of the service', async () => {
    const { status, headers, text } = await service.get(path, browser);

    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toContain(`default-src 'none'; ${policy}`);
    expect(headers['content-security-policy']).toMatch(/connect-src 'self'.*frame-ancestors 'none'/);
    expect(headers['content-security-policy']).not.toMatch(/https?:|\*|script-src [^;]*unsafe/);
    expect(text).toContain(`<title>${title} – Yardgraph</title>`);
    expect(text).not.toMatch(/<script(?! (?:type="module"|defer) src=)|\sstyle=|\son\w+=/);
  });

  test('and its files are not sent again while they are unchanged', async () => {
    const { text } = await service.get(path, browser);
    for (const url of [path, ...filesIn(text)]) {
      const first = await service.get(url, browser);
      const second = await service.get(url, { ...browser, 'if-none-match': first.headers.etag });

      expect(first.headers['cache-control']).toBe('private, no-cache');
      expect([second.status, second.text, second.headers.etag]).toEqual([304, '', first.headers.etag]);
    }
  });
});

test('an unknown address is a page for browsers, with the way home', async () => {
  const { status, headers, text } = await closed.get('/some/place?here', browser);
  expect([status, headers['content-type'], headers.vary]).toEqual([404, 'text/html; charset=utf-8', 'Accept']);
  expect(text).toContain('<a href="../">Go to Yardgraph</a>');
  // Elsewhere, the error keeps its form: some clients accept HTML first.
  expect((await service.get('/pages/none', browser)).body).toMatchObject({ code: '404' });
});

test.each(['key', 'tsconfig.json', '..%2Fhome.ts', 'toString', '__proto__'])(
  'there is no other file: /pages/%s',
  async (name) => {
    expect((await service.get(`/pages/${name}`)).body).toEqual({ error: 'there is nothing at this path', code: '404' });
  },
);
