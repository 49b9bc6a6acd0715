/** A service may run during these commands. */
import { isWorkspaceName, stateOf, workspaceNameForm } from '../auth/keys.ts';
import type { Config } from '../config.ts';
import { StartError } from '../errors.ts';
import { listField, pluralize } from '../model/labels.ts';
import { program } from '../program.ts';
import { recordKinds } from '../records/index.ts';
import { createWorkspaces, recordCount, type Workspace, type Workspaces } from '../store/admin/workspaces.ts';
import { createTablesIfNew, longStatementTimeoutMs, requireUpToDate, withDatabase } from './database.ts';
import { ask, printTable } from './terminal.ts';

const withWorkspaces = (config: Config, work: (workspaces: Workspaces) => Promise<void>): Promise<void> =>
  withDatabase(config, { statementTimeout: longStatementTimeoutMs }, async (database) => {
    await createTablesIfNew(database);
    await work(createWorkspaces(database, recordKinds));
  });

export const listWorkspaces = (config: Config, { json = false }: { json?: boolean }) =>
  withDatabase(config, { statementTimeout: longStatementTimeoutMs }, async (database) => {
    await requireUpToDate(database);
    const list = await createWorkspaces(database, recordKinds).list();
    if (json) return console.log(JSON.stringify(list.map(workspaceJson), null, 2));
    if (list.length === 0) return console.error(`There are no workspaces: create one with ${program} keys create.`);
    printTable(
      ['workspace', 'records', 'keys', 'valid keys'],
      list.map((workspace) => [
        workspace.name,
        recordCount(workspace),
        workspace.keys.length,
        countValidKeys(workspace),
      ]),
    );
  });

export function renameWorkspace(config: Config, from: string, to: string): Promise<void> {
  if (!isWorkspaceName(to)) throw new StartError(`<new-name>: ${workspaceNameForm}`);
  return withWorkspaces(config, async (workspaces) => {
    const moved = await workspaces.rename(from, to);
    console.log(`Renamed ${from} to ${to} with ${describeContents(moved)}.`);
    if (moved.keys.length > 0) console.log(`Its keys keep working, with ${from} in their prefix.`);
  });
}

export const deleteWorkspace = (config: Config, name: string, { yes = false }: { yes?: boolean }) =>
  withWorkspaces(config, async (workspaces) => {
    const found = await workspaces.findExisting(name);
    console.log(`The workspace ${name} has ${describeContents(found)}.`);
    if (!yes) await confirmDeletion(name);
    await workspaces.remove(name, found);
    console.log(`Deleted ${name}.`);
  });

async function confirmDeletion(name: string): Promise<void> {
  const entered = await ask(`This cannot be undone. Type ${name} to delete all of it: `);
  if (entered !== name) throw new StartError('not confirmed: nothing was deleted');
}

/** Scripts read this: fields may be added, not renamed or removed. */
const workspaceJson = (workspace: Workspace) => ({
  workspace: workspace.name,
  records: recordCount(workspace),
  recordsByKind: Object.fromEntries(recordKinds.map((kind) => [listField(kind), workspace.records.get(kind.table)])),
  keys: workspace.keys.length,
  validKeys: countValidKeys(workspace),
});

const countValidKeys = ({ keys }: Workspace): number => keys.filter((key) => stateOf(key) === 'active').length;

function describeContents(workspace: Workspace): string {
  const parts = recordKinds.flatMap((kind) => {
    const size = workspace.records.get(kind.table) ?? 0;
    return size > 0 ? [pluralize(size, kind)] : [];
  });
  const keys = pluralize(workspace.keys.length, { label: 'key', pluralLabel: 'keys' });
  return parts.length > 0 ? `${parts.join(', ')} and ${keys}` : keys;
}
