/** Writes the log of changes, which are numbered without gaps, in the order of their commits; read-changes.ts reads it. */
import type { Run } from '../connections/driver.ts';
import type { Dialect } from '../query/dialect.ts';
import { runQuery } from '../query/run-query.ts';
import { changes, type NewChange } from '../query/tables.ts';

/** As late in a transaction as possible: until its commit, others that log changes of the workspace wait. */
export async function logChanges(
  dialect: Dialect,
  run: Run,
  workspaceId: number,
  entries: readonly NewChange[],
): Promise<void> {
  if (entries.length === 0) return;
  const last = await takeNumbers(dialect, run, workspaceId, entries.length);
  const first = last - entries.length + 1;
  const rows = entries.map((entry, index) => ({ ...entry, number: first + index }));
  for (const { sql, values } of dialect.inserts(changes, rows)) await run(sql, values);
}

/** Takes the next numbers of a workspace, and returns the last one. Others that take numbers of it wait until the transaction ends. */
export async function takeNumbers(
  { builder }: Dialect,
  run: Run,
  workspace_id: number,
  number: number,
): Promise<number> {
  const taken = builder('change_numbers')
    .insert({ workspace_id, number })
    .onConflict('workspace_id')
    .merge({ number: builder.raw('change_numbers.number + excluded.number') })
    .returning('number');
  const [row] = await runQuery(run, taken);
  return Number(row?.number);
}
