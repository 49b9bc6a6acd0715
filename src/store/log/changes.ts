/**
 * The log of changes: who created, changed and deleted which records of a workspace, and what they were before. Changes are numbered
 * without gaps, in the order of their commits. This file writes the log; read-changes.ts reads it.
 */

import type { RecordKind } from '../../model/record-kind.ts';
import type { Row, Run } from '../connections/driver.ts';
import type { Dialect } from '../query/dialect.ts';
import { runQuery } from '../query/run-query.ts';
import { type Author, changes, type NewChange, placesOf } from '../query/tables.ts';

/** Returns the creation of records that have their IDs. */
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

/**
 * Numbers the changes and writes them to the log, as late in their transaction as possible: until its commit, other
 * transactions that log changes of the same workspaces wait. Returns each workspace's last number.
 */
export async function logChanges(
  dialect: Dialect,
  run: Run,
  entries: readonly NewChange[],
): Promise<ReadonlyMap<number, number>> {
  if (entries.length === 0) return new Map();
  const { totals, places } = placesOf(entries);
  const numbers = await takeNumbers(dialect, run, totals);
  const numbered = places.map(({ change, later }) => ({
    ...change,
    number: (numbers.get(change.workspaceId) ?? 0) - later,
  }));
  for (const { sql, values } of dialect.inserts(changes, numbered)) await run(sql, values);
  return numbers;
}

/**
 * Takes the next numbers of workspaces, how many of each, and returns each one's last. Others that take numbers of these workspaces
 * wait until the transaction ends.
 */
export async function takeNumbers(
  { builder }: Dialect,
  run: Run,
  totals: ReadonlyMap<number, number>,
): Promise<ReadonlyMap<number, number>> {
  // In the order of the workspaces, so that of two transactions with the same workspaces, one waits for the other at the first of them.
  const taken = [...totals].sort(([a], [b]) => a - b);
  const rows = builder('change_numbers')
    .insert(taken.map(([workspace_id, number]) => ({ workspace_id, number })))
    .onConflict('workspace_id')
    .merge({ number: builder.raw('change_numbers.number + excluded.number') })
    .returning(['workspace_id', 'number']);
  return new Map((await runQuery(run, rows)).map(({ workspace_id, number }) => [Number(workspace_id), Number(number)]));
}
