/** The page of the REST reference and its files over HTTP. */
import { expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

test('the page loads nothing from outside, and works below any path of a proxy', async () => {
  const page = await service.get('/reference');

  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.text).toContain('<title>REST reference – Yardgraph</title>');
  const addresses = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address);
  expect(addresses.length).toBeGreaterThan(3);
  for (const address of addresses) expect(address).toMatch(/^(?:\.\/|[a-z][^:]*)$/);
  expect(String(page.headers['content-security-policy'])).not.toContain('unsafe');
});

test('with a slash at the end, it is redirected to the path at which its URLs work', async () => {
  const { status, headers } = await service.get('/reference/');

  expect([status, headers.location]).toEqual([308, '../reference']);
});

test('the files of the page are there, and are never requested twice', async () => {
  const { text } = await service.get('/reference');
  const files = [...text.matchAll(/"(reference\/[^"]+)"/g)].map(([, file]) => String(file));

  expect(files).toHaveLength(5);
  for (const file of files) {
    const { status, headers } = await service.get(`/${file}`);
    expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
  }
});

const off = useSharedService({ GRAPHIQL: 'off' });

test('the page links to GraphiQL only if that is there', async () => {
  expect((await service.get('/reference')).text).toContain('href="graphql"');
  expect((await off.get('/reference')).text).not.toContain('href="graphql"');
});
