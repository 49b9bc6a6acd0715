/** The GraphiQL page and its files over HTTP: small, cached by browsers, and compressed. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { createAsset } from '../../src/http/pages.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();
const browser = { accept: 'text/html' };
let html: string;
let files: string[];

beforeAll(async () => {
  html = (await service.get('/graphql', browser)).text;
  files = [...new Set(html.match(/explorer\/[\w.-]+/g))];
});

const getFile = (file: string, encoding = 'identity') =>
  service.app.inject({ url: `/${file}`, headers: { 'accept-encoding': encoding } });

describe('the page', () => {
  test('is small, and is not sent again while it is unchanged', async () => {
    const first = await service.get('/graphql', browser);
    expect(first.text.length).toBeLessThan(20_000);
    expect(first.headers).toMatchObject({ 'cache-control': 'private, no-cache', vary: 'Accept, Accept-Encoding' });

    const second = await service.get('/graphql', { ...browser, 'if-none-match': first.headers.etag });

    expect([second.status, second.text, second.headers.etag]).toEqual([304, '', first.headers.etag]);
  });

  test('contains no script of its own: its policy allows only files of the service', async () => {
    const { headers } = await service.get('/graphql', browser);

    expect(headers['content-security-policy']).toContain("script-src 'self';");
    expect(html).not.toMatch(/<script>|<script (?!.*(?:src=|application\/json))|\son\w+=/);
    expect(html).not.toContain('Authorization');
  });
});

describe('the files of the page', () => {
  test('may be kept forever, and have the same content in each encoding', async () => {
    expect(files).toHaveLength(8);
    for (const file of files) {
      const [plain, gzip, br] = await Promise.all(
        ['identity', 'gzip', 'br'].map((encoding) => getFile(file, encoding)),
      );
      const type = file.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';

      for (const [response, encoding] of [[plain], [gzip, 'gzip'], [br, 'br']] as const) {
        expect([file, response?.statusCode, response?.headers['content-encoding']]).toEqual([file, 200, encoding]);
        expect(response?.headers).toMatchObject({
          'cache-control': 'public, max-age=31536000, immutable',
          'content-length': String(response?.rawPayload.length),
          'content-type': type,
          vary: 'Accept-Encoding',
        });
      }
      expect(gunzipSync(gzip?.rawPayload ?? '').equals(plain?.rawPayload ?? Buffer.of())).toBe(true);
      expect(brotliDecompressSync(br?.rawPayload ?? '').equals(plain?.rawPayload ?? Buffer.of())).toBe(true);
    }
  });

  test('have no other names', async () => {
    for (const file of ['graphiql.js', `${files[0]}x`, '..%2Fgraphiql.ts', 'toString', '__proto__']) {
      expect([file, (await service.get(`/explorer/${file}`)).body]).toEqual([
        file,
        { error: 'there is nothing at this path', code: '404' },
      ]);
    }
  });

  const off = useSharedService({ GRAPHIQL: 'off' });

  test('are not there where GraphiQL is off', async () => {
    expect((await off.get(`/${files[0]}`)).status).toBe(404);
  });
});

test('a file changes its name with its content', () => {
  expect(createAsset('page', 'js', 'a').fileName).toMatch(/^page-[\w-]{16}\.js$/);
  expect(createAsset('page', 'js', 'a').fileName).not.toBe(createAsset('page', 'js', 'b').fileName);
});
