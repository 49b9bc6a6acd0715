/**
 * The operator's view of workspaces: what each holds, and renaming and deleting whole ones, in one transaction each. Requests
 * never come here: their store is bound to one workspace.
 */
import type { Knex } from 'knex';
import { StartError } from '../errors.ts';
import type { Table } from '../model/record-kind.ts';
import { type ApiKey, apiKeys, createKeyStore, selectKeys, workspaceOfKey } from './api-keys.ts';
import { takeNumbers } from './changes.ts';
import type { Database } from './database.ts';
import { DatabaseError, featureNotSupported, isConflict } from './database-error.ts';
import type { Run } from './driver.ts';
import { rowsQuery, runQuery } from './query.ts';
import { closeName, deleteLocks, deleteLog, isNameClosed, moveLog, openName } from './workspace-log.ts';

/** A workspace exists if it has a record or a key: a log of records that were deleted does not make one. */
export interface Workspace {
  readonly name: string;
  /** The number of records by the name of their table. */
  readonly records: ReadonlyMap<string, number>;
  readonly keys: readonly ApiKey[];
}

/** A workspace that was renamed or deleted, with what it had. */
export interface GivenUp extends Workspace {
  /** Whether its name is closed, because processes may use it for a few seconds that have not noticed yet. */
  readonly isClosed: boolean;
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
    throw new StartError(`there is no workspace ${name}: see node dist/src/cli.js workspaces list`);
  }

  /** On Postgres, two commands could otherwise each delete the last keys but the other's. */
  const change = <T>(onConflict: string, work: (run: Run) => Promise<T>): Promise<T> =>
    transaction(async (run) => {
      if (dialect.lockMaintenance) await run(dialect.lockMaintenance);
      return work(run);
    }).catch((error: unknown) => {
      throw isConflict(error) ? new StartError(onConflict) : error;
    });

  /**
   * Changes the records of all tables, and returns how many there were: others may write between a count and the change. Then `takeNumbers`
   * makes others wait that write in the workspaces. Before, it would wait itself, for those that have locked records and need a number. What
   * they have committed meanwhile is changed in a second pass.
   */
  async function changeRows<T>(
    run: Run,
    changeOf: (table: Table) => Knex.QueryBuilder,
    takeNumbers: () => Promise<T>,
  ): Promise<{ readonly records: ReadonlyMap<string, number>; readonly numbers: T }> {
    const records = new Map<string, number>();
    const changeAll = async () => {
      for (const table of tables) {
        const changed = await dialect.runCounted(run, changeOf(table));
        records.set(table.table, (records.get(table.table) ?? 0) + changed);
      }
    };
    await changeAll();
    const numbers = await takeNumbers();
    await changeAll();
    return { records, numbers };
  }

  /** Unless the service is open: then no process has cached the name, which is `default`, and stays in use. Returns whether it was closed. */
  async function close(run: Run, name: string): Promise<boolean> {
    const isOpen = await createKeyStore({ run, read: run, dialect }).isEmpty();
    if (!isOpen) await closeName(dialect, run, name);
    return !isOpen;
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
     * not be told apart again. All keys keep working, with the old name in their prefix. Closes the old name, and opens the new one.
     */
    rename: (from: string, to: string): Promise<GivenUp> =>
      change(writtenMeanwhile, async (run) => {
        if (from === to) throw new StartError(`the workspace is called ${to} already`);
        const moved = await findExisting(run, from);
        if (sizeOf(await find(run, to)) > 0) {
          throw new StartError(
            `the workspace ${to} has records: a workspace is renamed only to a name without records`,
          );
        }
        const records = await moveRows(run, from, to);
        const isClosed = await close(run, from);
        await runQuery(run, keysOf(from).update({ moved_to: to }));
        return { ...moved, records, isClosed };
      }),

    /** Deletes all records of a workspace, their log and all keys, unless the service would be left without keys. Closes the name. */
    remove: (name: string): Promise<GivenUp> =>
      change(writtenMeanwhile, async (run) => {
        const deleted = await findExisting(run, name);
        if (deleted.keys.length > 0) await requireOtherKeys(run, deleted);
        const records = await deleteRows(run, name);
        const isClosed = await close(run, name);
        await runQuery(run, keysOf(name).delete());
        return { ...deleted, records, isClosed };
      }),

    /** Whether the name was given up, and not opened again for another workspace. */
    isClosed: (name: string): Promise<boolean> => isNameClosed(dialect, read, name),
  };

  async function deleteRows(run: Run, name: string): Promise<ReadonlyMap<string, number>> {
    const deletionOf = (table: Table) => rowsQuery(dialect, table, name).delete();
    await deleteLocks(dialect, run, name);
    const { records } = await changeRows(run, deletionOf, () => takeNumbers(dialect, run, new Map([[name, 1]])));
    await deleteLog(dialect, run, name);
    return records;
  }

  async function moveRows(run: Run, from: string, to: string): Promise<ReadonlyMap<string, number>> {
    const moveOf = (table: Table) => rowsQuery(dialect, table, from).update({ workspace_id: to });
    const one = new Map([
      [from, 1],
      [to, 1],
    ]);
    try {
      await deleteLocks(dialect, run, from);
      await openName(dialect, run, to);
      const { records, numbers } = await changeRows(run, moveOf, () => takeNumbers(dialect, run, one));
      await moveLog(dialect, run, { from, to, numbers });
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
