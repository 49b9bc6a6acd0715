/**
 * Waits for changes of workspaces. While anybody waits, the numbers of the last changes are read at intervals, by one statement for all
 * workspaces; and those of a workspace soon after a write of this process. If that fails, because a machine with some of the workspaces is
 * unavailable, each is read by itself until it can be read again: those on other machines go on.
 */
import pLimit from 'p-limit';

/** Milliseconds between two reads, within which changes of other processes are noticed. */
const interval = 500;

/** Milliseconds from a write of this process to the next read, so that many writes need few reads. */
const delayAfterWrite = 10;

/** Reads of single workspaces at the same time: few, because each may hold a connection until it times out. */
const concurrentReads = 2;

interface Watch {
  readonly workspaceId: number;
  /** The number of the workspace's last change, when it was last read. */
  last: number;
  /** Each ends if the workspace has a change with a greater number than it knows. */
  readonly waiting: Set<{ readonly after: number; end(): void }>;
  isReading: boolean;
  hasFailed: boolean;
}

interface ChangeWatch {
  /** To be called after this process has changed something in the workspace. */
  changed(workspaceId: number): void;
  /** Resolves when the workspace has a change with a greater number, or the signal is aborted. */
  wait(workspaceId: number, after: number, signal: AbortSignal): Promise<void>;
}

type ReadLastChanges = (workspaceIds: readonly number[]) => Promise<ReadonlyMap<number, number>>;

export function createChangeWatch(readLastChanges: ReadLastChanges): ChangeWatch {
  const watches = new Map<number, Watch>();
  const inTurn = pLimit(concurrentReads);
  const outdated = new Set<Watch>();
  // Those who wait keep a connection open; the timers need not keep the process running.
  let ofAll: NodeJS.Timeout | undefined;
  let isPlanned = false;

  function readAll(): void {
    for (const { workspaceId, waiting } of watches.values()) if (waiting.size === 0) watches.delete(workspaceId);
    read(watches.values());
    if (watches.size > 0) return;
    clearInterval(ofAll);
    ofAll = undefined;
  }

  function readSoon(watch: Watch, milliseconds: number): void {
    outdated.add(watch);
    if (isPlanned) return;
    isPlanned = true;
    setTimeout(readOutdated, milliseconds).unref();
  }

  function readOutdated(): void {
    const wanted = [...outdated];
    outdated.clear();
    isPlanned = false;
    // A read that runs already may miss the write.
    for (const watch of wanted) if (watch.isReading) readSoon(watch, delayAfterWrite);
    read(wanted);
  }

  /** Leaves out what is still being read, perhaps until it times out. */
  function read(wanted: Iterable<Watch>): void {
    const due = [...wanted].filter(({ isReading }) => !isReading);
    for (const watch of due) watch.isReading = true;
    void readTogether(due.filter(({ hasFailed }) => !hasFailed));
    for (const watch of due) if (watch.hasFailed) void inTurn(() => readTogether([watch]));
  }

  async function readTogether(due: readonly Watch[]): Promise<void> {
    if (due.length === 0) return;
    const numbers = await readLastChanges(due.map(({ workspaceId }) => workspaceId)).catch(() => undefined);
    for (const watch of due) {
      watch.isReading = false;
      watch.hasFailed = numbers === undefined;
      watch.last = numbers?.get(watch.workspaceId) ?? watch.last;
      for (const { after, end } of watch.waiting) if (watch.last > after) end();
    }
  }

  function begin(workspaceId: number): Watch {
    const watch: Watch = { workspaceId, last: 0, waiting: new Set(), isReading: false, hasFailed: false };
    watches.set(workspaceId, watch);
    readSoon(watch, 0);
    ofAll ??= setInterval(readAll, interval).unref();
    return watch;
  }

  return {
    changed(workspaceId) {
      const watch = watches.get(workspaceId);
      if (watch) readSoon(watch, delayAfterWrite);
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
        const waiting = { after, end };
        watch.waiting.add(waiting);
        signal.addEventListener('abort', end);
      });
    },
  };
}
