/** API keys as they are stored: found by workspace and prefix, and listed for the operator across all workspaces. */
import { ServiceError } from '../errors.ts';
import { boolean, dateTime, required, text } from '../model/fields.ts';
import type { Table } from '../model/record-kind.ts';
import { updateOf } from './columns.ts';
import type { Database } from './database.ts';
import type { Row } from './engine.ts';

/** What a key is found by. */
export interface KeyId {
  readonly workspaceId: string;
  /** The key's prefix. */
  readonly id: string;
}

export interface ApiKey extends KeyId {
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
  // Both read the elements of a JSON array as rows with a `value`.
  const elements = engine.knexConfig.client === 'pg' ? 'json_array_elements' : 'json_each';
  // Sound because rows are written from API keys only.
  const select = async (rest: string, values: readonly unknown[] = []) =>
    (await engine.select(read, apiKeys, rest, values)) as readonly object[] as ApiKey[];

  /** The keys with these ids, in no particular order, by one statement with two parameters at most. */
  async function findAll(ids: readonly KeyId[]): Promise<ApiKey[]> {
    const workspaces = new Set(ids.map(({ workspaceId }) => workspaceId));
    if (workspaces.size === 1) {
      const prefix = engine.oneOf(
        'id',
        ids.map(({ id }) => id),
      );
      return select(`where workspace_id = ? and ${prefix.sql}`, [...workspaces, ...prefix.values]);
    }
    const pairs = JSON.stringify(ids.map(({ workspaceId, id }) => [workspaceId, id]));
    // Two lists, of workspaces and of ids, would make the databases look for each id in each workspace.
    return select(`where (workspace_id, id) in (select value ->> 0, value ->> 1 from ${elements}(?) as _)`, [pairs]);
  }

  /** Whether there is no key in any workspace, usable or not. */
  const isEmpty = async (): Promise<boolean> => (await read(`select 1 from ${table} limit 1`)).length === 0;

  return {
    isEmpty,

    /** The same, as far as the database can tell now: while it is not available, there may be keys. */
    isKnownEmpty: (): Promise<boolean> =>
      isEmpty().catch((error: unknown) => {
        if (error instanceof ServiceError && error.status === 503) return false;
        throw error;
      }),

    findAll,

    find: async (workspaceId: string, id: string): Promise<ApiKey | undefined> =>
      (await findAll([{ workspaceId, id }]))[0],

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
