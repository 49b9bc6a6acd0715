/**
 * Who stands behind an API key. What the database says is cached for two seconds: a key that is created, revoked or
 * expires is known to every process within that time, and a busy key does not cost a statement per request.
 */
import { LRUCache } from 'lru-cache';
import { unauthorized } from '../errors.ts';
import { type ApiKey, createKeyStore } from '../store/api-keys.ts';
import type { Database } from '../store/database.ts';
import { hashOf, isHash, type KeyText, newSecret, parseKey } from './key.ts';
import { createKeyLookup } from './key-lookup.ts';

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

const cached = { max: 10_000, ttl: 2_000 };

/** Milliseconds. That a key is used is noted once in this time, not at every request. */
const useNotedEvery = 60_000;

/** An unknown key is compared too, with what nothing is the secret of, so that it takes as long as a wrong one. */
const noHash = hashOf(newSecret());

export function createKeyring(database: Database) {
  const store = createKeyStore(database);
  const lookUp = createKeyLookup(store);
  const keys = new LRUCache<string, ApiKey>(cached);
  // Apart, for they must not push keys out of the cache.
  const unknown = new LRUCache<string, true>(cached);
  /** Prefixes of keys that were let in, with the time when their use was last noted. */
  const letIn = new LRUCache<string, number>({ max: 10_000 });
  let isClosed = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let look: Promise<void> | undefined;

  async function isOpen(): Promise<boolean> {
    if (isClosed || performance.now() - lookedAt < cached.ttl) return !isClosed;
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

  async function find({ prefix, workspaceId }: KeyText): Promise<ApiKey | undefined> {
    if (unknown.has(prefix)) return undefined;
    const key = await lookUp({ workspaceId, id: prefix });
    if (key) keys.set(prefix, key);
    else unknown.set(prefix, true);
    return key;
  }

  /** In the background: whether the time of use can be written is no matter of the request's. */
  function noteUse(key: ApiKey): void {
    const notedAt = letIn.get(key.id) ?? Number.NEGATIVE_INFINITY;
    if (performance.now() - notedAt < useNotedEvery) return;
    letIn.set(key.id, performance.now());
    store
      .update(key, { lastUsedAt: new Date().toISOString() })
      .catch(() => letIn.set(key.id, Number.NEGATIVE_INFINITY));
  }

  return {
    /** Whether there are no keys. Once there were any, the service stays closed, also if all of them end. */
    isOpen,

    /** Whether this process has let the key in before, be it with another secret. Of many keys, it knows the latest 10,000. */
    hasLetIn(text: string): boolean {
      const parts = parseKey(text);
      return parts !== undefined && letIn.has(parts.prefix);
    },

    /** Throws a ServiceError 401, the same for a key that is unknown, wrong, revoked or expired. */
    async identify(text: string): Promise<Identity> {
      const parts = parseKey(text);
      const key = parts && (keys.get(parts.prefix) ?? (await find(parts)));
      const hash = hashOf(parts?.secret ?? '');
      const isCurrent = isHash(hash, key?.secretHash ?? noHash);
      const isPrevious = isHash(hash, key?.previousHash ?? noHash) && isAhead(key?.previousExpiresAt);
      if (!key || !(isCurrent || isPrevious) || key.revokedAt !== null || isPast(key.expiresAt)) {
        throw unauthorized('the API key is not valid');
      }
      isClosed = true;
      noteUse(key);
      return { workspaceId: key.workspaceId, userId: key.userId, mayWrite: !key.readOnly, keyPrefix: key.id };
    },
  };
}

const isAhead = (time: string | null | undefined): boolean => !!time && Date.parse(time) > Date.now();
const isPast = (time: string | null): boolean => time !== null && Date.parse(time) <= Date.now();
