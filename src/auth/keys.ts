/** Creates, rotates and revokes API keys. A secret is returned once, when it is created; only its hash is stored. */

import { StartError } from '../errors.ts';
import { program } from '../program.ts';
import type { ApiKey, KeyStore } from '../store/admin/api-keys.ts';
import { formatKey, hashOf, newPrefix, newSecret } from './key.ts';

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
    id: newPrefix(workspace),
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
  return { key, text: formatKey(key.id, secret) };
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
  return { text: formatKey(prefix, secret), previousExpiresAt };
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
