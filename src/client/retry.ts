/** Decides when to retry a failed request, and after which delay. Must never retry a request that may have been stored. */
import { ConnectionError, ServiceError, TimeoutError, UnexpectedResponseError, YardgraphError } from './errors.ts';

/**
 * In milliseconds. The upper bound of the delay is `firstDelay` before the first retry, and doubles with each further one, up to
 * `maxDelay`. The delay is a random value between half of the bound and the bound.
 */
const firstDelay = 500;
const maxDelay = 8_000;

/** Seconds. If the service asks for a longer wait, the error is thrown at once, so that the caller can decide. */
const maxRetryAfter = 60;

export async function retry<T>(retries: number, attempt: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      const delay = failures < retries ? delayAfter(error, failures) : undefined;
      if (delay === undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
}

/** Milliseconds to wait before retrying, after `failures` earlier failures; undefined if the error is final. */
export function delayAfter(error: unknown, failures: number): number | undefined {
  if (!(error instanceof YardgraphError) || error.mayBeStored || !isTemporary(error)) return undefined;
  const retryAfter = (hasResponse(error) ? error.retryAfter : undefined) ?? 0;
  if (retryAfter > maxRetryAfter) return undefined;
  const backoff = Math.min(firstDelay * 2 ** failures, maxDelay);
  // Random, so that clients that failed together do not retry together.
  return retryAfter * 1_000 + backoff * (0.5 + Math.random() / 2);
}

const hasResponse = (error: YardgraphError): error is ServiceError | UnexpectedResponseError =>
  error instanceof ServiceError || error instanceof UnexpectedResponseError;

/** A 502 or 504 is not temporary: it comes from a proxy, and does not say when a retry would succeed. */
const isTemporary = (error: YardgraphError): boolean =>
  error instanceof ConnectionError ||
  error instanceof TimeoutError ||
  (hasResponse(error) && (error.status === 429 || error.status === 503));
