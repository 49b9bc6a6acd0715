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
  const { createAsset } = await import('../../src/http/pages.ts');
  const app = Fastify();
  const asset = createAsset('page', 'js', 'export {};');
  app.get('/page.js', (request, reply) => asset.send(request, reply));
  const request: InjectOptions = { url: '/page.js', headers: { 'accept-encoding': 'br' } };

  const failed = await app.inject(request);
  const next = await app.inject(request);

  expect([failed.statusCode, failed.headers['cache-control'], failed.headers['content-encoding']]).toEqual([
    500,
    undefined,
    undefined,
  ]);
  expect([next.statusCode, next.headers['cache-control'], next.headers['content-encoding']]).toEqual([
    200,
    'public, max-age=31536000, immutable',
    'br',
  ]);
});
