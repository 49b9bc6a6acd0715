/** Limits each workspace to a share of a pool's connections, so that a busy workspace waits for itself and delays no other. */
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';

/** The most workspaces whose shares are counted. Beyond that, the least recently used are dropped. */
const maxWorkspaces = 10_000;

/** The fraction of a pool's connections that one workspace may hold. */
const share = 0.75;

/** Runs work that takes one connection, within the share of its workspace. */
export type Shares = <T>(workspaceId: string, work: () => Promise<T>) => Promise<T>;

/** Work that has waited `timeout` milliseconds for its workspace's share fails with `timeoutError`. */
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
