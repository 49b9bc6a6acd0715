/**
 * The operator's view of workspaces: what each holds, and renaming and deleting whole ones, in one transaction each. Requests
 * never come here: their store is bound to one workspace.
 */
import type { Knex } from 'knex';
import { StartError } from '../errors.ts';
import type { Table } from '../model/record-kind.ts';
import { type ApiKey, apiKeys, createKeyStore, selectKeys, workspaceOfKey } from './api-keys.ts';
import type { Database } from './database.ts';
import { DatabaseError, featureNotSupported, isConflict } from './database-error.ts';
import type { Run } from './driver.ts';
import { rowsQuery, runQuery } from './query.ts';
import { deleteLog, moveLog } from './workspace-log.ts';

/** A workspace exists if it has a record or a key: a log of records that were deleted does not make one. */
export interface Workspace {
  readonly name: string;
  /** The number of records by the name of their table. */
  readonly records: ReadonlyMap<string, number>;
  readonly keys: readonly ApiKey[];
}

export const sizeOf = ({ records }: Workspace): number => [...records.values()].reduce((sum, size) => sum + size, 0);

const writtenMeanwhile = 'records were written meanwhile: stop the service, and try again; nothing was changed';

export type Workspaces = ReturnType<typeof createWorkspaces>;

export function createWorkspaces(database: Database, tables: readonly Table[]) {
  const { dialect, read, transaction } = database;
  const { builder } = dialect;
  /** A key's row stays where its prefix says, so that it is found with the same statement as before. */
  const keysOf = (name: string) => builder(apiKeys.table).whereRaw('coalesce(moved_to, workspace_id) = ?', [name]);

  /** Reads with one statement per table, and one for the keys. */
  async function find(run: Run, name: string): Promise<Workspace> {
    const records = new Map<string, number>();
    for (const table of tables) {
      const [row] = await runQuery(run, rowsQuery(dialect, table, name).count({ count: '*' }));
      records.set(table.table, Number(row?.count));
    }
    return { name, records, keys: await selectKeys(dialect, run, keysOf(name)) };
  }

  async function findExisting(run: Run, name: string): Promise<Workspace> {
    const workspace = await find(run, name);
    if (sizeOf(workspace) > 0 || workspace.keys.length > 0) return workspace;
    throw new StartError(`there is no workspace ${name}: see yardgraph workspaces list`);
  }

  /** On Postgres, two commands could otherwise each delete the last keys but the other's. */
  const change = <T>(onConflict: string, work: (run: Run) => Promise<T>): Promise<T> =>
    transaction(async (run) => {
      if (dialect.lockMaintenance) await run(dialect.lockMaintenance);
      return work(run);
    }).catch((error: unknown) => {
      throw isConflict(error) ? new StartError(onConflict) : error;
    });

  /** Changes the records of all tables, and returns how many there were: others may write between a count and the change. */
  async function changeRows(run: Run, changeOf: (table: Table) => Knex.QueryBuilder): Promise<Map<string, number>> {
    const records = new Map<string, number>();
    for (const table of tables) records.set(table.table, await dialect.runCounted(run, changeOf(table)));
    return records;
  }

  /** Records that have arrived under a name that was given up. With a key, it is a workspace of its own again. */
  async function requireNoKeys(run: Run, name: string): Promise<void> {
    const [key] = await runQuery(run, keysOf(name).select('id'));
    if (key) throw new StartError(`a key has been created for ${name}`);
  }

  return {
    /** All workspaces, by name. */
    async list(): Promise<Workspace[]> {
      const found = new Map<string, { name: string; records: Map<string, number>; keys: ApiKey[] }>();
      const named = (name: string) => {
        const empty = { name, records: new Map(tables.map(({ table }) => [table, 0])), keys: [] };
        const workspace = found.get(name) ?? empty;
        found.set(name, workspace);
        return workspace;
      };
      for (const { table } of tables) {
        const counts = builder(table).select('workspace_id').count({ count: '*' }).groupBy('workspace_id');
        for (const { workspace_id, count } of await runQuery(read, counts)) {
          named(String(workspace_id)).records.set(table, Number(count));
        }
      }
      for (const key of await createKeyStore(database).list()) named(workspaceOfKey(key)).keys.push(key);
      return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    /** What a workspace holds; nothing if there is none. */
    find: (name: string): Promise<Workspace> => find(read, name),

    /** Like `find`, but throws a StartError if there is none. */
    findExisting: (name: string): Promise<Workspace> => findExisting(read, name),

    /**
     * Gives the records, their log and the keys of a workspace to another, which may have keys but no records: merged records could
     * not be told apart again. All keys keep working, with the old name in their prefix. Returns what was moved.
     */
    rename: (from: string, to: string): Promise<Workspace> =>
      change(writtenMeanwhile, async (run) => {
        if (from === to) throw new StartError(`the workspace is called ${to} already`);
        const moved = await findExisting(run, from);
        if (sizeOf(await find(run, to)) > 0) {
          throw new StartError(
            `the workspace ${to} has records: a workspace is renamed only to a name without records`,
          );
        }
        const records = await moveRows(run, from, to);
        await runQuery(run, keysOf(from).update({ moved_to: to }));
        return { ...moved, records };
      }),

    /** Deletes all records of a workspace, their log and all keys, unless the service would be left without keys. Returns what was deleted. */
    remove: (name: string): Promise<Workspace> =>
      change(writtenMeanwhile, async (run) => {
        const deleted = await findExisting(run, name);
        if (deleted.keys.length > 0) await requireOtherKeys(run, deleted);
        const records = await deleteRows(run, name);
        await runQuery(run, keysOf(name).delete());
        return { ...deleted, records };
      }),

    /** Moves the records that have arrived under the old name since the workspace was renamed. Returns their numbers. */
    moveRest: (from: string, to: string): Promise<ReadonlyMap<string, number>> =>
      change(`a uid or another unique value of theirs is taken in ${to}`, async (run) => {
        await requireNoKeys(run, from);
        return moveRows(run, from, to);
      }),

    /** Deletes the records that have arrived since the workspace was deleted. Returns their numbers. */
    removeRest: (name: string): Promise<ReadonlyMap<string, number>> =>
      change('others are being written', async (run) => {
        await requireNoKeys(run, name);
        return deleteRows(run, name);
      }),
  };

  async function deleteRows(run: Run, name: string): Promise<Map<string, number>> {
    const records = await changeRows(run, (table) => rowsQuery(dialect, table, name).delete());
    await deleteLog(dialect, run, name);
    return records;
  }

  async function moveRows(run: Run, from: string, to: string): Promise<Map<string, number>> {
    try {
      const records = await changeRows(run, (table) => rowsQuery(dialect, table, from).update({ workspace_id: to }));
      await moveLog(dialect, run, from, to);
      return records;
    } catch (error) {
      if (!(error instanceof DatabaseError && error.code === featureNotSupported)) throw error;
      throw new StartError(
        'the tables are distributed by workspace (Citus), so no workspace can be renamed: nothing was changed',
      );
    }
  }

  /** Without any key the service would be open again. */
  async function requireOtherKeys(run: Run, { name, keys }: Workspace): Promise<void> {
    const [row] = await runQuery(run, builder(apiKeys.table).count({ count: '*' }));
    if (Number(row?.count) > keys.length) return;
    throw new StartError(
      `${name} has the only API keys, without which the service would be open to everybody on its machine: ` +
        'create a key for another workspace first',
    );
  }
}
