/**
 * `yardgraph workspaces`: lists workspaces, and renames or deletes one with all its records and keys. A service may run meanwhile: no
 * record that it has accepted may be left under a name that is given up.
 */
import { createInterface } from 'node:readline/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { isWorkspaceName, workspaceNameForm } from '../auth/key.ts';
import { anonymous, keyChangeDelay } from '../auth/keyring.ts';
import { stateOf } from '../auth/keys.ts';
import type { Config } from '../config.ts';
import { StartError } from '../errors.ts';
import { counted, listField } from '../model/labels.ts';
import { recordKinds } from '../records/index.ts';
import type { ApiKey } from '../store/api-keys.ts';
import { createWorkspaces, type GivenUp, sizeOf, type Workspace, type Workspaces } from '../store/workspaces.ts';
import { requireUpToDate, withDatabase } from './database.ts';
import { printTable } from './table.ts';

/** Milliseconds. Long, because one statement may change millions of records. */
const statementTimeout = 24 * 3_600_000;

const withWorkspaces = (config: Config, work: (workspaces: Workspaces) => Promise<void>): Promise<void> =>
  withDatabase(config, { statementTimeout }, async (database) => {
    await database.migrate();
    await work(createWorkspaces(database, recordKinds));
  });

export const listWorkspaces = (config: Config, { json = false }: { json?: boolean }) =>
  withDatabase(config, { statementTimeout }, async (database) => {
    await requireUpToDate(database);
    const list = await createWorkspaces(database, recordKinds).list();
    if (json) return console.log(JSON.stringify(list.map(toJson), null, 2));
    if (list.length === 0)
      return console.error('There are no workspaces: create one with node dist/src/cli.js keys create.');
    printTable(
      ['workspace', 'records', 'keys', 'valid keys'],
      list.map((workspace) => [workspace.name, sizeOf(workspace), workspace.keys.length, validKeys(workspace)]),
    );
  });

export function renameWorkspace(config: Config, from: string, to: string): Promise<void> {
  if (!isWorkspaceName(to)) throw new StartError(`<new-name>: ${workspaceNameForm}`);
  return withWorkspaces(config, async (workspaces) => {
    await untilFree(workspaces, to);
    const end = stopwatch();
    const moved = await workspaces.rename(from, to);
    console.log(`Renamed ${from} to ${to} with ${contentsOf(moved)}, in ${end()}.`);
    if (moved.keys.length > 0) console.log(`Its keys keep working, with ${from} in their prefix.`);
    await untilNoticed(moved);
  });
}

export const deleteWorkspace = (config: Config, name: string, { yes = false }: { yes?: boolean }) =>
  withWorkspaces(config, async (workspaces) => {
    const found = await workspaces.findExisting(name);
    console.log(`The workspace ${name} has ${contentsOf(found)}.`);
    if (!yes) await confirm(name);
    const end = stopwatch();
    const deleted = await workspaces.remove(name);
    console.log(`Deleted ${name} with ${contentsOf(deleted)}, in ${end()}.`);
    await untilNoticed(deleted);
  });

/** Waits until no running process uses the name of a workspace that was renamed or deleted, because of keys that it has cached. */
async function untilNoticed({ name, keys, isClosed }: GivenUp): Promise<void> {
  if (!isClosed || !(name === anonymous.workspaceId || keys.some(mayBeCached))) return;
  console.error(`Waiting ${delay} until running services have noticed: until then, they refuse to write in ${name}.`);
  await pause(keyChangeDelay);
}

/** Waits the same for a name that is to be used again: what a process still wrote would be in the new workspace. */
export async function untilFree(workspaces: Workspaces, name: string): Promise<void> {
  if (!(await workspaces.isClosed(name))) return;
  console.error(
    `A workspace ${name} was renamed or deleted before; waiting ${delay} until no running service uses its name.`,
  );
  await pause(keyChangeDelay);
}

const delay = `${keyChangeDelay / 1_000} s`;

/** Also a key that was revoked or has expired just now. */
const mayBeCached = ({ revokedAt, expiresAt }: ApiKey): boolean =>
  [revokedAt, expiresAt].every((end) => end === null || Date.parse(end) > Date.now() - keyChangeDelay);

/** Throws a StartError unless the name is typed in the terminal. */
async function confirm(name: string): Promise<void> {
  if (!process.stdin.isTTY) throw new StartError('not confirmed: in a script, confirm with --yes');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and Ctrl-D close it.
  const closed = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)));
  const typed = terminal.question(`This cannot be undone. Type ${name} to delete all of it: `);
  const entered = await Promise.race([typed, closed]);
  terminal.close();
  if (entered !== name) throw new StartError('not confirmed: nothing was deleted');
}

/** Scripts read this: fields may be added, but none is renamed or removed. */
const toJson = (workspace: Workspace) => ({
  workspace: workspace.name,
  records: sizeOf(workspace),
  recordsByKind: Object.fromEntries(recordKinds.map((kind) => [listField(kind), workspace.records.get(kind.table)])),
  keys: workspace.keys.length,
  validKeys: validKeys(workspace),
});

const validKeys = ({ keys }: Workspace): number =>
  keys.filter((key) => ['active', 'rotating'].includes(stateOf(key))).length;

/** `10 assets, 2 locations and 1 key` */
function contentsOf(workspace: Workspace): string {
  const parts = recordKinds.flatMap((kind) => {
    const size = workspace.records.get(kind.table) ?? 0;
    return size > 0 ? [counted(size, kind)] : [];
  });
  const keys = counted(workspace.keys.length, { label: 'key', pluralLabel: 'keys' });
  return parts.length > 0 ? `${parts.join(', ')} and ${keys}` : keys;
}

/** Returns a function that says how long it took since, such as `0.3 s`. */
function stopwatch(): () => string {
  const start = performance.now();
  return () => `${((performance.now() - start) / 1_000).toFixed(1)} s`;
}
