/** Carries out writes, which services describe as data (see work.ts): turns their changes into statements and entries of the log. */
import { tooLarge } from '../../errors.ts';
import { externalIdCount } from '../../model/fields.ts';
import { count } from '../../model/issues.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import type { Row, Statement } from '../connections/driver.ts';
import { logChanges } from '../log/changes.ts';
import { columnsOf } from '../query/columns.ts';
import type { Author, NewChange } from '../query/tables.ts';
import { nameWorkspace, type Scope } from '../records/read-records.ts';
import { earlierResult, type RepeatableRequest, storeResult } from './idempotency.ts';
import { createLookups, inLockOrder } from './lookups.ts';
import type { Change, Replacement, Work, Written } from './work.ts';

/**
 * The most external IDs of the records that one write stores, and as many of those that it replaces or deletes. Each is a row of its own on
 * SQLite, where all other writes wait until so many are written: 0.2 to 0.5 s. Postgres has the same limit, so that both databases accept
 * the same requests.
 */
export const maxExternalIdsPerWrite = 30_000;

/** The rule of externalIdCount, for messages. */
export const longExternalIds = 'one of more than 100 characters counts several times';

type Writer = Pick<Scope, 'dialect' | 'workspaceId'> & { readonly author: Author };

interface Prepared {
  readonly statements: Iterable<Statement>;
  readonly log: readonly NewChange[];
}

/** Prepares the changes in their order. Throws a ServiceError 413 if too much would be replaced or deleted. */
function prepare(writer: Writer, changes: readonly Change[]): Prepared[] {
  requireFewRemovedExternalIds(changes);
  return changes.filter(({ records }) => records.length > 0).map((change) => prepareOne(writer, change));
}

function prepareOne(writer: Writer, change: Change): Prepared {
  const { dialect, workspaceId } = writer;
  const { kind } = change;
  switch (change.action) {
    case 'created':
    case 'restored': {
      for (const record of change.records) Object.assign(record, { workspaceId });
      return {
        statements: dialect.inserts(kind, change.records),
        log: change.records.map((record) => changeOf(writer, change, record, record.updatedAt)),
      };
    }
    case 'updated': {
      const after = change.records.map((record) => record.after);
      const updates = dialect.updates(kind, workspaceId, after, changedFields(kind, change.records));
      return {
        statements: chained(withoutHeldValues(writer, kind, change.records), updates),
        log: change.records.map((record) => changeOf(writer, change, record.before, record.after.updatedAt)),
      };
    }
    case 'deleted': {
      const ids = change.records.map(({ id }) => String(id));
      return {
        statements: dialect.deletions(kind, workspaceId, ids),
        log: change.records.map((record) => changeOf(writer, change, record, change.at)),
      };
    }
  }
}

function* chained<T>(...parts: readonly Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part;
}

/** Clears values that records take from each other: the database, changing one after the other, would find them taken. */
function withoutHeldValues(
  { dialect, workspaceId }: Writer,
  kind: RecordKind,
  records: readonly Replacement[],
): Iterable<Statement> {
  const fields = Object.entries(kind.fields).flatMap(([name, field]) =>
    field.unique && !field.required ? [name] : [],
  );
  return chained(
    ...fields.map((field) => {
      const taken = new Set(
        records.flatMap(({ before, after }) => (before[field] === after[field] ? [] : [after[field]])),
      );
      const holders = records.filter(({ before }) => before[field] !== null && taken.has(before[field]));
      const cleared = holders.map(({ before }) => ({ ...before, [field]: null }));
      return dialect.updates(kind, workspaceId, cleared, new Set([field]));
    }),
  );
}

/** Returns the log's entry for a record. Its `before` has no workspace, which may be renamed. */
function changeOf(
  { workspaceId, author }: Writer,
  { kind, action }: Change,
  { workspaceId: _, ...record }: Row,
  at: unknown,
): NewChange {
  const isNew = action === 'created' || action === 'restored';
  return {
    ...author,
    workspaceId,
    kind: kind.name,
    action: isNew ? 'created' : action,
    recordId: String(record.id),
    at: String(at),
    before: isNew ? null : record,
  };
}

function changedFields(kind: RecordKind, records: readonly Replacement[]): ReadonlySet<string> {
  const changed = new Set<string>();
  for (const { before, after } of records) {
    for (const { field } of columnsOf(kind)) {
      if (!changed.has(field) && !isStoredAs(before[field], after[field])) changed.add(field);
    }
  }
  return changed;
}

/** External IDs are stored in the order in which they were sent. */
const isStoredAs = (before: unknown, after: unknown): boolean =>
  before === after ||
  (typeof before === 'object' && typeof after === 'object' && JSON.stringify(before) === JSON.stringify(after));

/** Limits the external IDs of replaced and deleted records. A single record may have as many as the settings allow. */
function requireFewRemovedExternalIds(changes: readonly Change[]): void {
  let found = 0;
  for (const change of changes) {
    const removed = rowsWithoutExternalIds(change);
    if (removed.length <= 1) continue;
    for (const { externalIds } of removed) found += externalIdCount(externalIds ?? {});
    if (found <= maxExternalIdsPerWrite) continue;
    const most = `more than ${count(maxExternalIdsPerWrite)} external IDs (${longExternalIds})`;
    const problem = `the ${change.kind.pluralLabel} hold ${most}: change or delete fewer at a time`;
    throw tooLarge(problem, 'records too large');
  }
}

function rowsWithoutExternalIds(change: Change): readonly Row[] {
  if (change.action === 'created' || change.action === 'restored') return [];
  if (change.action === 'deleted') return change.records;
  const isReplaced = ({ before, after }: Replacement) => !isStoredAs(before.externalIds, after.externalIds);
  return change.records.filter(isReplaced).map(({ before }) => before);
}

export async function writeIn<T>(scope: Scope, author: Author, work: Work<T>, request?: RepeatableRequest): Promise<T> {
  const { dialect, run, workspaceId } = scope;
  const earlier = request && (await earlierResult<T>(scope, request));
  if (earlier) return earlier.returned;
  const { changes, returned } = await work(inLockOrder(createLookups(scope)));
  const prepared = prepare({ ...scope, author }, changes);
  for (const { statements } of prepared) for (const { sql, values } of statements) await run(sql, values);
  if (request) await storeResult(scope, request, returned);
  const log = prepared.flatMap((change) => change.log);
  await logChanges(dialect, run, workspaceId, log);
  return named(scope, { changes, returned });
}

/** Runs the work on a snapshot, and returns what it would return. Stores and locks nothing. */
export async function dryRunIn<T>(scope: Scope, author: Author, work: Work<T>): Promise<T> {
  const written = await work(inLockOrder(createLookups(scope, { isDryRun: true })));
  // Throws the errors that the write itself would.
  prepare({ ...scope, author }, written.changes);
  return named(scope, written);
}

/** Returns the result of a write, after giving its new records the name of their workspace. */
function named<T>(scope: Pick<Scope, 'workspaceName'>, { changes, returned }: Written<T>): T {
  for (const { action, records } of changes)
    if (action === 'created' || action === 'restored') nameWorkspace(scope, records);
  return returned;
}
