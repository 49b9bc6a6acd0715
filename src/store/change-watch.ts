/** Waits for changes of workspaces, by whatever process: for streams of the feed. */
import DataLoader from 'dataloader';
import pLimit from 'p-limit';

/** Milliseconds between two reads, within which changes of other processes are noticed. */
const interval = 500;

/** Milliseconds in which reads are collected for one statement, so that many writes need few. */
const collected = 10;

/** Reads of single workspaces at the same time: few, because each may hold a connection until it times out. */
const concurrentReads = 2;

interface Watch {
  /** The number of the workspace's last change, when it was last read. */
  last: number;
  /** Each ends if the workspace has a change with a greater number than it knows. */
  readonly waiting: Set<{ readonly after: number; end(): void }>;
  /** Set by a write. A read that runs already may miss it. */
  isOutdated: boolean;
  /** Ends the pause between two reads. */
  wake(): void;
}

interface ChangeWatch {
  /** To be called after this process has changed something in the workspace. */
  changed(workspaceId: number): void;
  /** Resolves when the workspace has a change with a greater number, or the signal is aborted. */
  wait(workspaceId: number, after: number, signal: AbortSignal): Promise<void>;
}

type ReadLastChanges = (workspaceIds: readonly number[]) => Promise<ReadonlyMap<number, number>>;

/**
 * Waits for changes of workspaces. While anybody waits, the numbers of the last changes are read at intervals, by one statement for all
 * workspaces; and those of a workspace soon after a write of this process. If that fails, because a machine with some of the workspaces is
 * unavailable, each is read by itself until it can be read again: those on other machines go on.
 */
export function createChangeWatch(readLastChanges: ReadLastChanges): ChangeWatch {
  const watches = new Map<number, Watch>();
  const inTurn = pLimit(concurrentReads);
  const read = async (workspaceIds: readonly number[]) => {
    const numbers = await readLastChanges(workspaceIds);
    return workspaceIds.map((workspaceId) => numbers.get(workspaceId) ?? 0);
  };
  // Those who wait keep a connection open; the timers need not keep the process running.
  const together = new DataLoader(read, {
    cache: false,
    batchScheduleFn: (run) => void setTimeout(run, collected).unref(),
  });

  /** Reads the number until nobody waits. */
  async function follow(workspaceId: number, watch: Watch): Promise<void> {
    let hasFailed = false;
    while (watch.waiting.size > 0) {
      watch.isOutdated = false;
      const alone = async () => (await read([workspaceId]))[0];
      const reading: Promise<number | undefined> = hasFailed ? inTurn(alone) : together.load(workspaceId);
      const number = await reading.catch(() => undefined);
      hasFailed = number === undefined;
      watch.last = number ?? watch.last;
      for (const { after, end } of watch.waiting) if (watch.last > after) end();
      if (!watch.isOutdated) await pause(watch);
    }
    watches.delete(workspaceId);
  }

  /** All pauses end at the same times, so that all workspaces are read together. */
  const pause = (watch: Watch) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, interval - (Date.now() % interval)).unref();
      watch.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  function begin(workspaceId: number): Watch {
    const watch: Watch = { last: 0, waiting: new Set(), isOutdated: false, wake() {} };
    watches.set(workspaceId, watch);
    return watch;
  }

  return {
    changed(workspaceId) {
      const watch = watches.get(workspaceId);
      if (!watch) return;
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
