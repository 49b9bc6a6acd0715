import type { Knex } from 'knex';
import { badRequest, logPruned } from '../errors.ts';
import type { RecordKind, RecordOf } from '../model/record-kind.ts';
import type { Row } from './connections/driver.ts';
import { pickFields, tableColumns } from './query/columns.ts';
import { requireWhole, rowsQuery, runQuery, selectEach } from './query/rows.ts';
import { type Action, type ChangeAuthor, changeNumbers, changes as changesTable, importRuns } from './query/tables.ts';
import type { WorkspaceScope } from './records/read-budget.ts';
import { asRecords, createRecordReads, fetchRows } from './records/read-records.ts';

/** A stored `Change` (writes/tx.ts). */
export interface LoggedChange extends ChangeAuthor {
  readonly number: number;
  readonly kind: string;
  readonly action: Action;
  readonly id: string;
  readonly at: string;
  /** Present if the query asks for it; null for a creation. Has no workspace. */
  readonly before?: Row | null;
}

interface ChangesQuery {
  readonly after: number;
  readonly upTo?: number | undefined;
  readonly limit: number;
  readonly kinds?: readonly string[] | undefined;
  readonly withBefore: boolean;
}

export type ChangePageQuery = Omit<ChangesQuery, 'upTo'>;

export interface ChangePage {
  readonly changes: readonly LoggedChange[];
  /** The next page begins after this number. */
  readonly end: number;
  readonly hasMore: boolean;
}

export interface HistoryQuery {
  readonly before?: number | undefined;
  readonly limit: number;
  readonly withBefore: boolean;
}

/** The changes of an import: those of others may be between them. */
export interface StoredImportRun extends Omit<ChangeAuthor, 'requestId'>, Readonly<Record<Action, number>> {
  readonly id: string;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly after: string;
  readonly upTo: string;
}

/** The version right after this change. */
interface VersionKey {
  readonly id: string;
  readonly number: number;
}

export interface ChangeReads {
  /** Throws a 410 unless the log has all changes after `after`. */
  lastChange(after?: number): Promise<number>;
  /** The number of the last change that was deleted from the log; 0 if none was. */
  horizon(): Promise<number>;
  /** In the order of their numbers. If a change is committed, so are all earlier ones. */
  changes(query: ChangesQuery): Promise<LoggedChange[]>;
  /**
   * May be empty although `hasMore`, if changes of a kind are far apart. Throws a 400 for a future `after`, a 410 for a
   * deleted one.
   */
  changePage(query: ChangePageQuery): Promise<ChangePage>;
  /** Latest changes first, back to the horizon. */
  histories(ids: readonly string[], query: HistoryQuery): Promise<LoggedChange[][]>;
  /** Latest first. `upTo` is where an import may begin at the latest. */
  importRuns(query: { id?: string; upTo?: number | undefined; limit: number }): Promise<StoredImportRun[]>;
  /** Null if there was no record, or its values were erased. Throws a 410 for versions before the horizon. */
  versions<K extends RecordKind>(kind: K, keys: readonly VersionKey[]): Promise<(RecordOf<K> | null)[]>;
  versionAt<K extends RecordKind>(kind: K, id: string, time: string): Promise<RecordOf<K> | null>;
}

export const createChangeReads = (scope: WorkspaceScope): ChangeReads => ({
  lastChange: (after = Number.MAX_SAFE_INTEGER) => requireLogged(scope, after),
  horizon: async () => (await readLastChange(scope)).horizon,
  changes: (query) => readChanges(scope, query),
  changePage: (query) => readChangePage(scope, query),
  histories: (ids, query) => readHistories(scope, ids, query),
  importRuns: (query) => readImportRuns(scope, query),
  versions: (kind, keys) => readVersions(scope, kind, keys),
  versionAt: (kind, id, time) => readVersionAt(scope, kind, id, time),
});

/** The log has the changes after the horizon, without gaps. `erasures` is part of the version of cached responses. */
export async function readLastChange({
  dialect,
  run,
  workspaceId,
}: Pick<WorkspaceScope, 'dialect' | 'run' | 'workspaceId'>) {
  const at = rowsQuery(dialect, changesTable, workspaceId)
    .whereRaw('number = change_numbers.number')
    .select('at')
    .as('at');
  const rows = dialect.builder('change_numbers').where('workspace_id', workspaceId);
  const [row] = await runQuery(run, rows.select(at, 'horizon', 'horizon_at', 'erasures', 'number'));
  const { number, horizon, horizon_at: horizonAt } = row ?? {};
  return { ...row, workspaceId, number: Number(number ?? 0), horizon: Number(horizon ?? 0), horizonAt };
}

async function requireLogged(scope: WorkspaceScope, after: number): Promise<number> {
  const { number, horizon, horizonAt } = await readLastChange(scope);
  if (after < horizon) throw logPruned(horizon, horizonAt);
  return number;
}

/** Rows that a page reads, including other kinds. */
const maxScanned = 100_000;

async function readChangePage(scope: WorkspaceScope, { limit, after, ...query }: ChangePageQuery): Promise<ChangePage> {
  // Read first: the page skips no change committed meanwhile.
  const last = await requireLogged(scope, after);
  if (after > last) throw beyondLast(after, last);
  const upTo = Math.min(last, after + maxScanned);
  const read = await readChanges(scope, {
    ...query,
    after,
    upTo,
    limit: limit + (query.kinds ? 2 : 1),
    first: after + 1,
  });
  // The first one is missing if it was pruned meanwhile.
  if (upTo > after && read[0]?.number !== after + 1) await requireLogged(scope, after);
  const found = read.filter(({ kind }) => query.kinds?.includes(kind) ?? true);
  const page = found.slice(0, limit);
  const isFull = found.length > limit;
  return {
    changes: page,
    end: isFull ? (page.at(-1)?.number ?? after) : upTo,
    hasMore: isFull || upTo < last,
  };
}

/** Otherwise the consumer would miss the changes until the log is as long again. */
const beyondLast = (after: number, last: number) =>
  badRequest(
    `the cursor "${after}" is beyond the last change, which is "${last}"; after restoring a backup, consumers must start over`,
  );

/** `first` is the number of a change that is read whatever its kind. */
function readChanges(
  scope: WorkspaceScope,
  { after, upTo, limit, kinds, withBefore, first }: ChangesQuery & { readonly first?: number },
): Promise<LoggedChange[]> {
  const rows = logRows(scope).where('number', '>', requireWhole(after)).orderBy('number').limit(requireWhole(limit));
  if (upTo !== undefined) rows.where('number', '<=', requireWhole(upTo));
  if (kinds) {
    // Postgres expects half of the rows to satisfy `case`. If it expected fewer, it would read and sort all.
    const isRead = [...kinds.map(() => 'kind = ?'), ...(first === undefined ? [] : ['number = ?'])].join(' or ');
    const values = [...kinds, ...(first === undefined ? [] : [first])];
    rows.whereRaw(`case when ${isRead || 'false'} then true else false end`, values);
  }
  return fetchChanges(scope, rows, { limit, withBefore });
}

const fieldsWithBefore = new Set(Object.keys(changesTable.storedFields));
const fieldsWithoutBefore = new Set([...fieldsWithBefore].filter((field) => field !== 'before'));

/** Safe: rows are written only from changes. */
async function fetchChanges(
  scope: WorkspaceScope,
  rows: Knex.QueryBuilder,
  { limit, withBefore }: { readonly limit: number; readonly withBefore: boolean },
): Promise<LoggedChange[]> {
  const fields = withBefore ? fieldsWithBefore : fieldsWithoutBefore;
  const found = await fetchRows(scope, changesTable, rows, { fields, limit });
  return found.map(
    ({ recordId, ...change }): Row => ({ ...change, id: recordId }),
  ) as readonly object[] as LoggedChange[];
}

const logRows = ({ dialect, workspaceId }: WorkspaceScope) => rowsQuery(dialect, changesTable, workspaceId);

const rowsOfRecord = (scope: WorkspaceScope, id: string) => logRows(scope).where('record_id', id);

const rowsWithNumbers = ({ dialect, workspaceId }: WorkspaceScope, numbers: readonly number[]) =>
  rowsQuery(dialect, changesTable, workspaceId, { where: { field: 'number', in: numbers } });

async function readHistories(
  scope: WorkspaceScope,
  ids: readonly string[],
  query: HistoryQuery,
): Promise<LoggedChange[][]> {
  const histories = new Map(ids.map((id): [string, LoggedChange[]] => [id, []]));
  const numbers = await latestNumbers(scope, [...histories.keys()], query);
  if (numbers.length > 0) {
    const rows = rowsWithNumbers(scope, numbers).orderBy('number', 'desc');
    const found = await fetchChanges(scope, rows, { limit: numbers.length, withBefore: query.withBefore });
    for (const change of found) histories.get(change.id)?.push(change);
  }
  return ids.map((id) => histories.get(id) ?? []);
}

async function latestNumbers(
  { dialect, run, workspaceId }: WorkspaceScope,
  ids: readonly string[],
  { before, limit }: HistoryQuery,
): Promise<number[]> {
  const latest = dialect.builder.raw(
    `(select ${dialect.jsonArrayOf}(number) from (
        select number from changes where workspace_id = ? and record_id = sent.value ->> 0 and number < ?
          order by number desc limit ?
      ) as latest)`,
    [workspaceId, requireWhole(before ?? Number.MAX_SAFE_INTEGER), requireWhole(limit)],
  );
  const sent = ids.map((id) => [id]);
  // Postgres aggregates no rows to null.
  return (await selectEach(dialect, run, sent, latest)).flatMap(
    (numbers): number[] => JSON.parse(String(numbers)) ?? [],
  );
}

async function readImportRuns(scope: WorkspaceScope, query: Parameters<ChangeReads['importRuns']>[0]) {
  const { id, upTo, limit } = query;
  const where = id === undefined ? undefined : { field: 'id', in: [id] };
  const rows = rowsQuery(scope.dialect, importRuns, scope.workspaceId, { where });
  if (upTo !== undefined) rows.where('first_change', '<=', requireWhole(upTo));
  rows.orderBy('first_change', 'desc').limit(requireWhole(limit));
  const found = await fetchRows(scope, importRuns, rows, { limit });
  return found.map(
    ({ firstChange, lastChange, ...run }): Row => ({
      ...run,
      after: String(Number(firstChange) - 1),
      upTo: String(lastChange),
    }),
  ) as readonly object[] as StoredImportRun[];
}

async function readVersions<K extends RecordKind>(
  scope: WorkspaceScope,
  kind: K,
  keys: readonly VersionKey[],
): Promise<(RecordOf<K> | null)[]> {
  if (keys.length === 0) return [];
  // Read first: a version that ends meanwhile is found in the log.
  const current = new Map((await unchangedSince(scope, kind, keys)).map((record) => [record.id, record]));
  const ends = await endsOfVersions(scope, keys);
  const numbers = [...new Set(ends.filter((number) => number !== null))];
  const rows = rowsWithNumbers(scope, numbers);
  const ended = numbers.length > 0 ? await versionsBefore(scope, kind, rows, numbers.length) : new Map();
  // Pruned, perhaps meanwhile: `-1` is the number of no change.
  if (ended.size < numbers.length) await requireLogged(scope, -1);
  return keys.map(({ id }, index) => {
    const end = ends[index] ?? null;
    return (end === null ? current.get(id) : ended.get(end)) ?? null;
  });
}

/** Leaves out records that have changed after the latest key: they may have become far longer. */
async function unchangedSince<K extends RecordKind>(
  scope: WorkspaceScope,
  kind: K,
  keys: readonly VersionKey[],
): Promise<RecordOf<K>[]> {
  const { dialect, workspaceId } = scope;
  const ids = [...new Set(keys.map(({ id }) => id))];
  const last = keys.reduce((max, { number }) => Math.max(max, number), 0);
  const rows = dialect
    .rowsById(kind, workspaceId, ids)
    // With `not exists`, a server without statistics would read the whole log.
    .whereRaw(
      `(select number from changes where workspace_id = ? and record_id = id and number > ?
          order by number limit 1) is null`,
      [workspaceId, last],
    );
  return asRecords(kind, await fetchRows(scope, kind, rows, { limit: ids.length }));
}

/** Null for a current version, -1 for one before the horizon: its change would be missing. */
async function endsOfVersions(
  { dialect, run, workspaceId }: WorkspaceScope,
  keys: readonly VersionKey[],
): Promise<(number | null)[]> {
  const end = dialect.builder.raw(
    `(case when (select horizon from change_numbers where workspace_id = ?) > cast(sent.value ->> 1 as bigint)
        then -1 else (select number from changes where workspace_id = ? and record_id = sent.value ->> 0
          and number > cast(sent.value ->> 1 as bigint) order by number limit 1) end)`,
    [workspaceId, workspaceId],
  );
  const sent = keys.map(({ id, number }) => [id, number]);
  return (await selectEach(dialect, run, sent, end)).map((number) => (number === null ? null : Number(number)));
}

const endFields = new Set(['number', 'before']);

/**
 * Versions by the number of the change that ended them; null if that created the record. Fields added since are null.
 */
async function versionsBefore<K extends RecordKind>(
  scope: WorkspaceScope,
  kind: K,
  rows: Knex.QueryBuilder,
  limit: number,
): Promise<ReadonlyMap<number, RecordOf<K> | null>> {
  const ends = await fetchRows(scope, changesTable, rows, { fields: endFields, limit });
  return new Map(ends.map(({ number, before }) => [Number(number), versionIn(scope, kind, before)]));
}

function versionIn<K extends RecordKind>(scope: WorkspaceScope, kind: K, before: unknown): RecordOf<K> | null {
  if (!before) return null;
  const values: Row = { ...before, workspaceId: scope.workspaceName };
  const version = Object.fromEntries(tableColumns(kind).map(({ field }) => [field, values[field] ?? null]));
  return asRecords(kind, [version])[0] ?? null;
}

async function readVersionAt<K extends RecordKind>(
  scope: WorkspaceScope,
  kind: K,
  id: string,
  time: string,
): Promise<RecordOf<K> | null> {
  const { dialect, run, workspaceId } = scope;
  const [current] = await createRecordReads(scope).find(kind, [id]);
  const rows = rowsOfRecord(scope, id)
    .where('number', '>=', firstAfter(scope, id, time))
    .orderBy('number')
    .limit(1);
  const ended = rows.select(dialect.builder.raw(dialect.jsonRow(tableColumns(pickFields(changesTable, endFields)))));
  const numbers = dialect.builder(changeNumbers.table).where('workspace_id', workspaceId);
  const [found] = await runQuery(run, numbers.select(ended.as('ended'), 'horizon', 'horizon_at'));
  const { horizon, horizon_at: horizonAt } = found ?? {};
  if (horizonAt && time < String(horizonAt)) throw logPruned(Number(horizon), horizonAt);
  return found?.ended ? versionIn(scope, kind, JSON.parse(String(found.ended))[1]) : (current ?? null);
}

/** Null without changes. A binary search: the times of a record's changes rise with their numbers. */
function firstAfter(scope: WorkspaceScope, id: string, time: string): Knex.Raw {
  const { builder } = scope.dialect;
  const middle = '(low + high) / 2';
  const end = (order: 'asc' | 'desc', number: string) =>
    rowsOfRecord(scope, id).orderBy('number', order).limit(1).select(builder.raw(number));
  const next = rowsOfRecord(scope, id)
    .whereRaw(`number >= ${middle}`)
    .orderBy('number')
    .limit(1)
    .select('number', 'at');
  const notAfter = builder.from(next.as('next')).where('at', '<=', time).select('number');
  return builder.raw(
    `(with recursive search (low, high) as (
        select ?, ?
        union all
        select coalesce(? + 1, low), case when ? is null then ${middle} else high end from search where low < high
      ) select low from search where low = high)`,
    [end('asc', 'number'), end('desc', 'number + 1'), notAfter, notAfter],
  );
}
