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
  let statement: Promise<unknown> = Promise.resolve();
  let turn = statement;
  const lookups = new DataLoader<KeyId, ApiKey | undefined, string>(
    (ids) => {
      const keys = find(store, ids);
      statement = keys.catch(() => undefined);
      return keys;
    },
    {
      maxBatchSize: keysPerStatement,
      cacheKeyFn: ({ id }) => id,
      batchScheduleFn: (send) => {
        turn = turn.then(() => {
          send();
          return statement;
        });
      },
    },
  );
  return async (id) => {
    try {
      return await lookups.load(id);
    } finally {
      // Until now other requests joined this lookup; from now on the keyring has its result cached.
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

/** Whether a server reported the failure, so that another statement may succeed. Only then is the cause of a 503 a SQLSTATE. */
const isFromServer = (error: unknown): boolean =>
  !(error instanceof ServiceError) || /^(?=.*\d)[0-9A-Z]{5}$/.test(String(error.cause));
