/** The operator's view: requests never come here. */
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

export interface Workspaces {
  list(): Promise<Workspace[]>;
  find(name: string): Promise<Workspace | undefined>;
  findExisting(name: string): Promise<Workspace>;
  /**
   * Another workspace may have the new name if it never had records: its keys then give access to the renamed one. Keys
   * keep working, with the old name in their prefix.
   */
  rename(from: string, to: string): Promise<Workspace>;
  /** Refuses to delete the last keys, or a workspace that is not the confirmed one. */
  remove(name: string, confirmed?: WorkspaceId): Promise<void>;
}

export function createWorkspaces(database: Database, tables: readonly Table[]): Workspaces {
  const reads = scopeOn(database, tables, database.read);
  /** On Postgres, two commands could otherwise together delete all keys. */
  const change = <T>(work: (scope: OperatorScope) => Promise<T>): Promise<T> =>
    database.transaction(async (run) => {
      const { lockMaintenance } = database.dialect;
      if (lockMaintenance) await run(lockMaintenance);
      return work(scopeOn(database, tables, run));
    });
  return {
    list: () => listShown(reads),
    find: (name) => findByName(reads, name),
    findExisting: (name) => findExisting(reads, name),
    rename: (from, to) => change((scope) => changeName(scope, from, to)),
    remove: (name, confirmed) => change((scope) => removeByName(scope, name, confirmed)),
  };
}

interface OperatorScope extends Pick<Database, 'dialect'> {
  readonly run: Run;
  readonly tables: readonly Table[];
}

const scopeOn = ({ dialect }: Database, tables: readonly Table[], run: Run): OperatorScope => ({
  dialect,
  tables,
  run,
});

async function listShown(scope: OperatorScope): Promise<Workspace[]> {
  const rows = scope.dialect.builder('workspaces').whereNotNull('name').orderBy('name').select('name');
  const shown: Workspace[] = [];
  for (const { name } of await runQuery(scope.run, rows)) {
    const workspace = await findByName(scope, String(name));
    if (workspace && isShown(workspace)) shown.push(workspace);
  }
  return shown;
}

/** Hides workspaces with only a log, or with nothing, such as the anonymous one. */
const isShown = (workspace: Workspace): boolean => recordCount(workspace) > 0 || workspace.keys.length > 0;

async function findByName(scope: OperatorScope, name: string): Promise<Workspace | undefined> {
  const { dialect, run, tables } = scope;
  const id = await findWorkspace(dialect, run, name);
  if (!id) return undefined;
  const records = new Map<string, number>();
  for (const table of tables) {
    const [row] = await runQuery(run, rowsQuery(dialect, table, id.number).count({ count: '*' }));
    records.set(table.table, Number(row?.count));
  }
  return { ...id, records, keys: await createKeyStore({ run, read: run, dialect }).ofWorkspace(id) };
}

async function findExisting(scope: OperatorScope, name: string): Promise<Workspace> {
  const workspace = await findByName(scope, name);
  if (workspace && (isShown(workspace) || (await hasLog(scope, workspace)))) return workspace;
  throw new StartError(`there is no workspace ${name}: see ${program} workspaces list`);
}

async function hasLog({ dialect, run }: OperatorScope, { number }: WorkspaceId): Promise<boolean> {
  return (await runQuery(run, rowsQuery(dialect, changes, number).select('number').limit(1))).length > 0;
}

async function changeName(scope: OperatorScope, from: string, to: string): Promise<Workspace> {
  if (from === to) throw new StartError(`the workspace is already called ${to}`);
  const renamed = await findExisting(scope, from);
  await takeName(scope, to, renamed);
  const { dialect, run } = scope;
  await runQuery(run, dialect.builder('workspaces').where('number', renamed.number).update({ name: to }));
  return renamed;
}

async function takeName(scope: OperatorScope, name: string, renamed: WorkspaceId): Promise<void> {
  const { dialect, run } = scope;
  const holder = await findWorkspace(dialect, run, name);
  if (!holder) return;
  await stopWrites(scope, holder);
  const found = await findByName(scope, name);
  if (found && recordCount(found) > 0) {
    throw new StartError(`the workspace ${name} already has records: choose a name without records`);
  }
  if (await hasLog(scope, holder)) {
    throw new StartError(
      `the workspace ${name} has had records, whose history would be lost: choose another name, or delete it first`,
    );
  }
  const keys = dialect.builder('api_keys').where('workspace_id', holder.number);
  await runQuery(run, keys.update({ workspace_id: renamed.number }));
  await retireNumber(scope, holder);
}

async function removeByName(scope: OperatorScope, name: string, confirmed?: WorkspaceId): Promise<void> {
  const { dialect, run } = scope;
  const { builder, lock } = dialect;
  const deleted = await findExisting(scope, name);
  if (confirmed && confirmed.number !== deleted.number) {
    throw new StartError(`${name} has become the name of another workspace: nothing was deleted`);
  }
  if (deleted.keys.length > 0) await requireOtherKeys(scope, deleted);
  // Locks first, as in writes, against deadlocks. A running write may store a lock again, without effect.
  if (lock) await runQuery(run, builder('locks').where('workspace_id', deleted.number).delete());
  await deleteAllRecords(scope, deleted);
  await retireNumber(scope, deleted);
  await runQuery(run, builder('api_keys').where('workspace_id', deleted.number).delete());
}

/** Without keys, the service would be open again. */
async function requireOtherKeys({ dialect, run }: OperatorScope, { name, keys }: Workspace): Promise<void> {
  const [row] = await runQuery(run, dialect.builder('api_keys').count({ count: '*' }));
  if (Number(row?.count) > keys.length) return;
  throw new StartError(
    `${name} has the only API keys, without which the service would be open to everybody on its machine: ` +
      'create a key for another workspace first',
  );
}

/**
 * Stops writes after a first pass: earlier, this would deadlock with a write that has locked records and needs a change
 * number. The second pass deletes records committed meanwhile.
 */
async function deleteAllRecords(scope: OperatorScope, workspace: WorkspaceId): Promise<void> {
  const { dialect, run, tables } = scope;
  const deleteAll = async () => {
    for (const table of tables) await runQuery(run, rowsQuery(dialect, table, workspace.number).delete());
  };
  await deleteAll();
  await stopWrites(scope, workspace);
  await deleteAll();
}

/** Writes wait for the change number until the transaction ends. */
const stopWrites = ({ dialect, run }: OperatorScope, { number }: WorkspaceId) =>
  takeChangeNumbers(dialect, run, number, 1);

async function retireNumber({ dialect, run }: OperatorScope, { number }: WorkspaceId): Promise<void> {
  const { builder } = dialect;
  for (const table of ['changes', 'import_runs', 'idempotency_keys']) {
    await runQuery(run, builder(table).where('workspace_id', number).delete());
  }
  const last = builder.raw('number');
  await runQuery(run, builder('change_numbers').where('workspace_id', number).update({ final_number: last }));
  await runQuery(run, builder('workspaces').where('number', number).update({ name: null }));
}
