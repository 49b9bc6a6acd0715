/**
 * Waits for changes of workspaces. While anybody waits, the numbers of the last changes are read at intervals, by one statement for all
 * workspaces; and those of a workspace soon after a write of this process. If that fails, because a machine with some of the workspaces is
 * unavailable, each is read by itself until it can be read again: those on other machines go on.
 */
/** Milliseconds between two reads, within which changes of other processes are noticed. */
const interval = 500;

/** Milliseconds from a write of this process to the next read, so that many writes need few reads. */
const delayAfterWrite = 10;

/** Reads of single workspaces at the same time: few, because each may hold a connection until it times out. */
const concurrentReads = 2;

interface Waiting {
  readonly after: number;
  readonly resolve: () => void;
}

interface Watch {
  /** The number of the workspace's last change, when it was last read. */
  last: number;
  readonly waiting: Set<Waiting>;
}

interface ChangeWatch {
  /** To be called after this process has changed something in the workspace. */
  changed(workspaceId: number): void;
  /** Resolves when the workspace has a change with a greater number, or the signal is aborted. */
  wait(workspaceId: number, after: number, signal: AbortSignal): Promise<void>;
}

type ReadLastChanges = (workspaceIds: readonly number[]) => Promise<ReadonlyMap<number, number>>;

/** One read of all workspaces runs at a time. */
export function createChangeWatch(readLastChanges: ReadLastChanges): ChangeWatch {
  const watches = new Map<number, Watch>();
  const outdated = new Set<number>();
  const failing = new Set<number>();
  let isReadingFailing = false;
  let nextOfAll = 0;
  let isReading = false;
  let timer: NodeJS.Timeout | undefined;

  function readIn(milliseconds: number): void {
    clearTimeout(timer);
    // Those who wait keep a connection open; the timer need not keep the process running.
    timer = setTimeout(() => void read(), milliseconds).unref();
  }

  async function read(): Promise<void> {
    for (const [workspaceId, { waiting }] of watches) {
      if (waiting.size > 0) continue;
      watches.delete(workspaceId);
      failing.delete(workspaceId);
    }
    if (watches.size === 0) return outdated.clear();
    const isOfAll = Date.now() >= nextOfAll;
    if (isOfAll) nextOfAll = Date.now() + interval;
    const due = [...watches.keys()].filter(
      (workspaceId) => !failing.has(workspaceId) && (isOfAll || outdated.has(workspaceId)),
    );
    outdated.clear();
    isReading = true;
    if (due.length > 0 && !(await hasRead(due))) for (const workspaceId of due) failing.add(workspaceId);
    isReading = false;
    void readFailing();
    readIn(outdated.size > 0 ? delayAfterWrite : Math.max(0, nextOfAll - Date.now()));
  }

  async function hasRead(workspaceIds: readonly number[]): Promise<boolean> {
    const numbers = await readLastChanges(workspaceIds).catch(() => undefined);
    if (numbers) for (const workspaceId of workspaceIds) endWaits(workspaceId, numbers.get(workspaceId) ?? 0);
    return numbers !== undefined;
  }

  /** Retries each failing workspace on its own. The caller does not wait for it, because a read may take until it times out. */
  async function readFailing(): Promise<void> {
    if (isReadingFailing) return;
    isReadingFailing = true;
    const left = [...failing].values();
    const readEach = async () => {
      for (const workspaceId of left) if (await hasRead([workspaceId])) failing.delete(workspaceId);
    };
    await Promise.all(Array.from({ length: concurrentReads }, readEach));
    isReadingFailing = false;
  }

  function endWaits(workspaceId: number, last: number): void {
    const watch = watches.get(workspaceId);
    if (!watch) return;
    watch.last = last;
    for (const { after, resolve } of watch.waiting) if (last > after) resolve();
  }

  function readSoon(workspaceId: number, milliseconds: number): void {
    const isPlanned = outdated.size > 0;
    outdated.add(workspaceId);
    if (!isReading && !isPlanned) readIn(milliseconds);
  }

  function begin(workspaceId: number): Watch {
    const watch: Watch = { last: 0, waiting: new Set() };
    watches.set(workspaceId, watch);
    readSoon(workspaceId, 0);
    return watch;
  }

  return {
    changed(workspaceId) {
      // What was written can also be read.
      failing.delete(workspaceId);
      if (watches.has(workspaceId)) readSoon(workspaceId, delayAfterWrite);
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
