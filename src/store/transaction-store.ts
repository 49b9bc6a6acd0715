/** The store of a transaction, or of statements outside of one: what it reads and writes belongs to one workspace. */
import type { Knex } from 'knex';
import { textLengthOfAll } from '../model/fields.ts';
import type { CreateOf, RecordKind, RecordOf } from '../model/record-kind.ts';
import type { ReverseLink } from '../model/reverse-link.ts';
import type { CheckStore } from './check-store.ts';
import { columnName, columnsOf, partOf } from './columns.ts';
import type { Dialect } from './dialect.ts';
import type { Row, Run } from './driver.ts';
import { addIds, type Check, type Draft } from './group-commit.ts';
import { pagesSelection } from './query/pages.ts';
import {
  oldestFirst,
  type PagesQuery,
  type RecordQuery,
  type Summary,
  type SummaryQuery,
} from './query/record-query.ts';
import { summarize } from './query/summaries.ts';
import { rowsQuery, runQuery, updateQuery } from './query.ts';
import { type BoundedRead, type ReadBudget, selectWithin } from './read-budget.ts';

/** What the service sets on a new record, beside its ID and its workspace. */
interface Stamps {
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly createdBy?: string | null;
  readonly updatedBy?: string | null;
}

/** The store of a transaction. It caches nothing, and uses only the transaction's connection. */
export interface TransactionStore extends CheckStore {
  /**
   * Runs the work in one transaction: all of it is stored, or nothing. Only the store passed in may be used inside. Work that
   * conflicts with other transactions runs again, so it must have no effects except through that store.
   */
  transaction<T>(work: (store: TransactionStore) => Promise<T>): Promise<T>;
  /**
   * Stores new records, all or none, unless `check` throws (see group-commit.ts), and returns them in the order given. Fields
   * that are absent are not set.
   */
  add<K extends RecordKind>(
    kind: K,
    inputs: readonly CreateOf<K>[],
    stamps: Stamps,
    check?: Check,
  ): Promise<RecordOf<K>[]>;
  /** Changes the fields that are present in `changes`. */
  update<K extends RecordKind>(kind: K, id: string, changes: Partial<RecordOf<K>>): Promise<void>;
  /** The records with these IDs, in no particular order. IDs without a record are left out. */
  find<K extends RecordKind>(kind: K, ids: readonly string[], fields?: RecordQuery['fields']): Promise<RecordOf<K>[]>;
  /** Reads the record and locks it until the transaction ends. */
  findForUpdate<K extends RecordKind>(kind: K, id: string): Promise<RecordOf<K> | undefined>;
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

export const acceptAll: Check = async () => {};

/** A store whose statements run with `run`: on any connection, or in a transaction, which transactions inside it join. */
export function bindStore(dialect: Dialect, run: Run, workspaceId: string, budget?: ReadBudget): TransactionStore {
  const readBounded = <T>(bounded: BoundedRead<T>): Promise<T> => (budget ? budget.read(bounded) : bounded.readAll());

  async function select<K extends RecordKind>(
    kind: K,
    rows: Knex.QueryBuilder,
    { fields, limit }: Pick<RecordQuery, 'fields' | 'limit'>,
  ): Promise<RecordOf<K>[]> {
    const table = partOf(kind, fields);
    if (limit === undefined) return stored(kind, await dialect.select(run, table, rows));
    const records = await readBounded({
      table,
      maxRows: limit,
      readAll: () => dialect.select(run, table, rows, true),
      readWithin: (maxBytes) => selectWithin(dialect, run, table, rows, maxBytes),
      rowsOf: (found) => found,
    });
    return stored(kind, records);
  }

  const store: TransactionStore = {
    transaction: (work) => work(store),

    async add(kind, inputs, stamps, check = acceptAll) {
      await check(store, 'lookup');
      const records = inputs.map((input) => draftOf(kind, input, stamps));
      addIds({ kind, workspaceId, records });
      for (const { sql, values } of dialect.inserts(kind, records)) await run(sql, values);
      return stored(kind, records);
    },

    async update(kind, id, changes) {
      await runQuery(run, updateQuery(dialect, kind, workspaceId, id, changes));
    },

    find: (kind, ids, fields) => select(kind, dialect.rowsById(kind, workspaceId, ids), { fields, limit: ids.length }),

    async findForUpdate(kind, id) {
      const rows = rowsQuery(dialect, kind, workspaceId).where('id', id).forNoKeyUpdate();
      const [record] = await dialect.select(run, kind, rows);
      return record && stored(kind, [record])[0];
    },

    list: (kind, query = {}) =>
      select(kind, rowsQuery(dialect, kind, workspaceId, { orderBy: oldestFirst, ...query }), query),

    async count(kind, query) {
      const [row] = await runQuery(run, rowsQuery(dialect, kind, workspaceId, query).count({ count: '*' }));
      return Number(row?.count);
    },

    async pages(link, parentIds, query) {
      const ids = [...new Set(parentIds)];
      if (ids.length === 0) return new Map();
      const selection = pagesSelection(dialect, workspaceId, link, ids, query);
      const pages = await readBounded({
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
      return readBounded({
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

    async existingValues(kind, field, values) {
      const rows =
        field === 'id'
          ? dialect.rowsById(kind, workspaceId, values)
          : rowsQuery(dialect, kind, workspaceId, { where: { field, in: values } });
      const found = await runQuery(run, rows.select({ value: columnName(field) }).forKeyShare());
      return new Set(found.map(({ value }) => String(value)));
    },
  };
  return store;
}

export function draftOf<K extends RecordKind>(kind: K, input: CreateOf<K>, stamps: Stamps): Draft {
  const values: Row = input;
  const draft: Record<string, unknown> = {};
  for (const { field } of columnsOf(kind)) draft[field] = values[field] ?? null;
  return Object.assign(draft, stamps);
}

/** The cast is safe: rows have the columns of the kind's fields, and are written only from its records. */
export const stored = <K extends RecordKind>(_kind: K, rows: readonly Row[]) =>
  rows as readonly object[] as RecordOf<K>[];
