/** Commands that can be interrupted, and run again to go on. */
import { ConnectionError, TimeoutError, YardgraphError } from '../../../client/index.ts';
import { errorCode, Interrupted } from '../../errors.ts';

/** Exit codes of commands that carry out much, one part after the other. */
export const exitCodes = { all: 0, nothing: 1, some: 2, interrupted: 3 } as const;

/** Runs the work with a signal that the first Ctrl-C aborts, and the first SIGTERM; the second one ends the process at once. */
export async function withInterrupts<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const onSignal = () => stop.abort(new Interrupted('Interrupted'));
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    return await work(stop.signal);
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

/** Returns the message of an error, with the address of the service if that could not be reached. */
export function messageOf(error: Error, url: string): string {
  const isUnreachable = error instanceof ConnectionError || error instanceof TimeoutError;
  // Nothing else of the URL: it may contain a password.
  return isUnreachable ? `${error.message} (${new URL(url).origin})` : error.message;
}

/** True for errors of the service, of the connection to it, and of the file system, such as a full disk. */
export const isExpected = (error: unknown): error is Error =>
  error instanceof Interrupted || error instanceof YardgraphError || /^(?:E[A-Z]+|SQLITE_\w+)$/.test(errorCode(error));
