/**
 * `yardgraph keys`: creates, lists, rotates and revokes API keys. `create` and `rotate` print only the text of the key on
 * standard output, so that it can be piped into a file or a secret store; messages go to standard error.
 */
import { createKey, type NewKey, revokeKey, rotateKey, stateOf } from '../auth/keys.ts';
import type { Config } from '../config.ts';
import { type ApiKey, createKeyStore, type KeyStore } from '../store/api-keys.ts';
import { openDatabase } from '../store/database.ts';

/** Runs work on the key store of the configured database. */
async function withKeyStore(
  { databaseUrl, databaseOptions }: Config,
  work: (store: KeyStore) => Promise<void>,
): Promise<void> {
  const database = await openDatabase(databaseUrl, databaseOptions);
  try {
    await work(createKeyStore(database));
  } finally {
    await database.close();
  }
}

export const createApiKey = (config: Config, options: NewKey) =>
  withKeyStore(config, async (store) => {
    const isFirst = await store.isDefinitelyEmpty();
    const { key, text } = await createKey(store, options);
    console.log(text);
    console.error(
      `Created a key for ${key.userId} in the workspace ${key.workspaceId}; ${rightsOf(key)}; ${endOf(key)}`,
    );
    console.error('It is not shown again. To revoke it, use its prefix:', key.id);
    if (isFirst) console.error('This is the first key: from now on, every request needs a key.');
  });

export const rotateApiKey = (config: Config, prefix: string, overlap: number) =>
  withKeyStore(config, async (store) => {
    const { text, previousExpiresAt } = await rotateKey(store, prefix, overlap);
    console.log(text);
    console.error(
      overlap > 0
        ? `The previous secret is valid until ${previousExpiresAt}.`
        : 'The previous secret is no longer valid: within five seconds, no process accepts it.',
    );
  });

export const revokeApiKey = (config: Config, prefix: string) =>
  withKeyStore(config, async (store) => {
    await revokeKey(store, prefix);
    console.error(`Revoked the key ${prefix}: within five seconds, no process accepts it.`);
  });

const columns = ['prefix', 'workspace', 'user', 'rights', 'state', 'created', 'last used', 'expires', 'label'];

export const listApiKeys = (config: Config) =>
  withKeyStore(config, async (store) => {
    const rows = [columns, ...(await store.list()).map(rowOf)];
    const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
    for (const row of rows)
      console.log(
        row
          .map((cell, index) => cell.padEnd(widths[index] ?? 0))
          .join('  ')
          .trimEnd(),
      );
  });

const rowOf = (key: ApiKey): string[] => [
  key.id,
  key.workspaceId,
  key.userId,
  rightsOf(key),
  stateOf(key),
  minute(key.createdAt),
  minute(key.lastUsedAt),
  minute(key.expiresAt),
  key.label ?? '',
];

const rightsOf = ({ readOnly }: ApiKey): string => (readOnly ? 'read-only' : 'read and write');

const endOf = ({ expiresAt }: ApiKey): string =>
  expiresAt === null ? 'never expires' : `expires ${minute(expiresAt)}`;

/** Such as `2026-03-01 07:30`, in UTC. */
const minute = (time: string | null): string => time?.slice(0, 16).replace('T', ' ') ?? '-';
