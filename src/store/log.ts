/** Reads the log of changes: the feed of a workspace, the histories of records, and records as they were. */
import type { Knex } from 'knex';
import { badRequest } from '../errors.ts';
import type { RecordKind, RecordOf } from '../model/record-kind.ts';
import type { Row } from './connections/driver.ts';
import { tableColumns } from './query/columns.ts';
import { requireWhole, rowsQuery, runQuery, selectEach } from './query/rows.ts';
import { type Action, type ChangeAuthor, changes as table } from './query/tables.ts';
import type { WorkspaceScope } from './records/read-budget.ts';
import { asRecords, createRecordReads, fetchRows } from './records/read-records.ts';

/** A change as the log has it: writes/apply-changes.ts stores a `Change`. */
export interface LoggedChange extends ChangeAuthor {
  readonly number: number;
  readonly kind: string;
  readonly action: Action;
  readonly id: string;
  readonly at: string;
  /** The record before it was changed or deleted, without its workspace, if it was to be read; null before its creation. */
  readonly before?: Row | null;
}

interface ChangesQuery {
  readonly after: number;
  readonly upTo?: number | undefined;
  readonly limit: number;
  /** The names of record kinds; all unless set. */
  readonly kinds?: readonly string[] | undefined;
  readonly withBefore: boolean;
}

export type ChangePageQuery = Omit<ChangesQuery, 'upTo'>;

export interface ChangePage {
  readonly changes: readonly LoggedChange[];
  /** The number after which the next page begins. All changes up to it are on this page or earlier ones, or of other kinds. */
  readonly end: number;
  readonly hasMore: boolean;
}

export interface HistoryQuery {
  readonly before?: number | undefined;
  readonly limit: number;
  readonly withBefore: boolean;
}

/** A record, at the time right after the change with this number. */
interface VersionAt {
  readonly id: string;
  readonly number: number;
}

export interface ChangeReads {
  lastChange(): Promise<number>;
  /** Returns changes in the order of their numbers. Every change with a number up to that of a committed one is committed too. */
  changes(query: ChangesQuery): Promise<LoggedChange[]>;
  /** May be empty although there is more: changes of some kinds may be far apart. Throws a ServiceError 400 if `after` is in the future. */
  changePage(query: ChangePageQuery): Promise<ChangePage>;
  /** Returns the changes of each of the records with these IDs, of any kinds, the latest first, in the order of the IDs. */
  histories(ids: readonly string[], query: HistoryQuery): Promise<LoggedChange[][]>;
  /** Returns the records as they were right after changes, in the same order; null where there was none. */
  versions<K extends RecordKind>(kind: K, keys: readonly VersionAt[]): Promise<(RecordOf<K> | null)[]>;
  /** Returns the record as it was at a time; null if there was none. */
  versionAt<K extends RecordKind>(kind: K, id: string, time: string): Promise<RecordOf<K> | null>;
}

/** The most rows of the log that are read for a page of some kinds: the changes between them are read, too. */
const maxScanned = 100_000;

const fieldsWithBefore = new Set(Object.keys(table.storedFields));
const fieldsWithoutBefore = new Set([...fieldsWithBefore].filter((field) => field !== 'before'));
const endFields = new Set(['number', 'before']);

export async function readLastChange({
  dialect,
  run,
  workspaceId,
}: Pick<WorkspaceScope, 'dialect' | 'run' | 'workspaceId'>) {
  const at = rowsQuery(dialect, table, workspaceId).whereRaw('number = change_numbers.number').select('at').as('at');
  const rows = dialect.builder('change_numbers').where('workspace_id', workspaceId).select(at, 'number');
  const [row] = await runQuery(run, rows);
  return { workspaceId, number: Number(row?.number ?? 0), at: row?.at };
}

export function createChangeReads(scope: WorkspaceScope): ChangeReads {
  const { dialect, run, workspaceId } = scope;
  const { builder, jsonArrayOf } = dialect;
  const { find } = createRecordReads(scope);

  const rowsOfWorkspace = () => rowsQuery(dialect, table, workspaceId);
  const rowsOfRecord = (id: string) => rowsOfWorkspace().where('record_id', id);

  /** The cast is safe: rows are written only from new changes. */
  async function readChanges(
    rows: Knex.QueryBuilder,
    { limit, withBefore }: { readonly limit: number; readonly withBefore: boolean },
  ): Promise<LoggedChange[]> {
    const fields = withBefore ? fieldsWithBefore : fieldsWithoutBefore;
    const found = await fetchRows(scope, table, rows, { fields, limit });
    return found.map(
      ({ recordId, ...change }): Row => ({ ...change, id: recordId }),
    ) as readonly object[] as LoggedChange[];
  }

  const rowsWith = (numbers: readonly number[]) =>
    rowsQuery(dialect, table, workspaceId, { where: { field: 'number', in: numbers } });

  const lastChange = async () => (await readLastChange(scope)).number;

  async function changes({ after, upTo, limit, kinds, withBefore }: ChangesQuery): Promise<LoggedChange[]> {
    const rows = rowsOfWorkspace()
      .where('number', '>', requireWhole(after))
      .orderBy('number')
      .limit(requireWhole(limit));
    if (upTo !== undefined) rows.where('number', '<=', requireWhole(upTo));
    // As an expression that Postgres expects half of the rows to satisfy: of fewer, it would read all and sort them.
    if (kinds)
      rows.whereRaw(`case when ${kinds.map(() => 'kind = ?').join(' or ') || 'false'} then true else false end`, kinds);
    return readChanges(rows, { limit, withBefore });
  }

  /** Returns the numbers of the latest changes of all these records together. */
  async function latestNumbers(ids: readonly string[], { before, limit }: HistoryQuery): Promise<number[]> {
    const latest = builder.raw(
      `(select ${jsonArrayOf}(number) from (
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

  /** Returns the records that have not changed after any of these versions, as they are now: others may have become far longer. */
  async function unchangedSince<K extends RecordKind>(kind: K, keys: readonly VersionAt[]): Promise<RecordOf<K>[]> {
    const ids = [...new Set(keys.map(({ id }) => id))];
    const last = keys.reduce((max, { number }) => Math.max(max, number), 0);
    const rows = dialect
      .rowsById(kind, workspaceId, ids)
      // Not as `not exists`, for which a server without statistics would read the whole log.
      .whereRaw(
        `(select number from changes where workspace_id = ? and record_id = id and number > ?
          order by number limit 1) is null`,
        [workspaceId, last],
      );
    return asRecords(scope, kind, await fetchRows(scope, kind, rows, { limit: ids.length }));
  }

  /** Returns the numbers of the changes that ended each version; null for a version that is stored now. */
  async function endsOf(keys: readonly VersionAt[]): Promise<(number | null)[]> {
    const end = builder.raw(
      `(select number from changes where workspace_id = ? and record_id = sent.value ->> 0
        and number > cast(sent.value ->> 1 as bigint) order by number limit 1)`,
      [workspaceId],
    );
    const sent = keys.map(({ id, number }) => [id, number]);
    return (await selectEach(dialect, run, sent, end)).map((number) => (number === null ? null : Number(number)));
  }

  /** Null without changes. The times of a record rise with the numbers of its changes, so that it is enough to halve the range. */
  function firstAfter(id: string, time: string): Knex.Raw {
    const middle = '(low + high) / 2';
    const end = (order: 'asc' | 'desc', number: string) =>
      rowsOfRecord(id).orderBy('number', order).limit(1).select(builder.raw(number));
    const next = rowsOfRecord(id).whereRaw(`number >= ${middle}`).orderBy('number').limit(1).select('number', 'at');
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

  /** Returns the versions that changes ended, by their numbers; null where a change created the record. Fields may be newer than its row. */
  async function versionsBefore<K extends RecordKind>(
    kind: K,
    rows: Knex.QueryBuilder,
    limit: number,
  ): Promise<ReadonlyMap<number, RecordOf<K> | null>> {
    const ends = await fetchRows(scope, table, rows, { fields: endFields, limit });
    const versionIn = (before: Row) => {
      const values: Row = { ...before, workspaceId };
      const version = Object.fromEntries(tableColumns(kind).map(({ field }) => [field, values[field] ?? null]));
      return asRecords(scope, kind, [version])[0] ?? null;
    };
    return new Map(ends.map(({ number, before }) => [Number(number), before ? versionIn(before as Row) : null]));
  }

  return {
    lastChange,
    changes,

    async changePage({ limit, after, ...query }) {
      // Read first, so that the end of the page passes no change that is committed meanwhile.
      const last = await lastChange();
      if (after > last) throw beyondLast(after, last);
      const upTo = Math.min(last, after + maxScanned);
      const found = await changes({ ...query, after, upTo, limit: limit + 1 });
      const page = found.slice(0, limit);
      const isFull = found.length > limit;
      return {
        changes: page,
        end: isFull ? (page.at(-1)?.number ?? after) : upTo,
        hasMore: isFull || upTo < last,
      };
    },

    async histories(ids, query) {
      const histories = new Map(ids.map((id): [string, LoggedChange[]] => [id, []]));
      const numbers = await latestNumbers([...histories.keys()], query);
      if (numbers.length > 0) {
        const rows = rowsWith(numbers).orderBy('number', 'desc');
        const found = await readChanges(rows, { limit: numbers.length, withBefore: query.withBefore });
        for (const change of found) histories.get(change.id)?.push(change);
      }
      return ids.map((id) => histories.get(id) ?? []);
    },

    async versions(kind, keys) {
      if (keys.length === 0) return [];
      // Read first: a version that ends meanwhile is found in the log.
      const current = new Map((await unchangedSince(kind, keys)).map((it) => [it.id, it]));
      const ends = await endsOf(keys);
      const numbers = [...new Set(ends.filter((number) => number !== null))];
      const ended = numbers.length > 0 ? await versionsBefore(kind, rowsWith(numbers), numbers.length) : new Map();
      return keys.map(({ id }, index) => {
        const end = ends[index] ?? null;
        return (end === null ? current.get(id) : ended.get(end)) ?? null;
      });
    },

    async versionAt(kind, id, time) {
      const [current] = await find(kind, [id]);
      const rows = rowsOfRecord(id).where('number', '>=', firstAfter(id, time)).orderBy('number').limit(1);
      const [ended] = (await versionsBefore(kind, rows, 1)).values();
      return ended === undefined ? (current ?? null) : ended;
    },
  };
}

/** Otherwise the consumer would get nothing until there are as many changes again, and miss these. */
const beyondLast = (after: number, last: number) =>
  badRequest(
    `the cursor "${after}" is beyond the last change, which is "${last}"; after restoring a backup, consumers must start over`,
  );
