/** Decides when to send a failed request again, and after which delay. */
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

/** A request that may have been stored is repeated only if it has a key, with which the service stores it once. */
export async function retry<T>(retries: number, hasKey: boolean, attempt: () => Promise<T>): Promise<T> {
  let mayBeStored = false;
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof YardgraphError)) throw error;
      // An earlier attempt may have been stored, unless this one shows that it was not.
      if (mayBeStored && !isRejection(error)) Object.assign(error, { mayBeStored });
      mayBeStored = error.mayBeStored;
      const delay = delayAfter(error, failures);
      if (failures >= retries || delay === undefined || (mayBeStored && !hasKey)) throw error;
      await pause(delay);
    }
  }
}

/** Statuses with which the service does not say whether an earlier attempt was stored. */
const unspecific: readonly number[] = [401, 403, 404, 429];

/** True if the service has looked for the key of the request, and then rejected it. */
const isRejection = (error: YardgraphError): boolean =>
  error instanceof ServiceError && error.status < 500 && !unspecific.includes(error.status);

/** Returns the milliseconds to wait before a retry, after `failures` failures; undefined if the error is final. */
export function delayAfter(error: YardgraphError, failures: number): number | undefined {
  return !isTemporary(error) || retryAfterOf(error) > maxRetryAfter
    ? undefined
    : randomDelay(error, failures, maxDelay);
}

/**
 * Returns the milliseconds to wait before a follower asks again, after `failures` failures in a row; undefined if the error is final. While a
 * service restarts, a proxy in front of it sends 502 or 504.
 */
export function reconnectDelay(error: YardgraphError, failures: number): number | undefined {
  const fromProxy = error instanceof UnexpectedResponseError && (error.status === 502 || error.status === 504);
  return fromProxy || isTemporary(error) ? randomDelay(error, failures, maxReconnectDelay) : undefined;
}

/** Random, so that clients that failed together do not retry together. */
const randomDelay = (error: YardgraphError, failures: number, max: number): number =>
  retryAfterOf(error) * 1_000 + Math.min(firstDelay * 2 ** failures, max) * (0.5 + Math.random() / 2);

const retryAfterOf = (error: YardgraphError): number => (hasResponse(error) && error.retryAfter) || 0;

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

/** Not by AbortSignal.timeout, which does not keep a program of Node alive. */
export const pause = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
  });
