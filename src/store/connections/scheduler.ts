/**
 * Shares the connections of a pool fairly between workspaces, by start-time fair queueing. A free one goes to the waiting workspace that has
 * held connections for the least time recently; one that was idle is hardly ahead of the others. If none becomes free, the one that has
 * held them for the most time gives one back, and repeats that work later: so none waits for slow statements of others, however many
 * workspaces send them. Knows no connections.
 */
import { LRUCache } from 'lru-cache';
import { Preempted } from './database-error.ts';

/** Work that holds a connection. */
export interface Lease {
  readonly workspaceId: number;
  readonly since: number;
  /** Milliseconds that it may go on while a workspace like its own waits and holds none. */
  readonly minHeld: number;
  /** When the connection was taken back; it is free once the work has noticed. */
  preemptedAt?: number;
  /** Cancels the statement that runs; absent between statements, and while one commits. */
  cancel?: () => void;
}

/** Milliseconds for which connections were held, as they counted at some time. */
interface Counted {
  readonly time: number;
  readonly at: number;
}

/** Runs a workspace's work on one connection, and again if it has failed with Preempted. */
export type Scheduler = <T>(workspaceId: number, work: (lease: Lease) => Promise<T>) => Promise<T>;

interface Options {
  /** The number of connections that all workspaces together may hold. A single one is never taken back: long work would never end. */
  readonly size: number;
  /** Milliseconds after which waiting work fails with `timeoutError`. */
  readonly timeout: number;
  readonly timeoutError: () => Error;
  /** Milliseconds after which work whose connection was taken back is not repeated any more. */
  readonly repeatedFor: number;
}

/** Milliseconds that work may hold its connection while another workspace waits and holds none. */
const minHeld = 100;

/**
 * The longest that work may go on, in milliseconds. The time doubles with each repetition, up to this; to less if the waiting workspace is
 * light, or has held connections for much less time. The oldest work always has the longest time, so that long work ends, even if many
 * workspaces have some.
 */
const maxMinHeld = 5_000;
const maxMinHeldForLight = 400;
const muchLess = 1_000;

/**
 * Milliseconds that a workspace is ahead of all others when it begins to need connections. With more, many new ones would keep the others
 * waiting for long. One that has used less than half of it is light.
 */
const credit = 100;

/** Milliseconds after which another connection is taken back, if one that was taken back has not become free. */
const maxPreemption = 250;

/** Milliseconds. */
const checkInterval = 25;

/** Milliseconds after which half of the time that a workspace has held connections no longer counts. */
const halfLife = 10_000;

/** The most workspaces whose time is counted. Beyond that, the least recently used are dropped. */
const maxWorkspaces = 10_000;

const timeAt = (now: number, { time, at }: Counted = { time: 0, at: now }): number =>
  time * 2 ** ((at - now) / halfLife);

export function createScheduler({ size, timeout, timeoutError, repeatedFor }: Options): Scheduler {
  /** The leases that have not ended, in the order in which they began. */
  const leases = new Set<Lease>();
  /** Functions that begin waiting work, by workspace, in the order of the requests. */
  const waiting = new Map<number, (() => void)[]>();
  /** The time of leases that have ended. */
  const ended = new LRUCache<number, Counted>({ max: maxWorkspaces });
  /** The most that the least time of all active workspaces, those that hold connections or wait, has been. */
  let virtualTime: Counted = { time: 0, at: 0 };
  let willCheck = false;

  const holders = (): Set<number> => new Set([...leases].map(({ workspaceId }) => workspaceId));

  const endedTime = (workspaceId: number, now: number): number => timeAt(now, ended.get(workspaceId));

  const heldTime = (workspaceId: number, now: number): number =>
    [...leases].reduce(
      (sum, lease) => (lease.workspaceId === workspaceId ? sum + now - lease.since : sum),
      endedTime(workspaceId, now),
    );

  /** Returns the workspace that has held connections for the least time; of several, the one that has waited longest. */
  function leastServed(workspaceIds: Iterable<number>, now: number): number | undefined {
    let least: number | undefined;
    let leastTime = Number.POSITIVE_INFINITY;
    for (const workspaceId of workspaceIds) {
      const time = heldTime(workspaceId, now);
      if (time < leastTime) [least, leastTime] = [workspaceId, time];
    }
    return least;
  }

  function updateVirtualTime(now: number): number {
    const least = leastServed([...holders(), ...waiting.keys()], now);
    const time = Math.max(timeAt(now, virtualTime), least === undefined ? 0 : heldTime(least, now));
    virtualTime = { time, at: now };
    return time;
  }

  /**
   * Limits the credit of a workspace that was idle: it would otherwise come first until it has held connections for as long as
   * the workspaces in steady use.
   */
  function limitCredit(workspaceId: number): void {
    const now = performance.now();
    const time = updateVirtualTime(now) - credit;
    const isActive = waiting.has(workspaceId) || holders().has(workspaceId);
    if (!isActive && endedTime(workspaceId, now) < time) ended.set(workspaceId, { time, at: now });
  }

  /** Begins waiting work on free connections, and looks again soon if some is left. */
  function beginWaiting(): void {
    while (leases.size < size && waiting.size > 0) {
      const [begin] = waiting.get(leastServed(waiting.keys(), performance.now()) ?? 0) ?? [];
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
    const holding = holders();
    const waiter = leastServed(
      [...waiting.keys()].filter((id) => !holding.has(id)),
      now,
    );
    const isOnItsWay = [...leases].some(({ preemptedAt = 0 }) => preemptedAt > now - maxPreemption);
    if (waiter === undefined || isOnItsWay) return;
    const ofWaiter = heldTime(waiter, now);
    const isLight = updateVirtualTime(now) - ofWaiter > credit / 2;
    let victim: Lease | undefined;
    let most = ofWaiter;
    for (const lease of leases) {
      const time = heldTime(lease.workspaceId, now);
      const longest = isLight || time - ofWaiter >= muchLess ? maxMinHeldForLight : maxMinHeld;
      const mayHold = Math.min(lease.minHeld, longest);
      const mayGoOn = now - lease.since < (lease === oldest ? maxMinHeld : mayHold);
      if (!mayGoOn && lease.preemptedAt === undefined && time >= most) [victim, most] = [lease, time];
    }
    if (!victim) return;
    victim.preemptedAt = now;
    victim.cancel?.();
  }

  function begin(workspaceId: number, repetitions: number): Lease {
    const minHeldNow = Math.min(maxMinHeld, minHeld * 2 ** repetitions);
    const lease: Lease = { workspaceId, since: performance.now(), minHeld: minHeldNow };
    leases.add(lease);
    return lease;
  }

  function end(lease: Lease): void {
    const { workspaceId, since } = lease;
    const at = performance.now();
    updateVirtualTime(at);
    ended.set(workspaceId, { time: endedTime(workspaceId, at) + at - since, at });
    leases.delete(lease);
    beginWaiting();
  }

  /** Repeated work comes before other work of its workspace. */
  const beginInTurn = (workspaceId: number, repetitions: number): Promise<Lease> =>
    new Promise((resolve, reject) => {
      const ofWorkspace = waiting.get(workspaceId) ?? [];
      const leave = () => {
        clearTimeout(deadline);
        ofWorkspace.splice(ofWorkspace.indexOf(start), 1);
        if (ofWorkspace.length === 0) waiting.delete(workspaceId);
      };
      const start = () => {
        leave();
        resolve(begin(workspaceId, repetitions));
      };
      const deadline = setTimeout(() => {
        leave();
        reject(timeoutError());
      }, timeout);
      if (repetitions > 0) ofWorkspace.unshift(start);
      else ofWorkspace.push(start);
      waiting.set(workspaceId, ofWorkspace);
      beginWaiting();
    });

  return async (workspaceId, work) => {
    const deadline = performance.now() + repeatedFor;
    for (let repetitions = 0; ; repetitions += 1) {
      limitCredit(workspaceId);
      const isFree = leases.size < size && waiting.size === 0;
      const lease = isFree ? begin(workspaceId, repetitions) : await beginInTurn(workspaceId, repetitions);
      try {
        return await work(lease);
      } catch (error) {
        if (!(error instanceof Preempted) || performance.now() > deadline) throw error;
      } finally {
        end(lease);
      }
    }
  };
}
