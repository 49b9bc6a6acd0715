/**
 * Records of one workspace, kept in tables. A store is born bound to its workspace: every statement is filtered or
 * stamped with it, and there is no store without one. Knows no rules; services do.
 */
import { newId } from '../model/ids.ts';
import type { CreateOf, RecordKind, RecordOf } from '../model/record-kind.ts';
import { columnList, columnName, columnsOf, recordOf, updateOf } from './columns.ts';
import type { Run } from './connections.ts';
import type { Database } from './database.ts';
import type { Row } from './engine.ts';

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
  /**
   * Runs the work in one transaction: all of it is stored, or nothing. Only the store passed in may be used inside.
   * Work that lost against other transactions is run again: it must do nothing but through that store.
   */
  transaction<T>(work: (store: WorkspaceStore) => Promise<T>): Promise<T>;
  /** Stores the records and returns them, in the order given. */
  insert<K extends RecordKind>(kind: K, drafts: readonly Draft<K>[]): Promise<RecordOf<K>[]>;
  /** Changes the fields that are present. */
  update<K extends RecordKind>(kind: K, id: string, changes: Partial<RecordOf<K>>): Promise<void>;
  /** The records with these ids, in no particular order; those that are not there are left out. */
  find<K extends RecordKind>(kind: K, ids: readonly string[]): Promise<RecordOf<K>[]>;
  /** The record to change: in a transaction, nobody else changes it before the end. */
  findForUpdate<K extends RecordKind>(kind: K, id: string): Promise<RecordOf<K> | undefined>;
  list<K extends RecordKind>(kind: K, range?: Range): Promise<RecordOf<K>[]>;
  count(kind: RecordKind): Promise<number>;
  /** Which of these values the field has in some record: in a transaction, none of those goes away before the end. */
  existing(kind: RecordKind, field: string, values: readonly string[]): Promise<Set<string>>;
}

/** What a store has cost so far. */
export interface Usage {
  /** Statements, those that begin and end transactions aside. */
  statements: number;
}

export function createWorkspaceStore(
  database: Database,
  workspaceId: string,
  usage: Usage = { statements: 0 },
): WorkspaceStore {
  const bind = (run: Run) =>
    bindStore(
      database,
      (sql, values) => {
        usage.statements += 1;
        return run(sql, values);
      },
      workspaceId,
    );
  return {
    ...bind(database.run),
    transaction: (work) => database.transaction((run) => work(bind(run))),
  };
}

/** A store on what runs its statements: any connection, or that of a transaction, which a transaction within it joins. */
function bindStore({ engine }: Database, run: Run, workspaceId: string): WorkspaceStore {
  const select = (what: string, { table }: RecordKind, rest = '', values: readonly unknown[] = []) =>
    run(`select ${what} from ${table} where workspace_id = ?${rest}`, [workspaceId, ...values]);

  const selectRecords = async <K extends RecordKind>(kind: K, rest: string, values: readonly unknown[]) =>
    (await select(columnList(kind), kind, rest, values)).map((row) => recordOf(kind, row));

  const store: WorkspaceStore = {
    transaction: (work) => work(store),

    async insert(kind, drafts) {
      const records = drafts.map((draft) => toRecord(kind, draft, workspaceId));
      for (const { sql, values } of engine.inserts(kind, records)) await run(sql, values);
      return records;
    },

    async update(kind, id, changes) {
      const { sql, values } = updateOf(kind, workspaceId, id, changes);
      await run(sql, values);
    },

    find(kind, ids) {
      const { sql, values } = engine.oneOf('id', ids);
      return selectRecords(kind, ` and ${sql}`, values);
    },

    async findForUpdate(kind, id) {
      const [record] = await selectRecords(kind, ` and id = ?${engine.forUpdate}`, [id]);
      return record;
    },

    list(kind, { after, before, limit, fromEnd = false } = {}) {
      const rest = [];
      const values = [];
      if (after !== undefined) {
        rest.push(' and id > ?');
        values.push(after);
      }
      if (before !== undefined) {
        rest.push(' and id < ?');
        values.push(before);
      }
      rest.push(fromEnd ? ' order by id desc' : ' order by id');
      if (limit !== undefined) {
        rest.push(' limit ?');
        values.push(limit);
      }
      return selectRecords(kind, rest.join(''), values);
    },

    async count(kind) {
      const [row] = await select('count(*) as count', kind);
      return Number(row?.count);
    },

    async existing(kind, field, values) {
      const column = columnName(field);
      const condition = engine.oneOf(column, values);
      const rows = await select(
        `${column} as value`,
        kind,
        ` and ${condition.sql}${engine.forShare}`,
        condition.values,
      );
      return new Set(rows.map(({ value }) => String(value)));
    },
  };
  return store;
}

function toRecord<K extends RecordKind>(kind: K, draft: Draft<K>, workspaceId: string): RecordOf<K> {
  const values: Row = draft;
  const record: Record<string, unknown> = {};
  for (const { field } of columnsOf(kind)) record[field] = values[field] ?? null;
  record.id = newId(kind.idPrefix);
  record.workspaceId = workspaceId;
  // Sound because every stored field is there: the kind's own from the input, the others from the draft and from here.
  return record as RecordOf<K>;
}
