/** GraphiQL, the REST reference and the files of all pages over HTTP: from this service only, kept by browsers, and compressed. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();
const browser = { accept: 'text/html' };

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

  test('works below any path of a proxy: its URLs are relative, and lead to something', async () => {
    const { text } = await service.get(path, browser);
    const addresses = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => String(address));

    expect(addresses.length).toBeGreaterThan(5);
    for (const address of addresses) {
      expect(address).toMatch(/^(?:\.\/|[a-z][^:]*)$/);
      // GraphiQL is there for browsers only.
      const headers = address === 'graphql' ? browser : {};
      expect([address, (await service.get(`/${address.replace('./', '')}`, headers)).status]).toEqual([address, 200]);
    }
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

test.each([
  ['document.css', 'text/css'],
  ['graphql-worker.js', 'text/javascript'],
  ['tabs.json', 'application/json'],
])('the file %s has the same content in each encoding', async (name, type) => {
  const [plain, gzip, br] = await Promise.all(
    ['identity', 'gzip', 'br'].map((encoding) =>
      service.app.inject({ url: `/pages/${name}`, headers: { 'accept-encoding': encoding } }),
    ),
  );

  for (const [response, encoding] of [[plain], [gzip, 'gzip'], [br, 'br']] as const) {
    expect([response?.statusCode, response?.headers['content-encoding']]).toEqual([200, encoding]);
    expect(response?.headers).toMatchObject({ 'content-type': `${type}; charset=utf-8`, vary: 'Accept-Encoding' });
  }
  expect(gunzipSync(gzip?.rawPayload ?? '').equals(plain?.rawPayload ?? Buffer.of())).toBe(true);
  expect(brotliDecompressSync(br?.rawPayload ?? '').equals(plain?.rawPayload ?? Buffer.of())).toBe(true);
});

test.each(['key', 'tsconfig.json', '..%2Fhome.ts', 'toString', '__proto__'])(
  'there is no other file: /pages/%s',
  async (name) => {
    expect((await service.get(`/pages/${name}`)).body).toEqual({ error: 'there is nothing at this path', code: '404' });
  },
);
