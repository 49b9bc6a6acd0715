/** Stored API keys: looked up by workspace and prefix, and listed for the operator across all workspaces. */
import type { Knex } from 'knex';
import { ServiceError } from '../errors.ts';
import { boolean, dateTime, required, text } from '../model/fields.ts';
import type { Table } from '../model/record-kind.ts';
import type { Database } from './database.ts';
import type { Dialect } from './dialect.ts';
import type { Row, Run } from './driver.ts';
import { literally, rowsQuery, runQuery, updateQuery } from './query.ts';

/** Identifies a key. */
export interface KeyId {
  /** The workspace in the key's prefix. */
  readonly workspaceId: string;
  /** The key's prefix. */
  readonly id: string;
}

export interface ApiKey extends KeyId {
  readonly userId: string;
  readonly readOnly: boolean;
  readonly label: string | null;
  readonly secretHash: string;
  /** The hash of the previous secret, which is valid until `previousExpiresAt`. */
  readonly previousHash: string | null;
  readonly previousExpiresAt: string | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
  /** The name of its workspace, if that was renamed after the key was created: the prefix keeps the old name. */
  readonly movedTo: string | null;
}

/** The workspace that a key gives access to. */
export const workspaceOfKey = ({ movedTo, workspaceId }: ApiKey): string => movedTo ?? workspaceId;

export const apiKeys: Table = {
  table: 'api_keys',
  label: 'API key',
  storedFields: {
    workspaceId: required(text('workspace in its prefix')),
    id: { type: 'id', required: true, description: 'prefix' },
    userId: required(text('user that it identifies')),
    readOnly: required(boolean('whether it is read-only')),
    label: text('what it is for'),
    secretHash: required(text('SHA-256 of the secret')),
    previousHash: text('SHA-256 of the previous secret'),
    previousExpiresAt: dateTime('when the previous secret expires'),
    createdAt: required(dateTime('creation time')),
    expiresAt: dateTime('when it expires'),
    revokedAt: dateTime('when it was revoked'),
    lastUsedAt: dateTime('when it was last used, to the minute'),
    movedTo: text('workspace that it gives access to, if that was renamed'),
  },
};

/** The cast is safe: rows are written only from API keys. */
export const selectKeys = async (dialect: Dialect, run: Run, rows: Knex.QueryBuilder) =>
  (await dialect.select(run, apiKeys, rows)) as readonly object[] as ApiKey[];

export type KeyStore = ReturnType<typeof createKeyStore>;

export function createKeyStore({ run, read, dialect }: Pick<Database, 'run' | 'read' | 'dialect'>) {
  const { builder } = dialect;
  const keys = () => builder(apiKeys.table);
  const select = (rows: Knex.QueryBuilder) => selectKeys(dialect, read, rows);

  /** Reads the keys with these IDs, in no particular order, by one statement with at most two parameters. */
  async function findAll(ids: readonly KeyId[]): Promise<ApiKey[]> {
    const [workspaceId, ...others] = new Set(ids.map((key) => key.workspaceId));
    if (workspaceId === undefined) return [];
    if (others.length === 0) {
      return select(rowsQuery(dialect, apiKeys, workspaceId, { where: { field: 'id', in: ids.map(({ id }) => id) } }));
    }
    // With two lists, of workspaces and of IDs, the databases would look for each ID in each workspace.
    const isPair = `(workspace_id, id) in (select value ->> 0, value ->> 1 from ${dialect.jsonElements}(?) as _)`;
    return select(keys().whereRaw(isPair, [JSON.stringify(ids.map((key) => [key.workspaceId, key.id]))]));
  }

  /** Whether no workspace has any key, valid or not. */
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
      await runQuery(run, updateQuery(dialect, apiKeys, workspaceId, id, changes as object as Row));
    },
  };
}
