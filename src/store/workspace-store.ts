/**
 * Records of one workspace, kept in tables. A store is born bound to its workspace: every statement is filtered or
 * stamped with it, and there is no store without one. Knows no rules; services do.
 */
import type { Knex } from 'knex';
import { newId } from '../model/ids.ts';
import type { CreateOf, RecordKind, RecordOf } from '../model/record-kind.ts';
import { changesOf, columnName, columnsOf, type Row, recordOf, valuesOf } from './columns.ts';
import type { Database } from './database.ts';
import { statement } from './database-error.ts';

/** A record before it is stored: the store gives it its id and its workspace. What is absent is not set. */
export type Draft<K extends RecordKind> = CreateOf<K> & { readonly createdAt: string; readonly updatedAt: string };

/** A stretch of a kind's records in the order of their ids, which is that of their creation. Both ends are left out. */
interface Range {
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly limit?: number;
  /** Counted from the end: the `limit` records closest to `before`, newest first. */
  readonly fromEnd?: boolean;
}

export interface WorkspaceStore {
  /** Runs the work in one transaction: all of it is stored, or nothing. Only the store passed in may be used inside. */
  transaction<T>(work: (store: WorkspaceStore) => Promise<T>): Promise<T>;
  /** Stores the records and returns them, in the order given. */
  insert<K extends RecordKind>(kind: K, drafts: readonly Draft<K>[]): Promise<RecordOf<K>[]>;
  /** Changes the fields that are present. */
  update<K extends RecordKind>(kind: K, id: string, changes: Partial<RecordOf<K>>): Promise<void>;
  /** The records with these ids, in no particular order; those that are not there are left out. */
  find<K extends RecordKind>(kind: K, ids: readonly string[]): Promise<RecordOf<K>[]>;
  list<K extends RecordKind>(kind: K, range?: Range): Promise<RecordOf<K>[]>;
  count(kind: RecordKind): Promise<number>;
  /** Which of these values the field has in some record. */
  existing(kind: RecordKind, field: string, values: readonly string[]): Promise<Set<string>>;
}

export const createWorkspaceStore = ({ knex }: Database, workspaceId: string): WorkspaceStore =>
  bindStore(knex, workspaceId);

function bindStore(knex: Knex, workspaceId: string): WorkspaceStore {
  const rowsOf = (kind: RecordKind) => knex<Row>(kind.table).where('workspace_id', workspaceId);

  return {
    transaction: (work) => inTransaction(knex, (transaction) => work(bindStore(transaction, workspaceId))),

    async insert(kind, drafts) {
      const records = drafts.map((draft) => toRecord(kind, draft, workspaceId));
      for (const { sql, values } of insertStatements(kind, records)) await statement(knex.raw(sql, values));
      return records;
    },

    async update(kind, id, changes) {
      await statement(rowsOf(kind).where({ id }).update(changesOf(kind, changes)));
    },

    async find(kind, ids) {
      const rows = await statement(
        rowsOf(kind)
          .whereRaw(...isOneOf('id', ids))
          .select(),
      );
      return rows.map((row) => recordOf(kind, row));
    },

    async list(kind, { after, before, limit, fromEnd = false } = {}) {
      const query = rowsOf(kind).orderBy('id', fromEnd ? 'desc' : 'asc');
      if (after !== undefined) query.where('id', '>', after);
      if (before !== undefined) query.where('id', '<', before);
      if (limit !== undefined) query.limit(limit);
      const rows = await statement(query.select());
      return rows.map((row) => recordOf(kind, row));
    },

    async count(kind) {
      const [row] = await statement(rowsOf(kind).count({ count: '*' }));
      return Number(row?.count);
    },

    async existing(kind, field, values) {
      const column = columnName(field);
      return new Set<string>(
        await statement(
          rowsOf(kind)
            .whereRaw(...isOneOf(column, values))
            .pluck(column),
        ),
      );
    },
  };
}

/** An error of the work itself passes as it is: only what the database says at BEGIN and COMMIT is translated. */
async function inTransaction<T>(knex: Knex, work: (transaction: Knex) => Promise<T>): Promise<T> {
  let failure: { error: unknown } | undefined;
  try {
    return await statement(
      knex.transaction((transaction) =>
        work(transaction).catch((error: unknown) => {
          failure = { error };
          throw error;
        }),
      ),
    );
  } catch (error) {
    throw failure ? failure.error : error;
  }
}

function toRecord<K extends RecordKind>(kind: K, draft: Draft<K>, workspaceId: string): RecordOf<K> {
  const values = draft as Readonly<Record<string, unknown>>;
  const record: Record<string, unknown> = {};
  for (const { field } of columnsOf(kind)) record[field] = values[field] ?? null;
  record.id = newId(kind.idPrefix);
  record.workspaceId = workspaceId;
  // Sound because every stored field is there: the kind's own from the input, the others from the draft and from here.
  return record as RecordOf<K>;
}

/** One parameter however many values there are: SQLite takes no more than 32,766 in a statement. */
const isOneOf = (column: string, values: readonly string[]) =>
  ['?? in (select value from json_each(?))', [column, JSON.stringify(values)]] as const;

const maxParameters = 32_766;

/**
 * A handful of statements for any number of records. Knex's own insert of many rows is a `union all` for each row,
 * which SQLite refuses from 501 rows on.
 */
function* insertStatements(kind: RecordKind, records: readonly Readonly<Record<string, unknown>>[]) {
  const columns = columnsOf(kind).map(({ name }) => name);
  const row = `(${columns.map(() => '?').join(', ')})`;
  const rowsPerStatement = Math.floor(maxParameters / columns.length);
  for (let start = 0; start < records.length; start += rowsPerStatement) {
    const chunk = records.slice(start, start + rowsPerStatement);
    yield {
      sql: `insert into ${kind.table} (${columns.join(', ')}) values ${chunk.map(() => row).join(', ')}`,
      values: chunk.flatMap((record) => valuesOf(kind, record)) as Knex.RawBinding[],
    };
  }
}
