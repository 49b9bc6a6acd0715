/**
 * Carries out writes: services say what a write looks up and changes, as data, and this turns their changes into statements and rows of the
 * log, which are numbered without gaps, in the order of their commits.
 */
import { tooLarge } from '../../errors.ts';
import { externalIdCount, longExternalIds, maxExternalIdsPerWrite, textLengthOfAll } from '../../model/fields.ts';
import { formatCount } from '../../model/issues.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import type { Row, Run, Statement, Usage } from '../connections/driver.ts';
import { tableColumns } from '../query/columns.ts';
import type { Dialect } from '../query/dialect.ts';
import { runQuery } from '../query/rows.ts';
import { type ChangeAuthor, changes as changesTable, type LogRow } from '../query/tables.ts';
import type { WorkspaceScope } from '../records/read-budget.ts';
import { findStoredResult, type IdempotencyKey, idempotencyRow, storeResult, type WriteResult } from './idempotency.ts';
import type { QueuedCreation } from './queue.ts';
import { type Change, type Creation, createTx, type Decide } from './tx.ts';

/** Successive changes of one kind and action, which share statements. */
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
  const after = changes.flatMap((change): Row[] => (change.after ? [change.after] : []));
  if (action === 'created') yield* dialect.inserts(kind, toRows(workspaceId, after));
  if (action === 'updated') {
    yield* clearSwappedValues(dialect, workspaceId, kind, changes);
    yield* dialect.updates(kind, workspaceId, after, changedFields(kind, changes));
  }
  if (action === 'deleted') {
    const ids = changes.map(({ before }) => String(before?.id));
    yield* dialect.deletions(kind, workspaceId, ids);
  }
}

/** Records have the name of their workspace, and rows its number. */
const toRows = (workspaceId: number, records: readonly Row[]): Row[] =>
  records.map((record) => ({ ...record, workspaceId }));

/** Clears values that records take from each other: the database, changing one after the other, would find them taken. */
function* clearSwappedValues(
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

/** As late in a transaction as possible: until its commit, others that log changes of the workspace wait. */
async function logChanges(
  { dialect, run, workspaceId }: WorkspaceScope,
  author: ChangeAuthor,
  changes: readonly Change[],
): Promise<void> {
  if (changes.length === 0) return;
  const before = (await takeChangeNumbers(dialect, run, workspaceId, changes.length)) - changes.length;
  const rows = changes.map((change, index) => ({
    ...toLogRow(workspaceId, author, change),
    number: before + index + 1,
  }));
  for (const { sql, values } of dialect.inserts(changesTable, rows)) await run(sql, values);
}

/** Its `before` has no workspace, which may be renamed. */
function toLogRow(workspaceId: number, author: ChangeAuthor, { kind, action, before, after, at }: Change): LogRow {
  const { workspaceId: _, ...values } = before ?? {};
  const recordId = String((after ?? before)?.id);
  return { ...author, workspaceId, kind: kind.name, action, recordId, at, before: before && values };
}

/** Takes the next numbers of a workspace, and returns the last one. Others that take numbers of it wait until the transaction ends. */
export async function takeChangeNumbers(
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

function changedFields(kind: RecordKind, changes: readonly Change[]): ReadonlySet<string> {
  const changed = new Set<string>();
  for (const { before, after } of changes) {
    for (const { field } of tableColumns(kind)) {
      if (!changed.has(field) && !isSameValue(before?.[field], after?.[field])) changed.add(field);
    }
  }
  return changed;
}

/** External IDs are stored in the order in which they were sent. */
const isSameValue = (before: unknown, after: unknown): boolean =>
  before === after ||
  (typeof before === 'object' && typeof after === 'object' && JSON.stringify(before) === JSON.stringify(after));

/** A single record may have as many as the settings allow. */
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

export async function writeIn<T>(
  scope: WorkspaceScope,
  author: ChangeAuthor,
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
  await logChanges(scope, author, changes);
  return { returned, isRepeat: false };
}

/** Decides on a snapshot, and returns the result. Stores and locks nothing. */
export async function dryRunIn<T>(scope: WorkspaceScope, decide: Decide<T>): Promise<T> {
  const { changes, returned } = await decide(createTx(scope, { isDryRun: true }));
  // Throws the error that the write itself would.
  requireFewExternalIds(changes);
  return returned;
}

/** Limits of a creation. Making the statement takes 20 ms. On SQLite, each external ID is a row. */
const maxCreated = 5_000;
const maxCreatedLength = 4_000_000;

/** Undefined if it is too large. */
export function queuedCreation<T>(
  { workspaceId, usage }: { readonly workspaceId: number; readonly usage: Usage },
  author: ChangeAuthor,
  { kind, values, references, decide }: Creation<T>,
  key?: IdempotencyKey,
): QueuedCreation<WriteResult<T>> | undefined {
  let externalIds = 0;
  for (const sent of values) externalIds += externalIdCount(sent.externalIds ?? {});
  const length = textLengthOfAll(values) / maxCreatedLength;
  const size = Math.max(values.length / maxCreated, externalIds / maxExternalIdsPerWrite, length);
  if (size > 1) return undefined;
  return {
    kind,
    size,
    async toInsert() {
      usage.statements += 1;
      const { changes, returned } = decide();
      const records = changes.flatMap(({ after }): Row[] => (after ? [after] : []));
      const at = String(records[0]?.createdAt);
      const change = { ...author, workspaceId, kind: kind.name, action: 'created', at, before: null } as const;
      const keyed = key && (await idempotencyRow(workspaceId, key, returned));
      return { insert: { records, references, change, keyed }, returned: { returned, isRepeat: false } };
    },
  };
}
