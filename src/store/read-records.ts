/** Reads the records of one workspace: every statement is limited to it. */
import type { Knex } from 'knex';
import { textLengthOfAll } from '../model/fields.ts';
import type { RecordKind, RecordOf, Table } from '../model/record-kind.ts';
import type { ReverseLink } from '../model/reverse-link.ts';
import { partOf } from './columns.ts';
import type { Dialect } from './dialect.ts';
import type { Row, Run } from './driver.ts';
import { pagesSelection } from './query/pages.ts';
import {
  oldestFirst,
  type PagesQuery,
  type RecordQuery,
  type Summary,
  type SummaryQuery,
} from './query/record-query.ts';
import { summarize } from './query/summaries.ts';
import { rowsQuery, runQuery } from './query.ts';
import { type BoundedRead, type ReadBudget, selectWithin } from './read-budget.ts';

export interface RecordReads {
  /** The records with these IDs, in no particular order. IDs without a record are left out. */
  find<K extends RecordKind>(kind: K, ids: readonly string[], fields?: RecordQuery['fields']): Promise<RecordOf<K>[]>;
  /** The records that match the query, oldest first unless it has another order, with the fields that it names. */
  list<K extends RecordKind>(kind: K, query?: RecordQuery): Promise<RecordOf<K>[]>;
  count(kind: RecordKind, query?: Pick<RecordQuery, 'where'>): Promise<number>;
  /**
   * What a reverse link leads to, for many parents in one statement: a page, the count, or both. Oldest first unless the query
   * has another order. Every parent is in the result.
   */
  pages(link: ReverseLink, parentIds: readonly string[], query: PagesQuery): Promise<ReadonlyMap<string, Page>>;
  /** Counts the records that match by what they have in common, in one statement. */
  summarize(kind: RecordKind, query: SummaryQuery): Promise<Summary>;
}

/** Records have the fields of the query. */
export interface Page {
  readonly records: readonly RecordOf<RecordKind>[];
  readonly count?: number;
}

/** Where statements run, and what they may read. */
export interface Scope {
  readonly dialect: Dialect;
  readonly run: Run;
  readonly workspaceId: string;
  readonly budget?: ReadBudget | undefined;
}

const readBounded = <T>({ budget }: Scope, bounded: BoundedRead<T>): Promise<T> =>
  budget ? budget.read(bounded) : bounded.readAll();

/** The rows of a query, with these fields. A query with a limit is read within the budget. */
export function selectRows(
  scope: Scope,
  whole: Table,
  rows: Knex.QueryBuilder,
  { fields, limit }: Pick<RecordQuery, 'fields' | 'limit'>,
): Promise<Row[]> {
  const { dialect, run } = scope;
  const table = partOf(whole, fields);
  if (limit === undefined) return dialect.select(run, table, rows);
  return readBounded(scope, {
    table,
    maxRows: limit,
    readAll: () => dialect.select(run, table, rows, true),
    readWithin: (maxBytes) => selectWithin(dialect, run, table, rows, maxBytes),
    rowsOf: (found) => found,
  });
}

export function createRecordReads(scope: Scope): RecordReads {
  const { dialect, run, workspaceId } = scope;
  return {
    find: async (kind, ids, fields) =>
      stored(
        kind,
        await selectRows(scope, kind, dialect.rowsById(kind, workspaceId, ids), { fields, limit: ids.length }),
      ),

    list: async (kind, query = {}) =>
      stored(
        kind,
        await selectRows(scope, kind, rowsQuery(dialect, kind, workspaceId, { orderBy: oldestFirst, ...query }), query),
      ),

    async count(kind, query) {
      const [row] = await runQuery(run, rowsQuery(dialect, kind, workspaceId, query).count({ count: '*' }));
      return Number(row?.count);
    },

    async pages(link, parentIds, query) {
      const ids = [...new Set(parentIds)];
      if (ids.length === 0) return new Map();
      const selection = pagesSelection(dialect, workspaceId, link, ids, query);
      const pages = await readBounded(scope, {
        table: selection.table,
        maxRows: ids.length * (query.limit ?? 0),
        readAll: () => dialect.selectPages(run, selection),
        readWithin: (maxBytes) => dialect.selectPagesWithin(run, selection, maxBytes),
        rowsOf: (found) => found.flatMap(({ records }) => records),
      });
      return new Map(
        pages.map(({ records, count }, index) => [
          ids[index] ?? '',
          { records: stored(link.kind, records), ...(count !== undefined && { count }) },
        ]),
      );
    },

    summarize(kind, query) {
      const read = () => summarize(dialect, run, workspaceId, kind, query);
      const valuesIn = ({ groups }: Summary) => groups.map(({ values }) => values);
      return readBounded(scope, {
        table: partOf(kind, new Set(query.groupBy.map(({ field }) => field))),
        maxRows: query.limit + 1,
        readAll: read,
        // Groups are few, and their values short: they are measured when they have been read.
        async readWithin(maxBytes) {
          const summary = await read();
          return textLengthOfAll(valuesIn(summary)) <= maxBytes ? summary : undefined;
        },
        rowsOf: valuesIn,
      });
    },
  };
}

/** The cast is safe: rows have the columns of the kind's fields, and are written only from its records. */
export const stored = <K extends RecordKind>(_kind: K, rows: readonly Row[]) =>
  rows as readonly object[] as RecordOf<K>[];
