/**
 * The text of an API key: `yardgraph_acme_5f0c21d9_` and 256 random bits. The part before the secret is the prefix: it has
 * the name that the workspace had when the key was created, identifies the key in lists and logs, and lets secret scanners find a
 * key that has leaked.
 */
import { hash as hashText, randomBytes, timingSafeEqual } from 'node:crypto';

export interface KeyText {
  readonly prefix: string;
  readonly secret: string;
}

/** Letters, digits and hyphens, as in a host name. */
const workspaceName = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';

const keyForm = new RegExp(`^(yardgraph_${workspaceName}_[0-9a-f]{8})_([\\w-]{43})$`);

export const workspaceNameForm = 'expected 1 to 63 lower-case letters, digits and hyphens, no hyphen first or last';

export const isWorkspaceName = (text: string): boolean => new RegExp(`^${workspaceName}$`).test(text);

export function parseKey(text: string): KeyText | undefined {
  const [, prefix, secret] = keyForm.exec(text) ?? [];
  return prefix && secret ? { prefix, secret } : undefined;
}

export const newPrefix = (workspace: string): string => `yardgraph_${workspace}_${randomBytes(4).toString('hex')}`;

export const newSecret = (): string => randomBytes(32).toString('base64url');

export const formatKey = (prefix: string, secret: string): string => `${prefix}_${secret}`;

/** The only form in which a secret is stored or cached. It is random, so no slow or salted hash is needed. */
export const hashOf = (secret: string): string => hashText('sha256', secret, 'base64url');

/** True if a hash is the expected one. Takes the same time wherever the two differ. */
export const isHash = (hash: string, expected: string): boolean => {
  const [a, b] = [Buffer.from(hash), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
};
