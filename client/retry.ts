import { ConnectionError, ServiceError, TimeoutError, UnexpectedResponseError, YardgraphError } from './errors.ts';

/** A delay is random, from half of a bound to the bound, which doubles with each retry. */
const firstDelayMs = 500;
const maxDelayMs = 8_000;
const maxReconnectDelayMs = 30_000;

/** If the service asks for a longer wait, the error is thrown at once: the caller decides. */
const maxRetryAfterSeconds = 60;

/** Repeats a request that may have been stored only if it has an idempotency key. */
export async function retry<T>(retries: number, hasKey: boolean, attempt: () => Promise<T>): Promise<T> {
  let mayBeStored = false;
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof YardgraphError)) throw error;
      // An earlier attempt may have been stored, unless this response rules it out.
      if (mayBeStored && !isRejection(error)) Object.assign(error, { mayBeStored });
      mayBeStored = error.mayBeStored;
      const delay = delayAfter(error, failures);
      if (failures >= retries || delay === undefined || (mayBeStored && !hasKey)) throw error;
      await pause(delay);
    }
  }
}

/** Statuses sent before the service looks for the idempotency key. */
const unspecific: readonly number[] = [401, 403, 404, 429];

/** True if the service has looked for the idempotency key and then rejected the request. */
const isRejection = (error: YardgraphError): boolean =>
  error instanceof ServiceError && error.status < 500 && !unspecific.includes(error.status);

/** In milliseconds, after `failures` failures; undefined if the error is final. */
function delayAfter(error: YardgraphError, failures: number): number | undefined {
  return !isTemporary(error) || retryAfterOf(error) > maxRetryAfterSeconds
    ? undefined
    : randomDelay(error, failures, maxDelayMs);
}

/** Like `delayAfter`, for a follower. A proxy sends 502 or 504 while the service restarts. */
export function reconnectDelay(error: YardgraphError, failures: number): number | undefined {
  const fromProxy = error instanceof UnexpectedResponseError && (error.status === 502 || error.status === 504);
  return fromProxy || isTemporary(error) ? randomDelay(error, failures, maxReconnectDelayMs) : undefined;
}

/** Clients that failed together must not retry together. */
const randomDelay = (error: YardgraphError, failures: number, max: number): number =>
  retryAfterOf(error) * 1_000 + Math.min(firstDelayMs * 2 ** failures, max) * (0.5 + Math.random() / 2);

const retryAfterOf = (error: YardgraphError): number => (hasResponse(error) && error.retryAfter) || 0;

const hasResponse = (error: YardgraphError): error is ServiceError | UnexpectedResponseError =>
  error instanceof ServiceError || error instanceof UnexpectedResponseError;

/** A 502 or 504 of a proxy does not tell when a retry may succeed. */
const isTemporary = (error: YardgraphError): boolean =>
  error instanceof ConnectionError ||
  error instanceof TimeoutError ||
  (hasResponse(error) && (error.status === 429 || error.status === 503));

/** Not AbortSignal.timeout, which does not keep a Node program alive. */
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
