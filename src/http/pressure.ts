/** Refuses requests while the process is short of memory, or cannot keep up: it goes on with those that it has. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import { unavailable } from '../errors.ts';

/** Milliseconds between measurements. */
const interval = 200;

/** Milliseconds between forced collections. */
const collectionInterval = 5_000;

/** Routes that show no data stay available: a supervisor that asks how the service is would otherwise end it. */
export async function refuseUnderPressure(
  app: FastifyInstance,
  // Bytes of the heap and of buffers, with what is not collected yet: the process should stay below 1 GB, and what it has begun takes the
  // other half. Milliseconds, on average, that the event loop is late.
  { maxBytes = 400 * 1_048_576, maxEventLoopDelay = 5_000 } = {},
): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  let collectedAt = 0;
  await app.register(underPressure, {
    maxEventLoopDelay,
    healthCheck: async () => {
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external <= maxBytes;
    },
    healthCheckInterval: interval,
    pressureHandler: (request, _reply, type) => {
      // While requests are refused, nothing is allocated: without this, garbage counted for more than 50 s after the load had ended.
      if (Date.now() - collectedAt > collectionInterval) {
        collectedAt = Date.now();
        collect();
      }
      if (!request.routeOptions.config.isPublic?.(request))
        throw unavailable('the service is overloaded, try again', type);
    },
  });
}
