/** When a request that failed is sent again, and how long to wait before. Never when the service may have stored it. */
import { ConnectionError, ServiceError, TimeoutError, UnexpectedAnswerError, YardgraphError } from './errors.ts';

/** Milliseconds before the first repetition; twice as long before each further one. */
const firstDelay = 500;
const maxDelay = 8_000;

/** Who is told to come back later than this, in seconds, is better told than kept waiting. */
const maxRetryAfter = 60;

export async function repeat<T>(retries: number, attempt: () => Promise<T>): Promise<T> {
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

/** Milliseconds to wait after the error, with so many failures before it; undefined when it is final. */
export function delayAfter(error: unknown, failures: number): number | undefined {
  if (!(error instanceof YardgraphError) || error.mayBeStored || !isPassing(error)) return undefined;
  const retryAfter = (isAnswer(error) ? error.retryAfter : undefined) ?? 0;
  if (retryAfter > maxRetryAfter) return undefined;
  const backoff = Math.min(firstDelay * 2 ** failures, maxDelay);
  // Clients that failed together must not come back together.
  return retryAfter * 1_000 + backoff * (0.5 + Math.random() / 2);
}

const isAnswer = (error: YardgraphError) => error instanceof ServiceError || error instanceof UnexpectedAnswerError;

const isPassing = (error: YardgraphError): boolean =>
  error instanceof ConnectionError ||
  error instanceof TimeoutError ||
  (isAnswer(error) && (error.status === 429 || error.status === 503));
