/**
 * Bounds the texts that were read for responses and are not sent yet, whatever clients request, and however slowly they read. A workspace
 * whose responses hold much waits for them to be sent before it reads more; one whose responses hold little never waits for others.
 */
import { databaseUnavailable } from '../connections/database-error.ts';

/** Characters that a workspace may hold without waiting for itself or for others. */
const little = 1_000_000;

/**
 * Characters that a workspace may hold before it waits, and that all those that hold more than a little may hold together. The next read of
 * each is already allowed then, and may be as long as a response.
 */
const maxPerWorkspace = 50_000_000;
const maxOfAll = 2 * maxPerWorkspace;

interface Options {
  /** Reads of a workspace that may run at the same time: at least as many as it has connections. */
  readonly maxReads: number;
  /** Milliseconds after which a read that waits fails. */
  readonly timeout: number;
}

interface Workspace {
  held: number;
  /** Running reads, whose length is not known yet. */
  reading: number;
  readonly waiting: (() => void)[];
}

/** The texts that one response holds. */
export interface ResponseTexts {
  /** Runs a read when it may begin, and holds the texts that it has read. */
  read<T>(read: () => Promise<T>, lengthOf: (result: T) => number): Promise<T>;
  /** Waits, if it must, until the response may hold a text that another one has read for it. */
  hold(length: number): Promise<void> | undefined;
  /** To be called when the response is sent, or its client has left. */
  release(): void;
}

/** For what is not held until it is sent, but limited in another way. */
export const notHeld: ResponseTexts = {
  async read(read, lengthOf) {
    const result = await read();
    lengthOf(result);
    return result;
  },
  hold: () => undefined,
  release() {},
};

/** Returns a function to be called for each response of a workspace. */
export function createHeldTexts({ maxReads, timeout }: Options): (workspaceId: number) => ResponseTexts {
  const workspaces = new Map<number, Workspace>();
  let total = 0;

  function workspaceOf(workspaceId: number): Workspace {
    const workspace = workspaces.get(workspaceId) ?? { held: 0, reading: 0, waiting: [] };
    workspaces.set(workspaceId, workspace);
    return workspace;
  }

  const mayRead = ({ held, reading }: Workspace): boolean =>
    held < little ? reading < maxReads : reading < 1 && held < maxPerWorkspace && total < maxOfAll;

  /** Lets waiting reads begin, after something has been released or read by whichever workspace. */
  function admitWaiting(): void {
    for (const [workspaceId, workspace] of workspaces) {
      while (workspace.waiting.length > 0 && mayRead(workspace)) workspace.waiting.shift()?.();
      if (workspace.held + workspace.reading + workspace.waiting.length === 0) workspaces.delete(workspaceId);
    }
  }

  const turnIn = (workspace: Workspace): Promise<void> =>
    new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        workspace.reading += 1;
        resolve();
      };
      const timer = setTimeout(() => {
        workspace.waiting.splice(workspace.waiting.indexOf(begin), 1);
        reject(databaseUnavailable('RESPONSES_UNSENT'));
      }, timeout);
      workspace.waiting.push(begin);
    });

  return (workspaceId) => {
    let held = 0;
    let isReleased = false;

    function add(length: number): void {
      if (isReleased) return;
      held += length;
      workspaceOf(workspaceId).held += length;
      total += length;
    }

    /** Waits for the workspace's turn to hold texts of a length that is not known yet; undefined if it need not wait. */
    function begin(): Promise<void> | undefined {
      const workspace = workspaceOf(workspaceId);
      if (workspace.waiting.length > 0 || !mayRead(workspace)) return turnIn(workspace);
      workspace.reading += 1;
      return undefined;
    }

    function end(): void {
      workspaceOf(workspaceId).reading -= 1;
      admitWaiting();
    }

    return {
      async read(read, lengthOf) {
        // Otherwise responses that have read something could wait for each other.
        const isFirst = held === 0;
        if (isFirst) await begin();
        try {
          const result = await read();
          add(lengthOf(result));
          return result;
        } finally {
          if (isFirst) end();
        }
      },

      hold(length) {
        if (held > 0) return undefined;
        const turn = begin();
        const holdNow = () => {
          add(length);
          end();
        };
        if (turn) return turn.then(holdNow);
        return void holdNow();
      },

      release() {
        add(-held);
        isReleased = true;
        admitWaiting();
      },
    };
  };
}
