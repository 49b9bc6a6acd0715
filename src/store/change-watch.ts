/**
 * Waits for changes of workspaces. While anybody waits for those of a workspace, the number of its last change is read at intervals,
 * by one statement for all who wait; and soon after a write of this process.
 */

/** Milliseconds between two reads, within which changes of other processes are noticed. */
const interval = 500;

/** Milliseconds from a write of this process to the next read, so that many writes need few reads. */
const delayAfterWrite = 10;

interface Waiting {
  readonly after: number;
  readonly resolve: () => void;
}

interface Watch {
  /** As last read. */
  last: number;
  readonly waiting: Set<Waiting>;
  /** Undefined while the number is being read. */
  timer: NodeJS.Timeout | undefined;
  /** Whether something was written since the read began. */
  isOutdated: boolean;
}

export interface ChangeWatch {
  /** To be called after this process has changed something in the workspace. */
  changed(workspaceId: string): void;
  /** Resolves when the workspace has a change with a greater number, or the signal is aborted. */
  wait(workspaceId: string, after: number, signal: AbortSignal): Promise<void>;
}

export function createChangeWatch(readLastChange: (workspaceId: string) => Promise<number>): ChangeWatch {
  const watches = new Map<string, Watch>();

  function readIn(milliseconds: number, workspaceId: string, watch: Watch): void {
    clearTimeout(watch.timer);
    // Whoever waits keeps a connection open; the timer need not keep the process running.
    watch.timer = setTimeout(() => void read(workspaceId, watch), milliseconds).unref();
  }

  async function read(workspaceId: string, watch: Watch): Promise<void> {
    if (watch.waiting.size === 0) return void watches.delete(workspaceId);
    watch.timer = undefined;
    watch.isOutdated = false;
    // While the database is unavailable, it is asked again and again.
    watch.last = await readLastChange(workspaceId).catch(() => watch.last);
    for (const { after, resolve } of watch.waiting) if (watch.last > after) resolve();
    readIn(watch.isOutdated ? delayAfterWrite : interval, workspaceId, watch);
  }

  function begin(workspaceId: string): Watch {
    const watch: Watch = { last: 0, waiting: new Set(), timer: undefined, isOutdated: false };
    watches.set(workspaceId, watch);
    readIn(0, workspaceId, watch);
    return watch;
  }

  return {
    changed(workspaceId) {
      const watch = watches.get(workspaceId);
      if (!watch || watch.isOutdated) return;
      watch.isOutdated = true;
      if (watch.timer) readIn(delayAfterWrite, workspaceId, watch);
    },

    wait(workspaceId, after, signal) {
      const watch = watches.get(workspaceId) ?? begin(workspaceId);
      return new Promise((resolve) => {
        if (signal.aborted || watch.last > after) return resolve();
        const end = () => {
          watch.waiting.delete(waiting);
          signal.removeEventListener('abort', end);
          resolve();
        };
        const waiting: Waiting = { after, resolve: end };
        watch.waiting.add(waiting);
        signal.addEventListener('abort', end);
      });
    },
  };
}
