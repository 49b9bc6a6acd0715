/** Requests are refused while the process is short of memory, and accepted again when it is not. */
import { constants, PerformanceObserver } from 'node:perf_hooks';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { sendError } from '../../src/http/error-response.ts';
import { refuseUnderPressure } from '../../src/http/server.ts';

test('a request gets 503 and when to try again while the heap is full, but for what needs no key, and garbage is collected', async () => {
  const app = Fastify();
  onTestFinished(() => app.close());
  app.decorateRequest('rejectionReason', null);
  app.setErrorHandler((error, request, reply) => sendError(request, reply, error));
  await refuseUnderPressure(app, { maxBytes: 1, maxEventLoopDelay: 0 });
  app.get('/asset-categories', async () => []);
  app.get('/healthz', { config: { isPublic: () => true } }, async () => ({ status: 'ok' }));
  let isCollected = false;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & { detail: { flags: number } })[]) {
      if (entry.detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) isCollected = true;
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  onTestFinished(() => observer.disconnect());
  const get = (url: string) => app.inject({ url });

  await expect.poll(async () => (await get('/asset-categories')).statusCode).toBe(503);

  const { headers, body } = await get('/asset-categories');
  expect(headers['retry-after']).toBe('1');
  expect(JSON.parse(body)).toEqual({ error: 'the service is overloaded, try again', code: '503' });
  expect((await get('/healthz')).statusCode).toBe(200);
  await expect.poll(() => isCollected).toBe(true);
});
