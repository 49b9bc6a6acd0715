/**
 * Rows have the number of their workspace: its name can change. A deleted workspace has no name but keeps its number,
 * which is never reused.
 */
import type { Knex } from 'knex';
import { ServiceError } from '../../errors.ts';
import { boolean, dateTime, required, text } from '../../model/fields.ts';
import type { FieldValues, Table } from '../../model/record-kind.ts';
import { WorkspaceDeleted } from '../connections/database-error.ts';
import type { Run } from '../connections/driver.ts';
import type { Database } from '../database.ts';
import { changedColumns } from '../query/columns.ts';
import type { Dialect } from '../query/dialect.ts';
import { literally, runQuery, selectRecords } from '../query/rows.ts';
import type { WorkspaceId } from '../query/tables.ts';

const fields = {
  workspaceId: required(text('workspace that it gives access to')),
  id: required({
    type: 'id',
    description: 'prefix, with the name that the workspace had when the key was created',
  }),
  userId: required(text('user that it identifies')),
  readOnly: required(boolean('whether it is read-only')),
  writes: text('names of the kinds that it may write, separated by commas; null for all'),
  label: text('what it is for'),
  secretHash: required(text('SHA-256 of the secret')),
  createdAt: required(dateTime('creation time')),
  expiresAt: dateTime('when it expires'),
  revokedAt: dateTime('when it was revoked'),
  lastUsedAt: dateTime('when it was last used, to the minute'),
  lastUsedFrom: text('address of this use'),
};

export type { WorkspaceId };

export type ApiKey = Omit<FieldValues<typeof fields>, 'workspaceId'> & { readonly workspace: WorkspaceId };

export const apiKeys: Table = { table: 'api_keys', label: 'API key', key: ['id'], storedFields: fields };

const namedKeys: Table = {
  ...apiKeys,
  storedFields: { ...fields, name: required(text('name of the workspace')) },
};

export type KeyStore = ReturnType<typeof createKeyStore>;

export function createKeyStore({ run, read, dialect }: Pick<Database, 'run' | 'read' | 'dialect'>) {
  const { builder, filters } = dialect;

  /** Safe: all rows are API keys. */
  async function select(condition?: Knex.Raw): Promise<ApiKey[]> {
    const rows = builder('api_keys').join('workspaces', 'workspaces.number', 'api_keys.workspace_id');
    if (condition) rows.where(condition);
    const found = await selectRecords({ dialect, run: read }, namedKeys, rows.orderBy(['name', 'created_at', 'id']));
    return found.map(
      ({ workspaceId: number, name, ...key }) => ({ ...key, workspace: { number, name } }) as object as ApiKey,
    );
  }

  const isEmpty = async (): Promise<boolean> =>
    (await runQuery(read, builder('api_keys').select(builder.raw('1')).limit(1, literally))).length === 0;

  const findAll = async (ids: readonly string[]): Promise<ApiKey[]> => select(filters.isOneOf('id', 'id', ids));

  return {
    isEmpty,

    /** False while the database is unavailable: there may be keys. */
    isDefinitelyEmpty: (): Promise<boolean> =>
      isEmpty().catch((error: unknown) => {
        if (error instanceof ServiceError && error.status === 503) return false;
        throw error;
      }),

    findAll,

    find: async (id: string): Promise<ApiKey | undefined> => (await findAll([id]))[0],

    list: (): Promise<ApiKey[]> => select(),

    ofWorkspace: ({ number }: WorkspaceId): Promise<ApiKey[]> => select(builder.raw('workspace_id = ?', [number])),

    async insert({ workspace, ...key }: ApiKey): Promise<void> {
      const row = { ...key, workspaceId: workspace.number };
      for (const { sql, values } of dialect.inserts(apiKeys, [row])) await run(sql, values);
    },

    async update(id: string, changes: Omit<Partial<ApiKey>, 'workspace'>): Promise<boolean> {
      const changed = changedColumns(apiKeys, { ...changes });
      return (await runQuery(run, builder('api_keys').where('id', id).update(changed).returning('id'))).length > 0;
    },

    findOrCreateWorkspace: (name: string): Promise<WorkspaceId> => findOrCreateWorkspace({ dialect, read, run }, name),
  };
}

export async function findWorkspace({ builder }: Dialect, run: Run, name: string): Promise<WorkspaceId | undefined> {
  const [row] = await runQuery(run, builder('workspaces').where('name', name).select('number'));
  return row && { number: Number(row.number), name };
}

/** Throws a 503 if another process deletes the workspace meanwhile. */
export async function findOrCreateWorkspace(
  { dialect, read, run }: Pick<Database, 'dialect' | 'read' | 'run'>,
  name: string,
): Promise<WorkspaceId> {
  const found = await findWorkspace(dialect, read, name);
  if (found) return found;
  await runQuery(run, dialect.builder('workspaces').insert({ name }).onConflict('name').ignore());
  const created = await findWorkspace(dialect, run, name);
  if (!created) throw new WorkspaceDeleted();
  return created;
}
