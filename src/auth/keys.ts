/**
 * Creates, rotates and revokes API keys. The text of a key is `yardgraph_acme_5f0c21d9_` and a secret of 256 random bits, which is returned
 * once, when it is created; only its hash is stored. The part before the secret is the prefix: it has the name that the workspace had when
 * the key was created, identifies the key in lists and logs, and lets secret scanners find a key that has leaked.
 */
import { hash as hashText, randomBytes, timingSafeEqual } from 'node:crypto';
import { StartError } from '../errors.ts';
import { program } from '../program.ts';
import type { ApiKey, KeyStore } from '../store/admin/api-keys.ts';

/** Letters, digits and hyphens, as in a host name. */
const workspaceName = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';

const keyForm = new RegExp(`^(yardgraph_${workspaceName}_[0-9a-f]{8})_([\\w-]{43})$`);

export const workspaceNameForm = 'expected 1 to 63 lower-case letters, digits and hyphens, no hyphen first or last';

export const isWorkspaceName = (text: string): boolean => new RegExp(`^${workspaceName}$`).test(text);

export function parseKey(text: string) {
  const [, prefix, secret] = keyForm.exec(text) ?? [];
  return prefix && secret ? { prefix, secret } : undefined;
}

export const newSecret = (): string => randomBytes(32).toString('base64url');

/** The only form in which a secret is stored or cached. It is random, so no slow or salted hash is needed. */
export const hashOf = (secret: string): string => hashText('sha256', secret, 'base64url');

/** True if a hash is the expected one. Takes the same time wherever the two differ. */
export const isHash = (hash: string, expected: string): boolean => {
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
    previousHash: null,
    previousExpiresAt: null,
    createdAt: new Date().toISOString(),
    expiresAt: expires === undefined ? null : after(expires),
    revokedAt: null,
    lastUsedAt: null,
  };
  await store.insert(key);
  return { key, text: `${key.id}_${secret}` };
}

/** Gives a key a second secret, and returns the new text; the first secret stays valid for `overlap` milliseconds. */
export async function rotateKey(store: KeyStore, prefix: string, overlap: number) {
  const key = await keyWith(store, prefix);
  const state = stateOf(key);
  if (state === 'revoked') throw new StartError(`the key ${prefix} is revoked`);
  if (state === 'expired') throw new StartError(`the key ${prefix} has expired`);
  if (state === 'rotating' && overlap > 0) {
    // A third secret would end the first, which may still be in use.
    throw new StartError(
      `the previous secret is valid until ${key.previousExpiresAt}: with --overlap 0s, it and the current one end at once`,
    );
  }
  const secret = newSecret();
  const previousExpiresAt = after(overlap);
  requireFound(
    await store.update(prefix, { secretHash: hashOf(secret), previousHash: key.secretHash, previousExpiresAt }),
  );
  return { text: `${prefix}_${secret}`, previousExpiresAt };
}

export async function revokeKey(store: KeyStore, prefix: string): Promise<void> {
  const key = await keyWith(store, prefix);
  if (key.revokedAt === null) requireFound(await store.update(prefix, { revokedAt: new Date().toISOString() }));
}

/** While a key is rotating, its previous secret is valid too. Times are compared as text: in ISO format, they sort chronologically. */
export function stateOf({ revokedAt, expiresAt, previousExpiresAt }: ApiKey) {
  const now = new Date().toISOString();
  if (revokedAt !== null) return 'revoked';
  if (expiresAt !== null && expiresAt <= now) return 'expired';
  return previousExpiresAt !== null && previousExpiresAt > now ? 'rotating' : 'active';
}

async function keyWith(store: KeyStore, prefix: string): Promise<ApiKey> {
  const key = await store.find(prefix);
  requireFound(key);
  return key;
}

/** The key may have been deleted meanwhile, with its workspace. */
function requireFound(found: unknown): asserts found {
  if (!found) throw new StartError(`there is no key with this prefix: see ${program} keys list`);
}

const after = (milliseconds: number): string => new Date(Date.now() + milliseconds).toISOString();
