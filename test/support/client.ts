/** The client of a service that listens, and expected errors. */
import type { AddressInfo } from 'node:net';
import { type Options, Yardgraph } from '../../client/index.ts';
import type { startService } from './service.ts';

type App = Awaited<ReturnType<typeof startService>>['app'];

/** A client of the service, which starts to listen at the first call. */
export async function clientOf({ app }: { app: App }, options: Partial<Options> = {}): Promise<Yardgraph> {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  return new Yardgraph({ serverURL: `http://127.0.0.1:${port}`, ...options });
}

/** The methods of each kind, by its path over REST. */
export const methodsOf = {
  '/assets': 'assets',
  '/work-orders': 'workOrders',
  '/projects': 'projects',
  '/locations': 'locations',
  '/transport-orders': 'transportOrders',
  '/asset-categories': 'assetCategories',
} as const;

/** The error that a call must throw. */
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
