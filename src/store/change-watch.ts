/** Waits for changes of workspaces by any process, for streams of the feed. */
import pLimit from 'p-limit';

/** Changes of other processes are noticed after at most this time. */
const pollIntervalMs = 500;

/** The pause after a write of this process: many writes need few reads. */
const pauseAfterWriteMs = 10;

interface Watch {
  /** The number of the workspace's last change, as last read. */
  last: number;
  /** Each ends once the workspace has a change with a greater number than `after`. */
  readonly waiting: Set<{ readonly after: number; end(): void }>;
  /** Set by a write, which a running read may miss. */
  isOutdated: boolean;
  /** Shortens the pause between two reads. */
  wake(): void;
}

interface ChangeWatch {
  /** Called after a write of this process to the workspace. */
  changed(workspaceId: number): void;
  /** Resolves when the workspace has a change with a greater number, or the signal is aborted. */
  wait(workspaceId: number, after: number, signal: AbortSignal): Promise<void>;
}

/**
 * While a stream waits for a workspace, the number of its last change is read at intervals, and soon after a write of
 * this process. Workspaces whose last read failed are read one at a time: if their machine is unavailable, a read may
 * hold a connection until it times out.
 */
export function createChangeWatch(readLastChange: (workspaceId: number) => Promise<number>): ChangeWatch {
  const watches = new Map<number, Watch>();
  const oneAtATime = pLimit(1);

  /** Polls until no stream waits. */
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

  /** The timers are unref'd: the client connections of the streams keep the process running. */
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
