/** Commands that can be interrupted, and run again to go on. */
import { Interrupted } from '../../errors.ts';

/** Exit codes of commands that carry out much, one part after the other. */
export const exitCodes = { all: 0, nothing: 1, some: 2, interrupted: 3 } as const;

/** Runs the work with a signal that Ctrl-C aborts, or SIGTERM; the next one of either ends the process at once. */
export async function withInterrupts<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const stopListening = () => process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  const onSignal = () => {
    stopListening();
    stop.abort(new Interrupted('Interrupted'));
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    return await work(stop.signal);
  } finally {
    stopListening();
  }
}
