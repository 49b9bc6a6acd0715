/** Shares of a pool's connections: no workspace holds all of them, and each waits for its own work only. */
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';

/** Workspaces whose shares are counted; of more, those used least recently are dropped. */
const maxWorkspaces = 10_000;

/** Of all connections of a pool. */
const share = 0.75;

/** Runs work of a workspace that takes one connection. */
export type Shares = <T>(workspaceId: string, work: () => Promise<T>) => Promise<T>;

/** Work that has waited `timeout` milliseconds for its workspace's share fails with the error. */
export function createShares(poolSize: number, timeout: number, timeoutError: () => Error): Shares {
  const size = Math.max(1, Math.floor(share * poolSize));
  const limits = new LRUCache<string, LimitFunction>({ max: maxWorkspaces, memoMethod: () => pLimit(size) });

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
