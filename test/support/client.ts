/** The client of a service that listens, and expected errors. */
import type { FastifyInstance } from 'fastify';
import { beforeEach, vi } from 'vitest';
import { type Options, Yardgraph } from '../../client/index.ts';
import { listField } from '../../src/model/labels.ts';
import type { RecordKind } from '../../src/model/record-kind.ts';
import { listen } from './service.ts';

/** A client of the service, which starts to listen at the first call. */
export async function clientOf({ app }: { app: FastifyInstance }, options: Partial<Options> = {}): Promise<Yardgraph> {
  return new Yardgraph({ serverURL: await listen(app), ...options });
}

/** The methods of each kind have the same form. */
export const methodsFor = (client: Yardgraph, kind: RecordKind) =>
  (client as unknown as Record<string, Yardgraph['locations']>)[listField(kind)] as Yardgraph['locations'];

export async function errorOf<E extends Error>(
  type: abstract new (...args: never[]) => E,
  call: Promise<unknown>,
): Promise<E> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof type) return error;
  throw new Error(`expected a ${type.name}`, { cause: error });
}

/** Of what the client would wait before it repeats a request, it waits this part. */
const part = 1 / 50;

/**
 * Makes the client repeat its requests soon, in all tests of a file. Returns the delays in milliseconds that it would have waited, of the
 * current test.
 */
export function useShortDelays(): readonly number[] {
  const delays: number[] = [];
  beforeEach(() => {
    delays.length = 0;
    const original = globalThis.setTimeout;
    const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((...args: Parameters<typeof setTimeout>) => {
      const [work, delay = 0, ...more] = args;
      if (!new Error().stack?.includes('/client/retry.')) return original(work, delay, ...more);
      delays.push(delay);
      return original(work, delay * part, ...more);
    }) as typeof setTimeout);
    return () => spy.mockRestore();
  });
  return delays;
}
