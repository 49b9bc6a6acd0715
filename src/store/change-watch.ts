/**
 * Waits for changes by any process: reads the last change number at intervals, and soon after a write of this process.
 * Workspaces whose last read failed are read one at a time: if their machine is unavailable, a read may hold a
 * connection until it times out.
 */
import pLimit from 'p-limit';

const pollIntervalMs = 500;

/** Writes meanwhile share a read. */
const pauseAfterWriteMs = 10;

interface Watch {
  last: number;
  readonly waiting: Set<{ readonly after: number; end(): void }>;
  /** Set by a write, which a running read may miss. */
  isOutdated: boolean;
  wake(): void;
}

interface ChangeWatch {
  changed(workspaceId: number): void;
  wait(workspaceId: number, after: number, signal: AbortSignal): Promise<void>;
}

export function createChangeWatch(readLastChange: (workspaceId: number) => Promise<number>): ChangeWatch {
  const watches = new Map<number, Watch>();
  const oneAtATime = pLimit(1);

  async function follow(workspaceId: number, watch: Watch): Promise<void> {
    const read = () => readLastChange(workspaceId);
    let hasFailed = false;
    while (watch.waiting.size > 0) {
      watch.isOutdated = false;
      const number: number | undefined = await (hasFailed ? oneAtATime(read) : read()).catch(() => undefined);
      hasFailed = number === undefined;
      watch.last = number ?? watch.last;
      for (const { after, end } of watch.waiting) if (watch.last > after) end();
      await pause(watch);
    }
    watches.delete(workspaceId);
  }

  /** Unref'd: the connections of the streams keep the process running. */
  const pause = (watch: Watch) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pollIntervalMs).unref();
      watch.wake = () => {
        clearTimeout(timer);
        setTimeout(resolve, pauseAfterWriteMs).unref();
      };
      if (watch.isOutdated) watch.wake();
    });

  function begin(workspaceId: number): Watch {
    const watch: Watch = { last: 0, waiting: new Set(), isOutdated: false, wake() {} };
    watches.set(workspaceId, watch);
    return watch;
  }

  return {
    changed(workspaceId) {
      const watch = watches.get(workspaceId);
      if (!watch || watch.isOutdated) return;
      watch.isOutdated = true;
      watch.wake();
    },

    wait(workspaceId, after, signal) {
      return new Promise((resolve) => {
        const known = watches.get(workspaceId);
        if (signal.aborted || (known && known.last > after)) return resolve();
        const watch = known ?? begin(workspaceId);
        const end = () => {
          watch.waiting.delete(waiting);
          signal.removeEventListener('abort', end);
          resolve();
        };
        const waiting = { after, end };
        watch.waiting.add(waiting);
        signal.addEventListener('abort', end);
        if (!known) void follow(workspaceId, watch);
      });
    },
  };
}
