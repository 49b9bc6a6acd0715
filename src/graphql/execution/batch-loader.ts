/** Makes the loaders of one request whose keys are read together. */
import DataLoader from 'dataloader';

/**
 * All keys requested in the same step are one read, which returns their values in the same order. A read that failed stays failed: its
 * error is returned as a value, because DataLoader forgets a batch that fails, and would read it again.
 */
export const createBatchLoader = <Key, T, Id = Key>(
  read: (keys: readonly Key[]) => Promise<readonly T[]>,
  idOf?: (key: Key) => Id,
): DataLoader<Key, T, Id> =>
  new DataLoader<Key, T, Id>((keys) => read(keys).catch((error: Error) => keys.map(() => error)), {
    ...(idOf && { cacheKeyFn: idOf }),
  });
