/** The operator's view of workspaces. Requests never come here: their store is bound to one workspace. */
import type { Knex } from 'knex';
import { StartError } from '../../errors.ts';
import type { Table } from '../../model/record-kind.ts';
import { program } from '../../program.ts';
import type { Run } from '../connections/driver.ts';
import type { Database } from '../database.ts';
import { rowsQuery, runQuery } from '../query/rows.ts';
import { changes, type WorkspaceId } from '../query/tables.ts';
import { takeChangeNumbers } from '../writes/apply-changes.ts';
import { type ApiKey, createKeyStore, findWorkspace } from './api-keys.ts';

export interface Workspace extends WorkspaceId {
  readonly records: ReadonlyMap<string, number>;
  readonly keys: readonly ApiKey[];
}

export const recordCount = ({ records }: Workspace): number =>
  [...records.values()].reduce((sum, size) => sum + size, 0);

/**
 * False for a workspace that has only the log of deleted records, and for the workspace of requests without a key before its
 * first record.
 */
const isShown = (workspace: Workspace): boolean => recordCount(workspace) > 0 || workspace.keys.length > 0;

export type Workspaces = ReturnType<typeof createWorkspaces>;

export function createWorkspaces(database: Database, tables: readonly Table[]) {
  const { dialect, read, transaction } = database;
  const { builder, lock } = dialect;
  const keysIn = (run: Run) => createKeyStore({ run, read: run, dialect });

  async function find(run: Run, name: string): Promise<Workspace | undefined> {
    const id = await findWorkspace(dialect, run, name);
    if (!id) return undefined;
    const records = new Map<string, number>();
    for (const table of tables) records.set(table.table, await count(run, table, id));
    return { ...id, records, keys: await keysIn(run).ofWorkspace(id) };
  }

  async function count(run: Run, table: Table, { number }: WorkspaceId): Promise<number> {
    const [row] = await runQuery(run, rowsQuery(dialect, table, number).count({ count: '*' }));
    return Number(row?.count);
  }

  async function hasLog(run: Run, { number }: WorkspaceId): Promise<boolean> {
    return (await runQuery(run, rowsQuery(dialect, changes, number).select('number').limit(1))).length > 0;
  }

  async function findExisting(run: Run, name: string): Promise<Workspace> {
    const workspace = await find(run, name);
    if (workspace && (isShown(workspace) || (await hasLog(run, workspace)))) return workspace;
    throw new StartError(`there is no workspace ${name}: see ${program} workspaces list`);
  }

  /** Serializes changes: on Postgres, two commands could otherwise together delete all keys. */
  const change = <T>(work: (run: Run) => Promise<T>): Promise<T> =>
    transaction(async (run) => {
      if (dialect.lockMaintenance) await run(dialect.lockMaintenance);
      return work(run);
    });

  const stopWrites = ({ number }: WorkspaceId, run: Run) => takeChangeNumbers(dialect, run, number, 1);

  /**
   * Writes are stopped after a first pass. Before, this would wait itself, for those that have locked records and need a number. What they
   * have committed meanwhile is deleted in a second pass.
   */
  async function deleteRecords(run: Run, workspace: WorkspaceId): Promise<void> {
    const deleteAll = async () => {
      for (const table of tables) await runQuery(run, rowsQuery(dialect, table, workspace.number).delete());
    };
    await deleteAll();
    await stopWrites(workspace, run);
    await deleteAll();
  }

  /**
   * Gives up the number of a workspace without records, in which writes are stopped. What is still written with it, by a process that
   * has not noticed yet, fails.
   */
  async function giveUp(run: Run, { number }: WorkspaceId): Promise<void> {
    for (const table of ['changes', 'idempotency_keys']) {
      await runQuery(run, builder(table).where('workspace_id', number).delete());
    }
    const last: Knex.Raw = builder.raw('number');
    await runQuery(run, builder('change_numbers').where('workspace_id', number).update({ final_number: last }));
    await runQuery(run, builder('workspaces').where('number', number).update({ name: null }));
  }

  /** Gives the keys of a workspace that has never had records to the one that gets its name. */
  async function takeName(run: Run, name: string, { number }: WorkspaceId): Promise<void> {
    const other = await findWorkspace(dialect, run, name);
    if (!other) return;
    await stopWrites(other, run);
    const found = await find(run, name);
    if (found && recordCount(found) > 0) {
      throw new StartError(`the workspace ${name} already has records: choose a name without records`);
    }
    if (await hasLog(run, other)) {
      throw new StartError(
        `the workspace ${name} has had records, whose history would be lost: choose another name, or delete it first`,
      );
    }
    await runQuery(run, builder('api_keys').where('workspace_id', other.number).update({ workspace_id: number }));
    await giveUp(run, other);
  }

  return {
    async list(): Promise<Workspace[]> {
      const rows = builder('workspaces').whereNotNull('name').orderBy('name').select('name');
      const found: Workspace[] = [];
      for (const { name } of await runQuery(read, rows)) {
        const workspace = await find(read, String(name));
        if (workspace && isShown(workspace)) found.push(workspace);
      }
      return found;
    },

    find: (name: string): Promise<Workspace | undefined> => find(read, name),

    findExisting: (name: string): Promise<Workspace> => findExisting(read, name),

    /**
     * Gives a workspace another name. If there is a workspace with that name, it may have keys, but must never have had records: its keys
     * give access to the renamed one. All keys keep working, with the name in their prefix that their workspace had before.
     */
    rename: (from: string, to: string): Promise<Workspace> =>
      change(async (run) => {
        if (from === to) throw new StartError(`the workspace is already called ${to}`);
        const renamed = await findExisting(run, from);
        await takeName(run, to, renamed);
        await runQuery(run, builder('workspaces').where('number', renamed.number).update({ name: to }));
        return renamed;
      }),

    /** Refuses to delete the last keys. Throws a StartError if the name now belongs to another workspace than the one shown. */
    remove: (name: string, shown?: WorkspaceId): Promise<void> =>
      change(async (run) => {
        const deleted = await findExisting(run, name);
        if (shown && shown.number !== deleted.number) {
          throw new StartError(`${name} has become the name of another workspace: nothing was deleted`);
        }
        if (deleted.keys.length > 0) await requireOtherKeys(run, deleted);
        // Locks come first, as in writes: otherwise this could wait for a write that waits for it. A write that runs meanwhile may store
        // a lock again, which has no effect.
        if (lock) await runQuery(run, builder('locks').where('workspace_id', deleted.number).delete());
        await deleteRecords(run, deleted);
        await giveUp(run, deleted);
        await runQuery(run, builder('api_keys').where('workspace_id', deleted.number).delete());
      }),
  };

  /** Rejects deleting the last keys: without any, the service would be open again. */
  async function requireOtherKeys(run: Run, { name, keys }: Workspace): Promise<void> {
    const [row] = await runQuery(run, builder('api_keys').count({ count: '*' }));
    if (Number(row?.count) > keys.length) return;
    throw new StartError(
      `${name} has the only API keys, without which the service would be open to everybody on its machine: ` +
        'create a key for another workspace first',
    );
  }
}
