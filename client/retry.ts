/**
 * Decides when to retry a failed request, and after which delay. Retries a request that may have been stored only if the service stores it
 * once.
 */
import { ConnectionError, ServiceError, TimeoutError, UnexpectedResponseError, YardgraphError } from './errors.ts';

/**
 * In milliseconds. The upper bound of the delay is `firstDelay` before the first retry, and doubles with each further one, up to
 * `maxDelay`, or `maxReconnectDelay` for a follower. The delay is a random value between half of the bound and the bound.
 */
const firstDelay = 500;
const maxDelay = 8_000;
const maxReconnectDelay = 30_000;

/** Seconds. If the service asks for a longer wait, the error is thrown at once, so that the caller can decide. */
const maxRetryAfter = 60;

/** `isStoredOnce` returns true if the service carries out the request once, however often it is sent. */
export async function retry<T>(
  retries: number,
  attempt: () => Promise<T>,
  isStoredOnce: () => Promise<boolean>,
): Promise<T> {
  /** The failure after which the request may have been stored, until a later attempt shows that it was not. */
  let unresolved: YardgraphError | undefined;
  for (let failures = 0; ; failures += 1) {
    let isFinal = failures >= retries;
    try {
      if (unresolved && !(await isStoredOnce())) {
        isFinal = true;
        throw unresolved;
      }
      return await attempt();
    } catch (error) {
      if (!(error instanceof YardgraphError)) throw error;
      if (error.mayBeStored) unresolved = error;
      else if (isResolved(error)) unresolved = undefined;
      else if (unresolved) Object.assign(error, { mayBeStored: true });
      const delay = isFinal ? undefined : delayAfter(error, failures);
      if (delay === undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
}

/** Statuses with which the service does not say whether an earlier attempt was stored. */
const unspecific: readonly number[] = [401, 403, 404, 429];

const isResolved = (error: YardgraphError): boolean =>
  error instanceof ServiceError && error.status < 500 && !unspecific.includes(error.status);

/** Returns the milliseconds to wait before a retry, after `failures` failures; undefined if the error is final. */
export function delayAfter(error: unknown, failures: number): number | undefined {
  if (!(error instanceof YardgraphError) || !isTemporary(error)) return undefined;
  return retryAfterOf(error) > maxRetryAfter ? undefined : randomDelay(error, failures, maxDelay);
}

/**
 * Returns the milliseconds to wait before a follower asks again, after `failures` failures in a row; undefined if the error is final. While a
 * service restarts, a proxy in front of it sends 502 or 504.
 */
export function reconnectDelay(error: unknown, failures: number): number | undefined {
  if (!(error instanceof YardgraphError)) return undefined;
  const fromProxy = error instanceof UnexpectedResponseError && (error.status === 502 || error.status === 504);
  return fromProxy || isTemporary(error) ? randomDelay(error, failures, maxReconnectDelay) : undefined;
}

/** Random, so that clients that failed together do not retry together. */
const randomDelay = (error: YardgraphError, failures: number, max: number): number =>
  retryAfterOf(error) * 1_000 + Math.min(firstDelay * 2 ** failures, max) * (0.5 + Math.random() / 2);

const retryAfterOf = (error: YardgraphError): number => (hasResponse(error) ? error.retryAfter : undefined) ?? 0;

const hasResponse = (error: YardgraphError): error is ServiceError | UnexpectedResponseError =>
  error instanceof ServiceError || error instanceof UnexpectedResponseError;

/**
 * True for errors after which a retry may succeed. A 502 or 504 is not temporary: it comes from a proxy, and does not say when a
 * retry would succeed.
 */
const isTemporary = (error: YardgraphError): boolean =>
  error instanceof ConnectionError ||
  error instanceof TimeoutError ||
  (hasResponse(error) && (error.status === 429 || error.status === 503));
