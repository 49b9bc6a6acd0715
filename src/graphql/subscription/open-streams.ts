/** Limits how many event streams are open at a time, and ends them when the service stops. */
import { tooManyRequests } from '../../errors.ts';
import { count } from '../../model/issues.ts';

/** The most open streams in this process. Each may be executed for each change of its workspace, and hold an event until it is read. */
const maxStreams = 500;

interface OpenStreams {
  /** Counts a stream until `end` aborts, at the latest when the service stops. Throws a ServiceError 429 beyond the limit. */
  add(end: AbortController): void;
}

export function createOpenStreams(closing: AbortSignal): OpenStreams {
  const open = new Set<AbortController>();

  closing.addEventListener('abort', () => {
    for (const end of open) end.abort();
  });

  return {
    add(end) {
      if (closing.aborted) end.abort();
      if (end.signal.aborted) return;
      if (open.size >= maxStreams) {
        const most = `${count(maxStreams)} event streams at a time`;
        throw tooManyRequests(`the service may have ${most}: close others first`, 'too many event streams');
      }
      open.add(end);
      end.signal.addEventListener('abort', () => open.delete(end));
    },
  };
}
