/**
 * Shares the connections of a pool fairly between workspaces. A free one goes to the waiting workspace that has held connections for
 * the least time recently. If none becomes free, the one that has held them for the most time gives one back, and repeats that work
 * later: so none waits for slow statements of others, however many workspaces send them. Knows no connections.
 */
import { LRUCache } from 'lru-cache';
import { Preempted } from './database-error.ts';

/** Work that holds a connection. */
export interface Lease {
  readonly workspaceId: string;
  readonly since: number;
  /** Whether the connection is to be given back. */
  isPreempted: boolean;
  /** Ends what is running on the connection, as soon as there is one. */
  preempt?: () => void;
}

/** Runs a workspace's work on one connection, and again if it has failed with Preempted. */
export type Scheduler = <T>(workspaceId: string, work: (lease: Lease) => Promise<T>) => Promise<T>;

interface Options {
  /** How many connections all workspaces together may hold. A single one is never taken back: long work would never end. */
  readonly size: number;
  /** Milliseconds after which waiting work fails with `timeoutError`. */
  readonly timeout: number;
  readonly timeoutError: () => Error;
  /** Milliseconds after which work whose connection was taken back is not repeated any more. */
  readonly repeatedFor: number;
}

/** Milliseconds that work may hold its connection while another workspace waits and holds none. */
const minHeld = 100;

/** The same for the work that has held its connection longest: long work ends, even if many workspaces have some. */
const minHeldByOldest = 5_000;

/** Milliseconds. */
const checkInterval = 25;

/** Milliseconds after which half of the time that a workspace has held connections no longer counts. */
const halfLife = 10_000;

/** The most workspaces whose time is counted. Beyond that, the least recently used are dropped. */
const maxWorkspaces = 10_000;

export function createScheduler({ size, timeout, timeoutError, repeatedFor }: Options): Scheduler {
  /** In the order in which they began. */
  const leases = new Set<Lease>();
  /** What begins waiting work, by workspace, in the order of the requests. */
  const waiting = new Map<string, (() => void)[]>();
  /** The time of leases that have ended. */
  const ended = new LRUCache<string, { readonly time: number; readonly at: number }>({ max: maxWorkspaces });
  let willCheck = false;

  const endedTime = (workspaceId: string, now: number): number => {
    const { time, at } = ended.get(workspaceId) ?? { time: 0, at: now };
    return time * 2 ** ((at - now) / halfLife);
  };

  const heldTime = (workspaceId: string, now: number): number =>
    [...leases].reduce(
      (sum, lease) => (lease.workspaceId === workspaceId ? sum + now - lease.since : sum),
      endedTime(workspaceId, now),
    );

  /** Of several, the one that has waited longest. */
  function leastServed(workspaceIds: Iterable<string>, now: number): string | undefined {
    let least: string | undefined;
    let leastTime = Number.POSITIVE_INFINITY;
    for (const workspaceId of workspaceIds) {
      const time = heldTime(workspaceId, now);
      if (time < leastTime) [least, leastTime] = [workspaceId, time];
    }
    return least;
  }

  /** Begins waiting work on free connections, and looks again soon if some is left. */
  function beginWaiting(): void {
    while (leases.size < size && waiting.size > 0) {
      const [begin] = waiting.get(leastServed(waiting.keys(), performance.now()) ?? '') ?? [];
      begin?.();
    }
    if (waiting.size === 0 || size === 1) return;
    takeBack();
    if (willCheck) return;
    willCheck = true;
    setTimeout(() => {
      willCheck = false;
      beginWaiting();
    }, checkInterval);
  }

  /** Takes a connection back if a workspace waits and holds none. The next one is taken when this one has become free. */
  function takeBack(): void {
    const now = performance.now();
    const [oldest] = leases;
    const holders = new Set([...leases].map(({ workspaceId }) => workspaceId));
    const waiter = leastServed(
      [...waiting.keys()].filter((id) => !holders.has(id)),
      now,
    );
    if (waiter === undefined || [...leases].some(({ isPreempted }) => isPreempted)) return;
    let victim: Lease | undefined;
    let most = heldTime(waiter, now);
    for (const lease of leases) {
      if (now - lease.since < (lease === oldest ? minHeldByOldest : minHeld)) continue;
      const time = heldTime(lease.workspaceId, now);
      if (time >= most) [victim, most] = [lease, time];
    }
    if (!victim) return;
    victim.isPreempted = true;
    victim.preempt?.();
  }

  function begin(workspaceId: string): Lease {
    const lease: Lease = { workspaceId, since: performance.now(), isPreempted: false };
    leases.add(lease);
    return lease;
  }

  function end(lease: Lease): void {
    const { workspaceId, since } = lease;
    const at = performance.now();
    ended.set(workspaceId, { time: endedTime(workspaceId, at) + at - since, at });
    leases.delete(lease);
    beginWaiting();
  }

  const beginInTurn = (workspaceId: string, place: 'first' | 'last'): Promise<Lease> =>
    new Promise((resolve, reject) => {
      const ofWorkspace = waiting.get(workspaceId) ?? [];
      const leave = () => {
        clearTimeout(deadline);
        ofWorkspace.splice(ofWorkspace.indexOf(start), 1);
        if (ofWorkspace.length === 0) waiting.delete(workspaceId);
      };
      const start = () => {
        leave();
        resolve(begin(workspaceId));
      };
      const deadline = setTimeout(() => {
        leave();
        reject(timeoutError());
      }, timeout);
      if (place === 'first') ofWorkspace.unshift(start);
      else ofWorkspace.push(start);
      waiting.set(workspaceId, ofWorkspace);
      beginWaiting();
    });

  return async (workspaceId, work) => {
    const deadline = performance.now() + repeatedFor;
    const isFree = leases.size < size && waiting.size === 0;
    for (let lease = isFree ? begin(workspaceId) : await beginInTurn(workspaceId, 'last'); ; ) {
      try {
        return await work(lease);
      } catch (error) {
        if (!(error instanceof Preempted) || performance.now() > deadline) throw error;
      } finally {
        end(lease);
      }
      lease = await beginInTurn(workspaceId, 'first');
    }
  };
}
