/** API keys as they are stored: found by workspace and prefix, and listed for the operator across all workspaces. */

import type { Knex } from 'knex';
import { ServiceError } from '../errors.ts';
import { boolean, dateTime, required, text } from '../model/fields.ts';
import type { Table } from '../model/record-kind.ts';
import type { Database } from './database.ts';
import type { Row } from './driver.ts';
import { literally, rowsOf, runQuery, updateOf } from './query.ts';

/** Identifies a key. */
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
  /** The hash of a replaced secret, which is valid until `previousExpiresAt`. */
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

export function createKeyStore({ run, read, dialect }: Pick<Database, 'run' | 'read' | 'dialect'>) {
  const { builder } = dialect;
  const keys = () => builder(apiKeys.table);
  // Sound because rows are written from API keys only.
  const select = async (rows: Knex.QueryBuilder) =>
    (await dialect.select(read, apiKeys, rows)) as readonly object[] as ApiKey[];

  /** The keys with these ids, in no particular order, by one statement with two parameters at most. */
  async function findAll(ids: readonly KeyId[]): Promise<ApiKey[]> {
    const [workspaceId, ...others] = new Set(ids.map((key) => key.workspaceId));
    if (workspaceId === undefined) return [];
    if (others.length === 0) {
      return select(rowsOf(dialect, apiKeys, workspaceId, { where: [{ field: 'id', in: ids.map(({ id }) => id) }] }));
    }
    // Two lists, of workspaces and of IDs, would make the databases look for each ID in each workspace.
    const isPair = `(workspace_id, id) in (select value ->> 0, value ->> 1 from ${dialect.jsonElements}(?) as _)`;
    return select(keys().whereRaw(isPair, [JSON.stringify(ids.map((key) => [key.workspaceId, key.id]))]));
  }

  /** Whether there is no key in any workspace, usable or not. */
  const isEmpty = async (): Promise<boolean> =>
    (await runQuery(read, keys().select(builder.raw('1')).limit(1, literally))).length === 0;

  return {
    isEmpty,

    /** Like isEmpty, but false while the database is unavailable: there may be keys. */
    isDefinitelyEmpty: (): Promise<boolean> =>
      isEmpty().catch((error: unknown) => {
        if (error instanceof ServiceError && error.status === 503) return false;
        throw error;
      }),

    findAll,

    find: async (workspaceId: string, id: string): Promise<ApiKey | undefined> =>
      (await findAll([{ workspaceId, id }]))[0],

    list: (): Promise<ApiKey[]> => select(keys().orderBy(['workspace_id', 'created_at', 'id'])),

    async insert(key: ApiKey): Promise<void> {
      for (const { sql, values } of dialect.inserts(apiKeys, [key as object as Row])) await run(sql, values);
    },

    async update({ workspaceId, id }: ApiKey, changes: Partial<ApiKey>): Promise<void> {
      await runQuery(run, updateOf(dialect, apiKeys, workspaceId, id, changes as object as Row));
    },
  };
}
