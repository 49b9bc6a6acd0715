/**
 * Who stands behind an API key. What the database says is remembered for two seconds: a key that is made, revoked or
 * expires is known on every node within that time, and a busy key costs no statement a request.
 */
import { LRUCache } from 'lru-cache';
import { unauthorized } from '../errors.ts';
import { type ApiKey, createKeyStore } from '../store/api-keys.ts';
import type { Database } from '../store/database.ts';
import { hashOf, isHash, newSecret, parseKey } from './key.ts';

/** Who asks, and for what workspace. */
export interface Identity {
  readonly workspaceId: string;
  /** Null while the service runs open. */
  readonly userId: string | null;
  readonly mayWrite: boolean;
  /** Null while the service runs open. */
  readonly keyPrefix: string | null;
}

/** While there are no keys, everybody is in the one default workspace, as nobody in particular. */
export const nobody: Identity = { workspaceId: 'default', userId: null, mayWrite: true, keyPrefix: null };

const memory = { max: 10_000, ttl: 2_000 };

/** Noted once in this time that a key is used, not at every request. */
const useNotedEvery = 60_000;

/** An unknown key is compared too, with what nothing is the secret of, so that it takes as long as a wrong one. */
const noHash = hashOf(newSecret());

export function createKeyring(database: Database) {
  const store = createKeyStore(database);
  const keys = new LRUCache<string, { key: ApiKey | undefined }, string>({
    ...memory,
    // Who waits for a key gets it, also where others have pushed it out of memory meanwhile.
    ignoreFetchAbort: true,
    fetchMethod: async (prefix, _stale, { context: workspaceId }) => ({ key: await store.find(workspaceId, prefix) }),
  });
  const noted = new LRUCache<string, true>({ max: memory.max, ttl: useNotedEvery });
  let isClosed = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let look: Promise<void> | undefined;

  async function isOpen(): Promise<boolean> {
    if (isClosed || performance.now() - lookedAt < memory.ttl) return !isClosed;
    look ??= lookForKeys().finally(() => {
      look = undefined;
    });
    await look;
    return !isClosed;
  }

  async function lookForKeys(): Promise<void> {
    if (!(await store.isEmpty())) isClosed = true;
    lookedAt = performance.now();
  }

  /** In the background: whether the time of use can be written is no matter of the request's. */
  function noteUse(key: ApiKey): void {
    if (noted.has(key.id)) return;
    noted.set(key.id, true);
    store.update(key, { lastUsedAt: new Date().toISOString() }).catch(() => noted.delete(key.id));
  }

  return {
    /** Whether there are no keys. Once there were any, the service stays closed, also if all of them end. */
    isOpen,

    /** Throws a ServiceError 401, the same for a key that is unknown, wrong, revoked or expired. */
    async identify(text: string): Promise<Identity> {
      const parts = parseKey(text);
      const found =
        parts && (keys.get(parts.prefix) ?? (await keys.fetch(parts.prefix, { context: parts.workspaceId })));
      const key = found?.key;
      const hash = hashOf(parts?.secret ?? '');
      const isCurrent = isHash(hash, key?.secretHash ?? noHash);
      const isPrevious = isHash(hash, key?.previousHash ?? noHash) && isAhead(key?.previousExpiresAt);
      if (!key || !(isCurrent || isPrevious) || key.revokedAt !== null || isPast(key.expiresAt)) {
        throw unauthorized('the API key is not valid');
      }
      noteUse(key);
      return { workspaceId: key.workspaceId, userId: key.userId, mayWrite: !key.readOnly, keyPrefix: key.id };
    },
  };
}

const isAhead = (time: string | null | undefined): boolean => !!time && Date.parse(time) > Date.now();
const isPast = (time: string | null): boolean => time !== null && Date.parse(time) <= Date.now();
