/**
 * The log of changes: who created, changed and deleted which records of a workspace, and what they were before. Changes are numbered
 * without gaps, in the order of their commits. This file writes the log; read-changes.ts reads it.
 */
import { dateTime, json, required, text } from '../model/fields.ts';
import type { RecordKind, Table } from '../model/record-kind.ts';
import type { Dialect } from './dialect.ts';
import type { Row, Run } from './driver.ts';
import { runQuery } from './query.ts';

/** Who makes the writes of a request, and why. */
export interface Author {
  readonly userId: string | null;
  readonly requestId: string | null;
  readonly message: string | null;
}

export type Action = 'created' | 'updated' | 'deleted';

/** The creation of records with successive IDs, or the change or deletion of one record. */
export interface NewChange extends Author {
  readonly workspaceId: number;
  /** The name of the record kind. */
  readonly kind: string;
  readonly action: Action;
  readonly firstId: string;
  readonly records: number;
  readonly at: string;
  /** The record before it was changed or deleted, without its workspace, which may be renamed. */
  readonly before: Row | null;
}

export const whole = (description: string) =>
  ({ type: 'number', description, min: 1, max: Number.MAX_SAFE_INTEGER }) as const;

/** The number of each workspace's last change. */
export const changeNumbers: Table = {
  table: 'change_numbers',
  label: 'change number',
  key: ['workspaceId'],
  storedFields: {
    workspaceId: required(text('workspace')),
    number: required(whole('number of its last change')),
  },
};

/** A row that stands for several creations has the number of the last one. */
export const changes: Table = {
  table: 'changes',
  label: 'change',
  key: ['workspaceId', 'number'],
  storedFields: {
    workspaceId: required(text('workspace')),
    number: required(whole('number of the change in its workspace')),
    kind: required(text('kind of the records')),
    action: required(text('created, updated or deleted')),
    firstId: required(text('ID of the record, or of the first one')),
    records: required(whole('number of records')),
    at: required(dateTime('when the records were changed')),
    userId: text('user of the API key'),
    requestId: text('ID of the request'),
    message: text('reason that the request has given'),
    before: json('the record before the change'),
  },
};

/** The creation of records that have their IDs. */
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

/** How many changes each workspace has, by its ID, and how many changes of the same workspace come after each change. */
export function placesOf(entries: readonly NewChange[]) {
  const sums = new Map<number, number>();
  const places = entries.toReversed().map((change) => {
    const later = sums.get(change.workspaceId) ?? 0;
    sums.set(change.workspaceId, later + change.records);
    return { change, later };
  });
  return { totals: sums as ReadonlyMap<number, number>, places: places.toReversed() };
}
