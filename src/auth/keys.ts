/**
 * API keys: creates and revokes them, and identifies their users and workspaces. The text of a key is `yardgraph_acme_5f0c21d9_`
 * and a secret of 256 random bits, which is returned once, when it is created; only its hash is stored. The part before the secret is the
 * prefix: it has the name that the workspace had when the key was created, identifies the key in lists and logs, and lets secret scanners
 * find a key that has leaked.
 */
import { hash as hashText, randomBytes, timingSafeEqual } from 'node:crypto';
import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import { StartError, unauthorized } from '../errors.ts';
import { program } from '../program.ts';
import { type ApiKey, createKeyStore, type KeyStore } from '../store/admin/api-keys.ts';
import type { Database } from '../store/database.ts';
import type { WorkspaceId } from '../store/query/tables.ts';

/** Letters, digits and hyphens, as in a host name. */
const workspaceName = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';

const keyForm = new RegExp(`^(yardgraph_${workspaceName}_[0-9a-f]{8})_([\\w-]{43})$`);

export const workspaceNameForm = 'expected 1 to 63 lower-case letters, digits and hyphens, no hyphen first or last';

export const isWorkspaceName = (text: string): boolean => new RegExp(`^${workspaceName}$`).test(text);

function parseKey(text: string) {
  const [, prefix, secret] = keyForm.exec(text) ?? [];
  return prefix && secret ? { prefix, secret } : undefined;
}

const newSecret = (): string => randomBytes(32).toString('base64url');

/** The only form in which a secret is stored or cached. It is random, so no slow or salted hash is needed. */
const hashOf = (secret: string): string => hashText('sha256', secret, 'base64url');

/** True if a hash is the expected one. Takes the same time wherever the two differ. */
const isHash = (hash: string, expected: string): boolean => {
  const [a, b] = [Buffer.from(hash), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
};

export interface NewKey {
  readonly workspace: string;
  readonly user: string;
  readonly readOnly: boolean;
  readonly label?: string | undefined;
  /** Milliseconds until it expires; if absent, it never does. */
  readonly expires?: number | undefined;
}

/** Creates a key, and with it the workspace if this is its first key. */
export async function createKey(store: KeyStore, { workspace, user, readOnly, label, expires }: NewKey) {
  const secret = newSecret();
  const key: ApiKey = {
    workspace: await store.openWorkspace(workspace),
    id: `yardgraph_${workspace}_${randomBytes(4).toString('hex')}`,
    userId: user,
    readOnly,
    label: label ?? null,
    secretHash: hashOf(secret),
    createdAt: new Date().toISOString(),
    expiresAt: expires === undefined ? null : new Date(Date.now() + expires).toISOString(),
    revokedAt: null,
    lastUsedAt: null,
  };
  await store.insert(key);
  return { key, text: `${key.id}_${secret}` };
}

export async function revokeKey(store: KeyStore, prefix: string): Promise<void> {
  const key = await store.find(prefix);
  requireFound(key);
  if (key.revokedAt === null) requireFound(await store.update(prefix, { revokedAt: new Date().toISOString() }));
}

/** Times are compared as text: in ISO format, they sort chronologically. */
export function stateOf({ revokedAt, expiresAt }: ApiKey) {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= new Date().toISOString() ? 'expired' : 'active';
}

/** The key may have been deleted meanwhile, with its workspace. */
function requireFound(found: unknown): asserts found {
  if (!found) throw new StartError(`there is no key with this prefix: see ${program} keys list`);
}

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

/**
 * Keys are cached for two seconds, so that a busy key does not cost a statement per request; within that time every process notices that a
 * key was created or revoked.
 */
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
    const isCorrect = isHash(hashOf(secret), key?.secretHash ?? noHash);
    if (!key || !isCorrect || stateOf(key) !== 'active') return undefined;
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
