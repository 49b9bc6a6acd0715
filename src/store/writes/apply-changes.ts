/**
 * Applies changes: statements for the records, and rows of the log.
 *
 * Invariants of the log:
 * - Each change of a record is a row, written in the transaction that changes the record.
 * - The changes of a workspace are numbered without gaps, in the order of the commits. A transaction takes its numbers
 *   last, since other writes of the workspace then wait for its commit.
 * - Rows have the number of the workspace, records its name. `before` has neither: a workspace may be renamed.
 */
import { tooLarge } from '../../errors.ts';
import { externalIdCount, longExternalIds, maxExternalIdsPerWrite, textLengthOfAll } from '../../model/fields.ts';
import { formatCount } from '../../model/issues.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import type { Row, Run, Statement, Usage } from '../connections/driver.ts';
import { tableColumns } from '../query/columns.ts';
import { withComputed, withDependent } from '../query/computed.ts';
import type { Dialect } from '../query/dialect.ts';
import { runQuery } from '../query/rows.ts';
import { type ChangeAuthor, changes as changesTable, importRuns, type LogRow } from '../query/tables.ts';
import type { WorkspaceScope } from '../records/read-budget.ts';
import { findStoredResult, type IdempotencyKey, idempotencyRow, storeResult, type WriteResult } from './idempotency.ts';
import type { QueuedCreation } from './queue.ts';
import { type Change, type Creation, createTx, type Decide } from './tx.ts';

export interface ChangeSource {
  readonly author: ChangeAuthor;
  /** The ID of the import that writes. */
  readonly importRun?: string | undefined;
}

export async function applyWrite<T>(
  scope: WorkspaceScope,
  { author, importRun }: ChangeSource,
  decide: Decide<T>,
  key?: IdempotencyKey,
): Promise<WriteResult<T>> {
  const earlier = key && (await findStoredResult<T>(scope, key));
  if (earlier) return earlier;
  const { changes, returned } = await decide(createTx(scope));
  requireFewExternalIds(changes);
  for (const group of groupChanges(changes)) {
    for (const { sql, values } of changeStatements(scope, group)) await scope.run(sql, values);
  }
  if (key) await storeResult(scope, key, returned);
  const last = await logChanges(scope, author, changes);
  if (importRun !== undefined && changes.length > 0) await countInRun(scope, importRun, author, changes, last);
  return { returned, isRepeat: false };
}

/** Throws the same errors as the write. */
export async function dryRun<T>(scope: WorkspaceScope, decide: Decide<T>): Promise<T> {
  const { changes, returned } = await decide(createTx(scope, { isDryRun: true }));
  requireFewExternalIds(changes);
  return returned;
}

/** The largest statement takes 20 ms to build. On SQLite, each external ID is a row. */
const maxCreated = 5_000;
const maxCreatedLength = 4_000_000;

/** Undefined if the creation is too large. */
export function toQueuedCreation<T>(
  { workspaceId, usage }: { readonly workspaceId: number; readonly usage: Usage },
  author: ChangeAuthor,
  { kind, values, references, decide }: Creation<T>,
  key?: IdempotencyKey,
): QueuedCreation<WriteResult<T>> | undefined {
  let externalIds = 0;
  for (const record of values) externalIds += externalIdCount(record.externalIds ?? {});
  const size = Math.max(
    values.length / maxCreated,
    externalIds / maxExternalIdsPerWrite,
    textLengthOfAll(values) / maxCreatedLength,
  );
  if (size > 1) return undefined;
  return {
    kind,
    size,
    async toInsert() {
      usage.statements += 1;
      const { changes, returned } = decide();
      const records = withComputed(
        kind,
        changes.flatMap(({ after }): Row[] => (after ? [after] : [])),
      );
      const at = String(records[0]?.createdAt);
      const change = { ...author, workspaceId, kind: kind.name, action: 'created', at, before: null } as const;
      const resultRow = key && (await idempotencyRow(workspaceId, key, returned));
      return { insert: { records, references, change, resultRow }, returned: { returned, isRepeat: false } };
    },
  };
}

/** The settings limit a single record. */
function requireFewExternalIds(changes: readonly Change[]): void {
  const written = changes.filter(({ before, after }) => !isSameValue(before?.externalIds, after?.externalIds));
  if (written.length <= 1) return;
  const countIn = (records: readonly (Row | null)[]) =>
    records.reduce((total, record) => total + externalIdCount(record?.externalIds ?? {}), 0);
  const stored = countIn(written.map(({ after }) => after));
  const removed = countIn(written.map(({ before }) => before));
  if (Math.max(stored, removed) <= maxExternalIdsPerWrite) return;
  const most = `more than ${formatCount(maxExternalIdsPerWrite)} external IDs (${longExternalIds})`;
  const problem = `the records have ${most}: send, change or delete fewer at a time`;
  throw tooLarge(problem, 'too many external IDs');
}

function groupChanges(changes: readonly Change[]): Change[][] {
  const groups: Change[][] = [];
  for (const change of changes) {
    const group = groups.at(-1);
    const isAlike = group?.[0]?.kind === change.kind && group[0].action === change.action;
    if (isAlike) group.push(change);
    else groups.push([change]);
  }
  return groups;
}

function* changeStatements({ dialect, workspaceId }: WorkspaceScope, changes: readonly Change[]): Generator<Statement> {
  const [{ kind, action } = {}] = changes;
  if (!kind) return;
  const after = withComputed(
    kind,
    changes.flatMap((change): Row[] => (change.after ? [change.after] : [])),
  );
  if (action === 'created') {
    const rows = after.map((record) => ({ ...record, workspaceId }));
    yield* dialect.inserts(kind, rows);
  }
  if (action === 'updated') {
    yield* clearTakenValues(dialect, workspaceId, kind, changes);
    yield* dialect.updates(kind, workspaceId, after, changedFields(kind, changes));
  }
  if (action === 'deleted') {
    const ids = changes.map(({ before }) => String(before?.id));
    yield* dialect.deletions(kind, workspaceId, ids);
  }
}

/** Clears unique values that other records take: a statement updates rows one by one. */
function* clearTakenValues(
  dialect: Dialect,
  workspaceId: number,
  kind: RecordKind,
  changes: readonly Change[],
): Generator<Statement> {
  for (const [name, { unique, required }] of Object.entries(kind.fields)) {
    if (!unique || required) continue;
    const taken = new Set(
      changes.flatMap(({ before, after }) => (before?.[name] === after?.[name] ? [] : [after?.[name]])),
    );
    const cleared = changes.flatMap(({ before }) => {
      const value = before?.[name] ?? null;
      return value !== null && taken.has(value) ? [{ ...before, [name]: null }] : [];
    });
    yield* dialect.updates(kind, workspaceId, cleared, new Set([name]));
  }
}

function changedFields(kind: RecordKind, changes: readonly Change[]): ReadonlySet<string> {
  const changed = new Set<string>();
  for (const { before, after } of changes) {
    for (const { field } of tableColumns(kind)) {
      if (!changed.has(field) && !isSameValue(before?.[field], after?.[field])) changed.add(field);
    }
  }
  return withDependent(kind, changed);
}

/** A new order of external IDs is a change. */
const isSameValue = (before: unknown, after: unknown): boolean =>
  before === after ||
  (typeof before === 'object' && typeof after === 'object' && JSON.stringify(before) === JSON.stringify(after));

/** Returns the number of the last change. */
async function logChanges(
  { dialect, run, workspaceId }: WorkspaceScope,
  author: ChangeAuthor,
  changes: readonly Change[],
): Promise<number> {
  if (changes.length === 0) return 0;
  const last = await takeChangeNumbers(dialect, run, workspaceId, changes.length);
  const first = last - changes.length + 1;
  const rows = changes.map((change, index) => ({ ...toLogRow(workspaceId, author, change), number: first + index }));
  for (const { sql, values } of dialect.inserts(changesTable, rows)) await run(sql, values);
  return last;
}

/** After the change numbers, which make writes of the same run wait for each other. */
async function countInRun(
  { dialect: { builder }, run, workspaceId }: WorkspaceScope,
  id: string,
  { userId, message }: ChangeAuthor,
  changes: readonly Change[],
  last: number,
): Promise<void> {
  const at = changes.at(-1)?.at ?? '';
  const counts = { created: 0, updated: 0, deleted: 0 };
  for (const { action } of changes) counts[action] += 1;
  const counted = Object.keys(counts).map((name) => [name, builder.raw(`import_runs.${name} + excluded.${name}`)]);
  const added = builder(importRuns.table)
    .insert({
      ...{ workspace_id: workspaceId, id, started_at: at, updated_at: at, user_id: userId, message },
      ...{ first_change: last - changes.length + 1, last_change: last, ...counts },
    })
    .onConflict(['workspace_id', 'id'])
    .merge({ updated_at: at, last_change: last, ...Object.fromEntries(counted) });
  await runQuery(run, added);
}

function toLogRow(workspaceId: number, author: ChangeAuthor, { kind, action, before, after, at }: Change): LogRow {
  const { workspaceId: _, ...values } = before ?? {};
  const recordId = String((after ?? before)?.id);
  return { ...author, workspaceId, kind: kind.name, action, recordId, at, before: before && values };
}

/** Returns the last number. */
export async function takeChangeNumbers(
  { builder }: Dialect,
  run: Run,
  workspaceId: number,
  count: number,
): Promise<number> {
  const taken = builder('change_numbers')
    .insert({ workspace_id: workspaceId, number: count })
    .onConflict('workspace_id')
    .merge({ number: builder.raw('change_numbers.number + excluded.number') })
    .returning('number');
  const [row] = await runQuery(run, taken);
  return Number(row?.number);
}
