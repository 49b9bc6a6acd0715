/** Limits how many connections each workspace holds, so that a busy workspace waits for itself and delays no other. */
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';

/** The most workspaces whose shares are counted. Beyond that, the least recently used are dropped. */
const maxWorkspaces = 10_000;

/** Runs work that takes one connection, within the share of its workspace. */
export type Shares = <T>(workspaceId: number, work: () => Promise<T>) => Promise<T>;

/** A workspace may hold `size` connections. Work that has waited `timeout` milliseconds for one fails with `timeoutError`. */
export function createShares(size: number, timeout: number, timeoutError: () => Error): Shares {
  const limits = new LRUCache<number, LimitFunction>({ max: maxWorkspaces, memoMethod: () => pLimit(size) });

  const wait = <T>(limit: LimitFunction, work: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        reject(timeoutError());
      }, timeout);
      void limit(async () => {
        clearTimeout(timer);
        if (!isLate) await work().then(resolve, reject);
      });
    });

  return (workspaceId, work) => {
    const limit = limits.memo(workspaceId);
    return limit.activeCount + limit.pendingCount < size ? limit(work) : wait(limit, work);
  };
}
