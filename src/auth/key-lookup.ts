/**
 * Looks up API keys in the database, many with one statement: keys requested while a statement runs join the next one. However
 * many unknown keys are presented, lookups hold one connection.
 */
import DataLoader from 'dataloader';
import type { ApiKey, KeyStore } from '../store/admin/api-keys.ts';

/** A statement with this many keys takes a few milliseconds, so no request waits long for the lookups of others. */
const keysPerStatement = 1_000;

export function createKeyLookup(store: KeyStore): (prefix: string) => Promise<ApiKey | undefined> {
  /** Resolves after the latest batch, whether it fails or not. */
  let running: Promise<unknown> = Promise.resolve();
  let queue = running;
  const lookups = new DataLoader<string, ApiKey | undefined>(
    (prefixes) => {
      const found = findAll(store, prefixes);
      running = found.catch(() => undefined);
      return found;
    },
    {
      maxBatchSize: keysPerStatement,
      // Batches run one after the other. Dispatching calls the function above at once, which sets `running`.
      batchScheduleFn: (dispatch) => {
        queue = queue.then(() => {
          dispatch();
          return running;
        });
      },
    },
  );
  return async (prefix) => {
    try {
      return await lookups.load(prefix);
    } finally {
      // Other requests have joined this lookup until now. From now on the keyring caches a result, and a failure is not reused.
      lookups.clear(prefix);
    }
  };
}

/** Returns the key with each of these prefixes, in their order; undefined if there is none. */
async function findAll(store: KeyStore, prefixes: readonly string[]): Promise<(ApiKey | undefined)[]> {
  const keys = new Map((await store.findAll(prefixes)).map((key) => [key.id, key]));
  return prefixes.map((prefix) => keys.get(prefix));
}
