/** Makes subscriptions wait while the database is unavailable: a page that they skipped would be lost. */
import { setTimeout as pause } from 'node:timers/promises';
import { ServiceError } from '../../errors.ts';

/** Milliseconds between two attempts. */
const retryDelay = 1_000;

export const isUnavailable = (error: unknown): boolean => error instanceof ServiceError && error.status === 503;

/** Repeats the work while the database is unavailable. Undefined once the signal is aborted, even after an error. */
export async function whenAvailable<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      const result = await work();
      if (!signal.aborted) return result;
    } catch (error) {
      if (!signal.aborted && !isUnavailable(error)) throw error;
      await pause(retryDelay, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}
