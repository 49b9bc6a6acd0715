/**
 * Finds API keys in the database, many with one statement: those asked for while a statement is on its way join the next
 * one. So lookups hold one connection at a time, or two where machines are away, however many unknown keys are presented.
 */
import DataLoader from 'dataloader';
import pLimit from 'p-limit';
import { ServiceError } from '../errors.ts';
import type { ApiKey, KeyId, KeyStore } from '../store/api-keys.ts';

/** A statement takes a few milliseconds, so that nobody waits long for one with others' keys. */
const keysPerStatement = 1_000;

/** Statements for a workspace each, where one for all has failed. */
const workspacesAtOnce = 2;

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
      // Others have joined this lookup until now; from here on the keyring caches its result.
      lookups.clear(id);
    }
  };
}

/** What each of these ids leads to, in their order. */
async function find(store: KeyStore, ids: readonly KeyId[]): Promise<(ApiKey | undefined | Error)[]> {
  try {
    const keys = new Map((await store.findAll(ids)).map((key) => [key.id, key]));
    return ids.map(({ id }) => keys.get(id));
  } catch (error) {
    const workspaces = new Set(ids.map(({ workspaceId }) => workspaceId));
    if (workspaces.size === 1 || !isFromServer(error)) throw error;
    // Where tables are spread over several machines and one of them is away, the others still find their keys.
    const found = new Map<string, ApiKey | undefined | Error>();
    const findOwn = async (workspaceId: string) => {
      const own = ids.filter((id) => id.workspaceId === workspaceId);
      const keys = await find(store, own).catch((reason: Error) => own.map(() => reason));
      own.forEach(({ id }, index) => void found.set(id, keys[index]));
    };
    const limit = pLimit(workspacesAtOnce);
    await limit.map(workspaces, findOwn);
    return ids.map(({ id }) => found.get(id));
  }
}

/** A server reported the failure, so that another statement may fare better. A 503 without a SQLSTATE: none was there. */
const isFromServer = (error: unknown): boolean =>
  !(error instanceof ServiceError) || /^(?=.*\d)[0-9A-Z]{5}$/.test(String(error.cause));
