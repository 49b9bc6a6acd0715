/** Writes the log of changes, which are numbered without gaps, in the order of their commits; read-changes.ts reads it. */
import type { RecordKind } from '../../model/record-kind.ts';
import type { Row, Run } from '../connections/driver.ts';
import type { Dialect } from '../query/dialect.ts';
import { runQuery } from '../query/run-query.ts';
import { type Author, changes, type NewChange, placesOf } from '../query/tables.ts';

export const creationOf = (
  { workspaceId, kind, author }: { workspaceId: number; kind: RecordKind; author: Author },
  records: readonly Row[],
): NewChange => ({
  ...author,
  workspaceId,
  kind: kind.name,
  action: 'created',
  firstId: String(records[0]?.id),
  records: records.length,
  at: String(records[0]?.createdAt),
  before: null,
});

/** As late in a transaction as possible: until its commit, others that log changes of the workspace wait. Returns the last number. */
export async function logChanges(
  dialect: Dialect,
  run: Run,
  workspaceId: number,
  entries: readonly NewChange[],
): Promise<number | undefined> {
  if (entries.length === 0) return undefined;
  const { total, places } = placesOf(entries);
  const last = await takeNumbers(dialect, run, workspaceId, total);
  const numbered = places.map(({ change, later }) => ({ ...change, number: last - later }));
  for (const { sql, values } of dialect.inserts(changes, numbered)) await run(sql, values);
  return last;
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
