/**
 * Identifies the user and workspace of an API key. Keys are cached for two seconds, so that a busy key does not cost a statement
 * per request; within that time every process notices that a key was created, rotated or revoked.
 */

import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import { unauthorized } from '../errors.ts';
import { type ApiKey, createKeyStore } from '../store/admin/api-keys.ts';
import type { Database } from '../store/database.ts';
import type { WorkspaceId } from '../store/query/tables.ts';
import { hashOf, isHash, newSecret, parseKey } from './keys.ts';

export interface Identity {
  readonly workspace: WorkspaceId;
  /** Null while the service runs without keys. */
  readonly userId: string | null;
  readonly mayWrite: boolean;
  readonly keyPrefix: string | null;
}

export const anonymousWorkspace = 'default';

export const anonymousIn = (workspace: WorkspaceId): Identity => ({
  workspace,
  userId: null,
  mayWrite: true,
  keyPrefix: null,
});

/** `ttl` is in milliseconds. */
const cacheOptions = { max: 10_000, ttl: 2_000 };

/** A statement with this many keys takes a few milliseconds, so no request waits long for the lookups of others. */
const keysPerStatement = 1_000;

/** Milliseconds between two updates of a key's last use. */
const useInterval = 60_000;

/**
 * A hash that no secret has. Secrets of unknown keys are compared with it, so that they take as long as wrong secrets of known
 * keys.
 */
const noHash = hashOf(newSecret());

export function createKeyring(database: Database) {
  const store = createKeyStore(database);
  const keys = new LRUCache<string, ApiKey>(cacheOptions);
  // In a cache of their own, so that unknown prefixes cannot evict keys.
  const unknown = new LRUCache<string, true>(cacheOptions);
  /** Prefixes of keys that this process has accepted, with the time when their use was last written; infinite until then. */
  const accepted = new LRUCache<string, number>({ max: 10_000 });
  /** Written one after the other, since each may wait for a server that does not respond. */
  let written: Promise<unknown> = Promise.resolve();
  /** Strangers cause lookups, too: a statement looks up all keys that are needed when the one before it has ended. */
  let lookup: Promise<unknown> = Promise.resolve();
  const lookups = new DataLoader<string, ApiKey | undefined>(
    async (prefixes) => {
      const found = store.findAll(prefixes);
      lookup = found.catch(() => undefined);
      const byPrefix = new Map((await found).map((key) => [key.id, key]));
      return prefixes.map((prefix) => byPrefix.get(prefix));
    },
    { maxBatchSize: keysPerStatement, batchScheduleFn: (dispatch) => void lookup.then(dispatch) },
  );
  let isClosed = false;
  /** The identity of requests while there are no keys, by the name of the workspace. Requests share the check for keys. */
  const anonymous = new LRUCache<string, Identity>({
    ...cacheOptions,
    fetchMethod: async (workspace) => {
      if (await store.isEmpty()) return anonymousIn(await store.openWorkspace(workspace));
      isClosed = true;
      return undefined;
    },
  });

  async function findAnonymous(): Promise<Identity | undefined> {
    const identity = isClosed ? undefined : await anonymous.fetch(anonymousWorkspace);
    return isClosed ? undefined : identity;
  }

  async function find(prefix: string): Promise<ApiKey | undefined> {
    if (unknown.has(prefix)) return undefined;
    // The loader shares a lookup until it has ended: then its result is cached below, and a failure is not reused.
    const key = await lookups.load(prefix).finally(() => lookups.clear(prefix));
    if (key) keys.set(prefix, key);
    else unknown.set(prefix, true);
    return key;
  }

  function accept(key: ApiKey | undefined, secret: string): Identity | undefined {
    const hash = hashOf(secret);
    const isCurrent = isHash(hash, key?.secretHash ?? noHash);
    const isPrevious = isHash(hash, key?.previousHash ?? noHash) && isFuture(key?.previousExpiresAt);
    if (!key || !(isCurrent || isPrevious) || key.revokedAt !== null || isPast(key.expiresAt)) return undefined;
    isClosed = true;
    writeUse(key);
    return { workspace: key.workspace, userId: key.userId, mayWrite: !key.readOnly, keyPrefix: key.id };
  }

  /** Runs in the background: the request neither waits for it nor fails with it. */
  function writeUse(key: ApiKey): void {
    const writtenAt = accepted.get(key.id) ?? Number.NEGATIVE_INFINITY;
    if (performance.now() - writtenAt < useInterval) return;
    accepted.set(key.id, Number.POSITIVE_INFINITY);
    const lastUsedAt = new Date().toISOString();
    written = written
      .then(() => store.update(key.id, { lastUsedAt }))
      .catch(() => {})
      .then(() => accepted.set(key.id, performance.now()));
  }

  return {
    /**
     * Returns the identity of all requests while there are no keys; undefined otherwise. Once there has been a key, the
     * service requires one, even if all keys expire or are revoked.
     */
    findAnonymous,

    hasAccepted(text: string): boolean {
      const parts = parseKey(text);
      return parts !== undefined && accepted.has(parts.prefix);
    },

    /**
     * Returns the identity of a valid, cached key; undefined for any other text, which must be passed to `identify`.
     * Covers only accepted keys, because a wrong secret of any other key counts against the limit of failed logins.
     */
    identifyCached(text: string): Identity | undefined {
      const parts = parseKey(text);
      const key = parts && accepted.has(parts.prefix) ? keys.get(parts.prefix) : undefined;
      return key && accept(key, parts?.secret ?? '');
    },

    /** Throws a ServiceError 401, the same for a key that is unknown, wrong, revoked or expired. */
    async identify(text: string): Promise<Identity> {
      const parts = parseKey(text);
      const key = parts && (keys.get(parts.prefix) ?? (await find(parts.prefix)));
      const identity = accept(key, parts?.secret ?? '');
      if (!identity) throw unauthorized('the API key is not valid', 'invalid API key');
      return identity;
    },
  };
}

const isFuture = (time: string | null | undefined): boolean => !!time && Date.parse(time) > Date.now();
const isPast = (time: string | null): boolean => time !== null && Date.parse(time) <= Date.now();
