/** The connections of a pool, shared by users: none takes all of them, and each waits for its own work only. */
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';

/** Users whose shares are counted; of more, those that asked longest ago are forgotten. */
const maxUsers = 10_000;

/** Of all connections of a pool. */
const share = 0.75;

/** Runs work of a user that takes one connection. */
export type Shares = <T>(user: string, work: () => Promise<T>) => Promise<T>;

/** `refusal` is what a user gets whose share is in use for `timeout` milliseconds. */
export function createShares(poolSize: number, timeout: number, refusal: () => Error): Shares {
  const size = Math.max(1, Math.floor(share * poolSize));
  const limits = new LRUCache<string, LimitFunction>({ max: maxUsers, memoMethod: () => pLimit(size) });

  const wait = <T>(limit: LimitFunction, work: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        reject(refusal());
      }, timeout);
      void limit(async () => {
        clearTimeout(timer);
        if (!isLate) await work().then(resolve, reject);
      });
    });

  return (user, work) => {
    const limit = limits.memo(user);
    return limit.activeCount + limit.pendingCount < size ? limit(work) : wait(limit, work);
  };
}
