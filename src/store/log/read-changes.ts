/** Reads the log of changes of one workspace: the feed, records as they were, and the histories of many records by two statements. */
import type { Knex } from 'knex';
import { badRequest } from '../../errors.ts';
import { idsFrom, placeAfter } from '../../model/ids.ts';
import type { RecordKind, RecordOf } from '../../model/record-kind.ts';
import type { Row } from '../connections/driver.ts';
import { columnsOf } from '../query/columns.ts';
import { requireWhole } from '../query/rows.ts';
import { rowsQuery, runQuery } from '../query/run-query.ts';
import { type Action, type Author, changes as table } from '../query/tables.ts';
import { asRecords, createRecordReads, readRows, type Scope } from '../records/read-records.ts';

export interface Change extends Author {
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

/** A record, at the time right after the change with this number. */
export interface VersionAt {
  readonly id: string;
  readonly number: number;
}

export interface ChangeReads {
  lastChange(): Promise<number>;
  /** Returns changes in the order of their numbers. Every change with a number up to that of a committed one is committed too. */
  changes(query: ChangesQuery): Promise<Change[]>;
  /** Returns the records as they were right after changes, in the same order; null where there was none. */
  versions<K extends RecordKind>(kind: K, keys: readonly VersionAt[]): Promise<(RecordOf<K> | null)[]>;
  /** Returns the record as it was at a time; null if there was none, or if the log does not reach back to that time. */
  versionAt<K extends RecordKind>(kind: K, id: string, time: string): Promise<RecordOf<K> | null>;
}

const fieldsWithBefore = new Set(Object.keys(table.storedFields));
const fieldsWithoutBefore = new Set([...fieldsWithBefore].filter((field) => field !== 'before'));
const versionFields = new Set(['number', 'before']);

const fieldsOfChanges = ({ withBefore }: { readonly withBefore: boolean }): ReadonlySet<string> =>
  withBefore ? fieldsWithBefore : fieldsWithoutBefore;

/** A row of the table. The cast is safe: rows are written only from new changes. */
interface ChangesRow extends Omit<Change, 'id'> {
  readonly firstId: string;
  readonly records: number;
}

/** Returns rows of the log. A restored record counts as created: readers of the feed learn that it exists. */
const rowsIn = (rows: readonly Row[]) =>
  rows.map((row) =>
    row.action === 'restored' ? { ...row, action: 'created' } : row,
  ) as readonly object[] as readonly ChangesRow[];

/** For the process itself, and not for a request. Workspaces without changes are left out. */
export async function lastChanges(
  { dialect, run }: Pick<Scope, 'dialect' | 'run'>,
  workspaceIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = dialect.builder('change_numbers').whereIn('workspace_id', workspaceIds).select('workspace_id', 'number');
  return new Map((await runQuery(run, rows)).map(({ workspace_id, number }) => [Number(workspace_id), Number(number)]));
}

export function createChangeReads(scope: Scope): ChangeReads {
  const { dialect, run, workspaceId } = scope;
  const { builder, jsonElements } = dialect;
  const reads = createRecordReads(scope);

  const rowsOfWorkspace = () => rowsQuery(dialect, table, workspaceId);

  /** Returns the records that have not changed after any of these versions, as they are now: others may have become far longer. */
  async function unchangedSince<K extends RecordKind>(kind: K, keys: readonly VersionAt[]): Promise<RecordOf<K>[]> {
    const ids = [...new Set(keys.map(({ id }) => id))];
    const last = keys.reduce((max, { number }) => Math.max(max, number), 0);
    const rows = dialect
      .rowsById(kind, workspaceId, ids)
      // Not as `not exists`, for which a server without statistics would read the whole log.
      .whereRaw(
        `(select number from changes where workspace_id = ? and first_id = id and action <> 'created' and number > ?
          order by number limit 1) is null`,
        [workspaceId, last],
      );
    return asRecords(scope, kind, await readRows(scope, kind, rows, { limit: ids.length }));
  }

  /** Returns the numbers of the changes that ended each version; null for a version that is stored now. */
  async function endsOf(keys: readonly VersionAt[]): Promise<(number | null)[]> {
    const sent = JSON.stringify(keys.map(({ id, number }) => [id, number]));
    const rows = await runQuery(
      run,
      builder.raw(
        `select (
          select number from changes where workspace_id = ? and first_id = sent.value ->> 0 and action <> 'created'
            and number > cast(sent.value ->> 1 as bigint) order by number limit 1
        ) as number from ${jsonElements}(?) as sent`,
        [workspaceId, sent],
      ),
    );
    return rows.map(({ number }) => (number === null ? null : Number(number)));
  }

  const changesOf = (id: string) => rowsOfWorkspace().where('first_id', id).where('action', '<>', 'created');

  /** Null without changes. The times of a record rise with the numbers of its changes, so that it is enough to halve the range. */
  function firstAfter(id: string, time: string): Knex.Raw {
    const middle = '(low + high) / 2';
    const end = (order: 'asc' | 'desc', number: string) =>
      changesOf(id).orderBy('number', order).limit(1).select(builder.raw(number));
    const next = changesOf(id).whereRaw(`number >= ${middle}`).orderBy('number').limit(1).select('number', 'at');
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

  /** Some fields may be newer than the row. Null for the row of a restored record, which did not exist before. */
  function versionIn<K extends RecordKind>(kind: K, before: Row | null | undefined): RecordOf<K> | null {
    if (!before) return null;
    const values: Row = { ...before, workspaceId };
    const [version] = asRecords(scope, kind, [
      Object.fromEntries(columnsOf(kind).map(({ field }) => [field, values[field] ?? null])),
    ]);
    return version as RecordOf<K>;
  }

  return {
    async lastChange() {
      const rows = builder('change_numbers').where('workspace_id', workspaceId).select('number');
      const [row] = await runQuery(run, rows);
      return Number(row?.number ?? 0);
    },

    async changes({ after, upTo, limit, kinds, withBefore }) {
      const rows = rowsOfWorkspace()
        .where('number', '>', requireWhole(after))
        .orderBy('number')
        .limit(requireWhole(limit));
      if (upTo !== undefined) rows.where('number', '<=', requireWhole(upTo));
      // As an expression that Postgres expects half of the rows to satisfy: of fewer, it would read all and sort them.
      if (kinds)
        rows.whereRaw(
          `case when ${kinds.map(() => 'kind = ?').join(' or ') || 'false'} then true else false end`,
          kinds,
        );
      const found = rowsIn(await readRows(scope, table, rows, { fields: fieldsOfChanges({ withBefore }), limit }));
      const changes: Change[] = [];
      for (const row of found) {
        const skipped = Math.max(0, after - (row.number - row.records));
        changes.push(...expanded(row, { skipped, limit: limit - changes.length }));
        if (changes.length >= limit) break;
      }
      return changes;
    },

    async versions(kind, keys) {
      if (keys.length === 0) return [];
      // Read first: a version that ends meanwhile is found in the log.
      const current = new Map((await unchangedSince(kind, keys)).map((it) => [it.id, it]));
      const ends = await endsOf(keys);
      const numbers = [...new Set(ends.filter((number) => number !== null))];
      const rows = rowsQuery(dialect, table, workspaceId, { where: { field: 'number', in: numbers } });
      const found =
        numbers.length === 0
          ? []
          : await readRows(scope, table, rows, { fields: versionFields, limit: numbers.length });
      const ended = new Map(rowsIn(found).map(({ number, before }) => [number, versionIn(kind, before)]));
      return keys.map(({ id }, index) => {
        const end = ends[index];
        return (end === null || end === undefined ? current.get(id) : ended.get(end)) ?? null;
      });
    },

    async versionAt(kind, id, time) {
      const [current] = await reads.find(kind, [id]);
      const rows = changesOf(id).where('number', '>=', firstAfter(id, time)).orderBy('number').limit(1);
      const [end] = rowsIn(await readRows(scope, table, rows, { fields: versionFields, limit: 1 }));
      const version = end ? versionIn(kind, end.before) : current;
      return version && version.createdAt <= time && version.updatedAt <= time ? version : null;
    },
  };
}

function expanded(
  { firstId, records, number, ...change }: ChangesRow,
  { skipped = 0, limit = records }: { readonly skipped?: number; readonly limit?: number } = {},
): Change[] {
  if (records === 1) return [{ ...change, number, id: firstId }];
  const first = number - records + 1 + skipped;
  return idsFrom(firstId, Math.min(records - skipped, limit), skipped).map((id, index) => ({
    ...change,
    number: first + index,
    id,
  }));
}

export type ChangePageQuery = Omit<ChangesQuery, 'upTo'>;

export interface ChangePage {
  readonly changes: readonly Change[];
  /** The number after which the next page begins. All changes up to it are on this page or earlier ones, or of other kinds. */
  readonly end: number;
  readonly hasMore: boolean;
}

export interface ChangePageReads {
  /** May be empty although there is more: changes of some kinds may be far apart. Throws a ServiceError 400 if `after` is in the future. */
  changePage(query: ChangePageQuery): Promise<ChangePage>;
}

/** The most rows of the log that are read for a page of some kinds: the changes between them are read, too. */
const maxScanned = 100_000;

export function createChangePageReads(scope: Scope): ChangePageReads {
  const { dialect, run, workspaceId } = scope;
  const { changes } = createChangeReads(scope);

  async function extentAfter(after: number) {
    const [row] = await runQuery(
      run,
      dialect.builder.raw(
        `select number, (
          select number from changes where workspace_id = ? and number >= ? order by number limit 1
        ) as upto from change_numbers where workspace_id = ?`,
        [workspaceId, requireWhole(after + maxScanned), workspaceId],
      ),
    );
    const last = Number(row?.number ?? 0);
    return { last, upTo: Number(row?.upto ?? last) };
  }

  return {
    async changePage({ limit, ...query }) {
      const { after } = query;
      // Read first: the end of the page also passes numbers without a change, such as those of changes that an older version has moved.
      const { last, upTo } = await extentAfter(after);
      if (after > last) throw beyondLast(after, last);
      const found = await changes({ ...query, upTo, limit: limit + 1 });
      const page = found.slice(0, limit);
      const end = found.length > limit ? page.at(-1)?.number : upTo;
      return { changes: page, end: Math.max(after, end ?? 0), hasMore: found.length > limit || upTo < last };
    },
  };
}

/** Otherwise the consumer would get nothing until there are as many changes again, and miss these. */
const beyondLast = (after: number, last: number) =>
  badRequest(
    `the cursor "${after}" is beyond the last change, which is "${last}"; after restoring a backup, consumers must start over`,
  );

export interface HistoryQuery {
  readonly before?: number | undefined;
  readonly limit: number;
  readonly withBefore: boolean;
}

export interface HistoryReads {
  /** Returns the changes of each of the records with these IDs, of any kinds, the latest first, in the order of the IDs. */
  histories(ids: readonly string[], query: HistoryQuery): Promise<Change[][]>;
}

export function createHistoryReads(scope: Scope): HistoryReads {
  const { dialect, run, workspaceId } = scope;
  const { builder, jsonElements, jsonArrayOf } = dialect;

  /** Returns, for each record, the numbers of the rows with its changes, and of the row that may have its creation. */
  async function rowNumbers(ids: readonly string[], { before = Number.MAX_SAFE_INTEGER, limit }: HistoryQuery) {
    const rows = await runQuery(
      run,
      builder.raw(
        `select (
          select ${jsonArrayOf}(number) from (
            select number from changes where workspace_id = ? and first_id = sent.value ->> 0 and action <> 'created'
              and number < ? order by number desc limit ?
          ) as later
        ) as later, (
          select number from changes where workspace_id = ? and first_id <= sent.value ->> 0 and action = 'created'
            order by first_id desc limit 1
        ) as creation from ${jsonElements}(?) as sent`,
        [workspaceId, requireWhole(before), requireWhole(limit), workspaceId, JSON.stringify(ids.map((id) => [id]))],
      ),
    );
    return rows.map(({ later, creation }) => ({
      // Postgres aggregates no rows to null.
      later: (JSON.parse(String(later)) ?? []) as number[],
      creation: creation === null ? [] : [Number(creation)],
    }));
  }

  return {
    async histories(ids, query) {
      const { before = Number.POSITIVE_INFINITY, limit } = query;
      if (ids.length === 0) return [];
      const numbers = await rowNumbers(ids, query);
      const wanted = [...new Set(numbers.flatMap(({ later, creation }) => [...later, ...creation]))];
      if (wanted.length === 0) return ids.map(() => []);
      const rows = rowsQuery(dialect, table, workspaceId, { where: { field: 'number', in: wanted } });
      const found = rowsIn(
        await readRows(scope, table, rows, { fields: fieldsOfChanges(query), limit: wanted.length }),
      );
      const byNumber = new Map(found.map((row) => [row.number, row]));
      const rowsWith = (these: readonly number[]) => these.flatMap((number) => byNumber.get(number) ?? []);
      return ids.map((id, index) => {
        const { later = [], creation = [] } = numbers[index] ?? {};
        const changes = rowsWith(later.toSorted((a, b) => b - a)).flatMap((row) => expanded(row));
        const created = rowsWith(creation).flatMap((row) => creationIn(row, id));
        return [...changes, ...created.filter(({ number }) => number < before)].slice(0, limit);
      });
    },
  };
}

/** None if the row has only other records, because this one is older than the log. */
function creationIn(row: ChangesRow, id: string): Change[] {
  const place = placeAfter(row.firstId, id);
  return place !== undefined && place < row.records ? expanded(row, { skipped: place, limit: 1 }) : [];
}
