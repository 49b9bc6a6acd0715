/**
 * A key is `yardgraph_acme_5f0c21d9_` and a secret of 256 random bits. `createKey` returns it once; only the hash of
 * the secret is stored. The prefix has the workspace's name at creation, identifies the key in lists and logs, and lets
 * secret scanners find a leaked key.
 */
import { hash, randomBytes } from 'node:crypto';
import { StartError } from '../errors.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { program } from '../program.ts';
import type { ApiKey, KeyStore } from '../store/admin/api-keys.ts';

/** As in a host name. */
const workspaceName = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';

const keyForm = new RegExp(`^(yardgraph_${workspaceName}_[0-9a-f]{8})_([\\w-]{43})$`);

export const workspaceNameForm = 'expected 1 to 63 lower-case letters, digits and hyphens, no hyphen first or last';

export const isWorkspaceName = (text: string): boolean => new RegExp(`^${workspaceName}$`).test(text);

/** The form of users, and of labels of keys. */
export const isShortText = (text: string): boolean => /^[^\p{Cc}\p{Cs}]{1,255}$/u.test(text);

export interface SecretKey {
  readonly prefix: string;
  readonly secret: string;
}

export function parseKey(text: string): SecretKey | undefined {
  const [, prefix, secret] = keyForm.exec(text) ?? [];
  return prefix && secret ? { prefix, secret } : undefined;
}

export const newSecret = (): string => randomBytes(32).toString('base64url');

/** The only form in which a secret is stored or cached. Random secrets need no slow or salted hash. */
export const hashSecret = (secret: string): string => hash('sha256', secret, 'base64url');

export interface NewKey {
  readonly workspace: string;
  readonly user: string;
  readonly readOnly: boolean;
  /** If absent, records of all kinds. */
  readonly write?: readonly RecordKind[] | undefined;
  readonly label?: string | undefined;
  /** In milliseconds; if absent, never. */
  readonly expires?: number | undefined;
}

/** Also creates the workspace, with its first key. */
export async function createKey(store: KeyStore, { workspace, user, readOnly, write, label, expires }: NewKey) {
  const secret = newSecret();
  const key: ApiKey = {
    workspace: await store.findOrCreateWorkspace(workspace),
    id: `yardgraph_${workspace}_${randomBytes(4).toString('hex')}`,
    userId: user,
    readOnly,
    writes: write?.map(({ name }) => name).join() ?? null,
    label: label ?? null,
    secretHash: hashSecret(secret),
    createdAt: new Date().toISOString(),
    expiresAt: expires === undefined ? null : new Date(Date.now() + expires).toISOString(),
    revokedAt: null,
    lastUsedAt: null,
    lastUsedFrom: null,
  };
  await store.insert(key);
  return { key, text: `${key.id}_${secret}` };
}

export async function revokeKey(store: KeyStore, prefix: string): Promise<void> {
  const key = await store.find(prefix);
  requireFound(key);
  if (key.revokedAt === null) requireFound(await store.update(prefix, { revokedAt: new Date().toISOString() }));
}

/** Undefined if it may write all kinds. */
export const writableKinds = ({ readOnly, writes }: ApiKey): readonly string[] | undefined =>
  readOnly ? [] : writes?.split(',');

/** ISO times sort chronologically as text. */
export function stateOf({ revokedAt, expiresAt }: ApiKey) {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= new Date().toISOString() ? 'expired' : 'active';
}

/** The key may have been deleted meanwhile, with its workspace. */
function requireFound(found: unknown): asserts found {
  if (!found) throw new StartError(`there is no key with this prefix: see ${program} keys list`);
}
