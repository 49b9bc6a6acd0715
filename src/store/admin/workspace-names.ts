/**
 * The table of workspaces: a number, which all rows of a workspace have, and a name, which an operator can change. A deleted
 * workspace has no name, but keeps its number, so that the number is never used again.
 */
import { WorkspaceDeleted } from '../connections/database-error.ts';
import type { Run } from '../connections/driver.ts';
import type { Database } from '../database.ts';
import type { Dialect } from '../query/dialect.ts';
import { runQuery } from '../query/rows.ts';
import type { WorkspaceId } from '../query/tables.ts';

export async function findWorkspace({ builder }: Dialect, run: Run, name: string): Promise<WorkspaceId | undefined> {
  const [row] = await runQuery(run, builder('workspaces').where('name', name).select('number'));
  return row && { number: Number(row.number), name };
}

/** Returns the workspace with this name, and creates it if there is none. Throws a 503 if another process deletes it at once. */
export async function openWorkspace(
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
