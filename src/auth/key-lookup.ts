/**
 * Looks up API keys in the database, many with one statement: keys requested while a statement runs join the next one. However
 * many unknown keys are presented, lookups hold one connection, or two while one of the database's machines is unavailable.
 */
import DataLoader from 'dataloader';
import pLimit from 'p-limit';
import { ServiceError } from '../errors.ts';
import type { ApiKey, KeyId, KeyStore } from '../store/api-keys.ts';

/** A statement with this many keys takes a few milliseconds, so no request waits long for the lookups of others. */
const keysPerStatement = 1_000;

/** Concurrent statements, each for one workspace, after a statement for all workspaces has failed. */
const maxConcurrentWorkspaces = 2;

export function createKeyLookup(store: KeyStore): (id: KeyId) => Promise<ApiKey | undefined> {
  /** Ends with the latest batch, whether it fails or not. */
  let running: Promise<unknown> = Promise.resolve();
  let queue = running;
  const lookups = new DataLoader<KeyId, ApiKey | undefined, string>(
    (ids) => {
      const found = find(store, ids);
      running = found.catch(() => undefined);
      return found;
    },
    {
      maxBatchSize: keysPerStatement,
      cacheKeyFn: ({ id }) => id,
      // One batch after the other. Dispatching calls the function above at once, which sets `running`.
      batchScheduleFn: (dispatch) => {
        queue = queue.then(() => {
          dispatch();
          return running;
        });
      },
    },
  );
  return async (id) => {
    try {
      return await lookups.load(id);
    } finally {
      // Other requests have joined this lookup until now. From now on the keyring caches a result, and a failure is not reused.
      lookups.clear(id);
    }
  };
}

/** The key with each of these IDs, in their order; undefined if there is none, and an Error if its lookup failed. */
async function find(store: KeyStore, ids: readonly KeyId[]): Promise<(ApiKey | undefined | Error)[]> {
  try {
    const keys = new Map((await store.findAll(ids)).map((key) => [key.id, key]));
    return ids.map(({ id }) => keys.get(id));
  } catch (error) {
    const workspaces = new Set(ids.map(({ workspaceId }) => workspaceId));
    if (workspaces.size === 1 || !isFromServer(error)) throw error;
    // Where tables are spread over several machines and one of them is unavailable, keys on the others are still found.
    const found = new Map<string, ApiKey | undefined | Error>();
    const findOwn = async (workspaceId: string) => {
      const own = ids.filter((id) => id.workspaceId === workspaceId);
      const keys = await find(store, own).catch((reason: Error) => own.map(() => reason));
      own.forEach(({ id }, index) => void found.set(id, keys[index]));
    };
    const limit = pLimit(maxConcurrentWorkspaces);
    await limit.map(workspaces, findOwn);
    return ids.map(({ id }) => found.get(id));
  }
}

/** Whether a server reported the failure, so that other statements may succeed. Without a connection, a 503 has no SQLSTATE. */
const isFromServer = (error: unknown): boolean =>
  !(error instanceof ServiceError) || /^(?=.*\d)[0-9A-Z]{5}$/.test(String(error.cause));
