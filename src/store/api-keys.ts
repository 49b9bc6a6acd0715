/** API keys as they are stored: found by workspace and prefix, and listed for the operator across all workspaces. */
import { boolean, dateTime, required, text } from '../model/fields.ts';
import type { Table } from '../model/record-kind.ts';
import { updateOf } from './columns.ts';
import type { Database } from './database.ts';
import type { Row } from './engine.ts';

export interface ApiKey {
  readonly workspaceId: string;
  /** The key's prefix. */
  readonly id: string;
  readonly userId: string;
  readonly readOnly: boolean;
  readonly label: string | null;
  readonly secretHash: string;
  /** A secret that was replaced, and works until then. */
  readonly previousHash: string | null;
  readonly previousExpiresAt: string | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
}

export const apiKeys: Table = {
  table: 'api_keys',
  label: 'API key',
  storedFields: {
    workspaceId: required(text('workspace that it opens')),
    id: required(text('prefix')),
    userId: required(text('user it stands for')),
    readOnly: required(boolean('whether it may only read')),
    label: text('what it is for'),
    secretHash: required(text('SHA-256 of the secret')),
    previousHash: text('SHA-256 of the secret before'),
    previousExpiresAt: dateTime('when the secret before ends'),
    createdAt: required(dateTime('creation time')),
    expiresAt: dateTime('when it ends'),
    revokedAt: dateTime('when it was revoked'),
    lastUsedAt: dateTime('when it was last used, to the minute'),
  },
};

export type KeyStore = ReturnType<typeof createKeyStore>;

export function createKeyStore({ run, read, engine }: Pick<Database, 'run' | 'read' | 'engine'>) {
  const { table } = apiKeys;
  // Sound because rows are written from API keys only.
  const select = async (rest: string, values: readonly unknown[] = []) =>
    (await engine.select(read, apiKeys, rest, values)) as readonly object[] as ApiKey[];

  return {
    /** Whether there is any key, in any workspace, usable or not. */
    isEmpty: async (): Promise<boolean> => (await read(`select 1 from ${table} limit 1`)).length === 0,

    find: async (workspaceId: string, id: string): Promise<ApiKey | undefined> =>
      (await select('where workspace_id = ? and id = ?', [workspaceId, id]))[0],

    list: (): Promise<ApiKey[]> => select('order by workspace_id, created_at, id'),

    async insert(key: ApiKey): Promise<void> {
      for (const { sql, values } of engine.inserts(apiKeys, [key as object as Row])) await run(sql, values);
    },

    async update({ workspaceId, id }: ApiKey, changes: Partial<ApiKey>): Promise<void> {
      const { sql, values } = updateOf(apiKeys, workspaceId, id, changes as object as Row);
      await run(sql, values);
    },
  };
}
