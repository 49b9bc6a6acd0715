/** Files of pages whose compression fails. */
import type { InjectOptions } from 'fastify';
import Fastify from 'fastify';
import { expect, test, vi } from 'vitest';

const state = vi.hoisted(() => {
  vi.resetModules();
  return { failures: 1 };
});

vi.mock('node:zlib', async (original) => {
  const zlib = await original<typeof import('node:zlib')>();
  return {
    ...zlib,
    brotliCompress(body: Buffer, options: object, done: (error: Error | null, result: Buffer) => void) {
      if (state.failures > 0) {
        state.failures -= 1;
        done(new Error('no memory'), Buffer.alloc(0));
      } else zlib.brotliCompress(body, options, done);
    },
  };
});

test('a file that cannot be compressed is an error that nobody caches, and is compressed again the next time', async () => {
  const { createPage } = await import('../../src/http/pages.ts');
  const app = Fastify();
  app.get('/page.js', createPage('export {};', 'text/javascript; charset=utf-8'));
  const request: InjectOptions = { url: '/page.js', headers: { 'accept-encoding': 'br' } };

  const failed = await app.inject(request);
  const next = await app.inject(request);

  const shown = ({ statusCode, headers }: typeof failed) => [statusCode, headers.etag, headers['content-encoding']];
  expect(shown(failed)).toEqual([500, undefined, undefined]);
  expect(shown(next)).toEqual([200, expect.stringMatching(/^W\/"/), 'br']);
});
