/** Limits how much of something each workspace uses at a time, such as connections: a busy workspace waits for itself and delays no other. */
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';

/** The most workspaces whose shares are counted. Beyond that, the least recently used are dropped. */
const maxWorkspaces = 10_000;

/** Runs work when its workspace has less running than its share. */
type Shares = <T>(workspaceId: string | number, work: () => Promise<T>) => Promise<T>;

/** Work that waits for its share fails after a time, if `patience` is given. */
export function createShares(
  size: number,
  patience?: { readonly milliseconds: number; readonly error: () => Error },
): Shares {
  const limits = new LRUCache<string | number, LimitFunction>({ max: maxWorkspaces, memoMethod: () => pLimit(size) });

  return (workspaceId, work) => {
    const limit = limits.memo(workspaceId);
    if (!patience || limit.activeCount + limit.pendingCount < size) return limit(work);
    const { milliseconds, error } = patience;
    return new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        reject(error());
      }, milliseconds);
      void limit(async () => {
        clearTimeout(timer);
        if (!isLate) await work().then(resolve, reject);
      });
    });
  };
}
