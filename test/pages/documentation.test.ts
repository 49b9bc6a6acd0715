/** The documentation that the service serves: all of it, with every link between its pages, and nothing else of the disk. */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { pages } from '../support/docs.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService({}, { closed: true });
const served = [...pages, 'client/README.md'];
const html = new Map<string, string>();

beforeAll(async () => {
  for (const page of served) html.set(page, (await service.get(`/documentation/${page}`)).text);
});

test.each(served)('every link and image of %s leads to something that is served, without a key', async (page) => {
  const links = [...(html.get(page) ?? '').matchAll(/(?:href|src)="(?!https?:)([^"]+)"/g)].map(([, link]) =>
    String(link),
  );

  expect(links.length).toBeGreaterThan(3);
  for (const link of links) {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : posix.join(posix.dirname(page), path);
    // A service on 127.0.0.1 itself is what the text is about.
    const { status, text } = await service.get(posix.join('/documentation', target));
    expect([link, status]).toEqual([link, 200]);
    if (anchor) expect(text, link).toContain(` id="${anchor}"`);
  }
});

test('a page has its own title, runs no script, and loads nothing from other servers', async () => {
  const { status, headers } = await service.get('/documentation/docs/commands.md');

  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self'; img-src/);
  expect(html.get('docs/commands.md')).toMatch(/<title>[A-Z][\w, ]+ – Yardgraph documentation<\/title>/);
  for (const [page, text] of html) {
    expect(text, page).not.toMatch(/<script|\sstyle=|<link[^>]+href="https?:|src="https?:/);
  }
});

test('what is no page is served as it is', async () => {
  const image = await service.app.inject('/documentation/docs/graphiql.png');
  const license = await service.get('/documentation/LICENSE');

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
  const { status, headers } = await service.get(path);

  expect([status, headers.location]).toEqual([308, target]);
});

test('every page has a list of all pages, and a long one a list of its sections', () => {
  for (const [page, text] of html) {
    const [, list = ''] = text.split('<nav aria-label="Documentation"');
    expect([...list.matchAll(/<a href/g)], page).toHaveLength(['Home', ...served].length);
    expect(list.match(/aria-current/g), page).toHaveLength(1);
  }
  expect(html.get('docs/graphql.md')).toMatch(/<nav aria-label="On this page"><ul><li><a href="#[\w-]+">/);
  expect(html.get('docs/settings.md')).not.toContain('On this page');
});

test.each(['package.json', 'docs', '../package.json', '..%2Fpackage.json', 'docs/..%2f..%2fpackage.json', '__proto__'])(
  'nothing else is there: /documentation/%s',
  async (path) => {
    expect(await service.get(`/documentation/${path}`)).toMatchObject({
      status: 404,
      body: { error: expect.stringMatching(/^there is (?:nothing|no page) at this path/), code: '404' },
    });
  },
);
