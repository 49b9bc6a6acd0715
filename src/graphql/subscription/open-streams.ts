/** Limits how many event streams are open at a time, and ends them when the service stops. */
import { tooManyRequests, unavailable } from '../../errors.ts';
import { count } from '../../model/issues.ts';
import { createQuota } from '../../sharing/quota.ts';

/** The most open streams in this process. Each may be executed for each change of its workspace. */
const maxStreams = 1_000;
const maxStreamsOfWorkspace = 100;

interface OpenStreams {
  /**
   * Reserves a slot until `end` aborts, at the latest when the service stops. Throws a ServiceError: 429, or 503 if
   * other workspaces have taken all slots.
   */
  add(workspaceId: string, end: AbortController): void;
}

export function createOpenStreams(closing: AbortSignal): OpenStreams {
  const quota = createQuota({ total: maxStreams, share: maxStreamsOfWorkspace });
  const open = new Set<AbortController>();

  closing.addEventListener('abort', () => {
    for (const end of open) end.abort();
  });

  return {
    add(workspaceId, end) {
      if (closing.aborted) end.abort();
      const { signal } = end;
      if (signal.aborted) return;
      const exceeded = quota.take(workspaceId, 1);
      if (exceeded === 'share') {
        const most = `${count(maxStreamsOfWorkspace)} event streams at a time`;
        throw tooManyRequests(`a workspace may have ${most}: close others first`, 'too many event streams');
      }
      if (exceeded) throw unavailable('too many event streams are open, try again', 'TOO_MANY_EVENT_STREAMS');
      open.add(end);
      signal.addEventListener('abort', () => {
        open.delete(end);
        quota.free(workspaceId, 1);
      });
    },
  };
}
