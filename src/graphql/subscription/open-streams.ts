/** Limits how many event streams are open at a time, and ends them when the service stops. */
import { tooManyRequests, unavailable } from '../../errors.ts';
import { count } from '../../model/issues.ts';

/** The most open streams in this process. Each may be executed for each change of its workspace. */
const maxStreams = 1_000;
const maxStreamsOfWorkspace = 100;

export interface OpenStreams {
  /**
   * Reserves a slot until `end` aborts, at the latest when the service stops. Throws a ServiceError: 429, or 503 if
   * other workspaces have taken all slots.
   */
  add(workspaceId: string, end: AbortController): void;
}

export function createOpenStreams(closing: AbortSignal): OpenStreams {
  /** Open streams by workspace. */
  const open = new Map<string, Set<AbortController>>();
  const all = () => [...open.values()].flatMap((streams) => [...streams]);

  closing.addEventListener('abort', () => {
    for (const end of all()) end.abort();
  });

  return {
    add(workspaceId, end) {
      if (closing.aborted) end.abort();
      const { signal } = end;
      if (signal.aborted) return;
      const streams = open.get(workspaceId) ?? new Set();
      if (streams.size >= maxStreamsOfWorkspace) {
        const most = `${count(maxStreamsOfWorkspace)} event streams at a time`;
        throw tooManyRequests(`a workspace may have ${most}: close others first`, 'too many event streams');
      }
      if (all().length >= maxStreams) {
        throw unavailable('too many event streams are open, try again', 'TOO_MANY_EVENT_STREAMS');
      }
      open.set(workspaceId, streams.add(end));
      signal.addEventListener('abort', () => {
        streams.delete(end);
        if (streams.size === 0) open.delete(workspaceId);
      });
    },
  };
}
