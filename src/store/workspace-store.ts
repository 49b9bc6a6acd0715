/**
 * Records of one workspace, kept in tables. A store is born bound to its workspace: every statement is filtered or
 * stamped with it, and there is no store without one. Knows no rules; services do.
 */
import { newId } from '../model/ids.ts';
import type { CreateOf, RecordKind, RecordOf } from '../model/record-kind.ts';
import { type CheckStore, joinQuestions } from './check-store.ts';
import { columnName, columnsOf, part, updateOf } from './columns.ts';
import type { Database } from './database.ts';
import type { Sized } from './derived-cache.ts';
import type { Engine, Row, Run } from './engine.ts';
import { type Addition, createGroupCommit, type GroupCommit } from './group-commit.ts';
import { type BudgetedSelect, createReadBudget, type ReadLimits } from './read-budget.ts';

/** What the service notes on a new record, beside its id and its workspace. */
export interface Stamps {
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly createdBy?: string | null;
  readonly updatedBy?: string | null;
}

/** A stretch of a kind's records in the order of their ids, which is that of their creation. Both ends are left out. */
export interface Range {
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly limit?: number;
  /** Counted from the end: the `limit` records closest to `before`, newest first. */
  readonly fromEnd?: boolean;
}

/** The stored fields that records are read with; unless said, all. Whoever says so reads no others. */
type Fields = ReadonlySet<string> | undefined;

/** Reads of a request, whose texts have limits. */
export type LimitedReads = Pick<WorkspaceStore, 'find' | 'list' | 'count'>;

/** The store of a transaction, in which nothing is cached and no other connection is used. */
export type TransactionStore = Omit<WorkspaceStore, 'snapshot' | 'within' | 'derive'>;

export interface WorkspaceStore extends CheckStore {
  /**
   * Runs the work in one transaction: all of it is stored, or nothing. Only the store passed in may be used inside.
   * Work that lost against other transactions is run again: it must do nothing but through that store.
   */
  transaction<T>(work: (store: TransactionStore) => Promise<T>): Promise<T>;
  /** Runs work that only reads, on one state of the workspace, whatever others write meanwhile. */
  snapshot<T>(work: (store: Pick<WorkspaceStore, 'list'>) => Promise<T>): Promise<T>;
  /** A new record without its ID and workspace, which it gets when it is stored. What is absent is not set. */
  draft<K extends RecordKind>(kind: K, input: CreateOf<K>, stamps: Stamps): RecordOf<K>;
  /** Stores drafts, all or none, if `check` does not throw: see group-commit.ts. */
  add<K extends RecordKind>(kind: K, drafts: readonly RecordOf<K>[], check?: Check): Promise<void>;
  /** Changes the fields that are present. */
  update<K extends RecordKind>(kind: K, id: string, changes: Partial<RecordOf<K>>): Promise<void>;
  /** The records with these ids, in no particular order; those that are not there are left out. */
  find<K extends RecordKind>(kind: K, ids: readonly string[], fields?: Fields): Promise<RecordOf<K>[]>;
  /** The record to change: in a transaction, nobody else changes it before the end. */
  findForUpdate<K extends RecordKind>(kind: K, id: string): Promise<RecordOf<K> | undefined>;
  list<K extends RecordKind>(kind: K, range?: Range, fields?: Fields): Promise<RecordOf<K>[]>;
  count(kind: RecordKind): Promise<number>;
  /** Reads that together bring no more text than a response may hold, and throw a ResponseTooLarge instead. */
  within(limits: ReadLimits): LimitedReads;
  /**
   * What `make` derives from the workspace's records, cached under this name until anything is stored; made again where the
   * database cannot tell. Calls that arrive while it is made share the next one.
   */
  derive<T extends Sized>(name: string, make: () => Promise<T>): Promise<T>;
}

type Check = Addition<CheckStore>['check'];

/** What a store has cost so far. */
export interface Usage {
  /** Statements, those that begin and end transactions aside; one that is shared counts for each who shares it. */
  statements: number;
}

/** A database's transactions that only add. */
const additions = new WeakMap<Database, GroupCommit<CheckStore>>();

function additionsTo(database: Database): GroupCommit<CheckStore> {
  const { engine } = database;
  const known = additions.get(database);
  if (known) return known;
  const made = createGroupCommit(database, engine, (run, workspaceId) =>
    joinQuestions(bindStore(engine, run, workspaceId)),
  );
  additions.set(database, made);
  return made;
}

export function createWorkspaceStore(
  database: Database,
  workspaceId: string,
  usage: Usage = { statements: 0 },
): WorkspaceStore {
  const { run, read, transaction, snapshot } = database.sharedBy(workspaceId);
  const counted =
    (it: Run): Run =>
    (sql, values) => {
      usage.statements += 1;
      return it(sql, values);
    };
  const bind = (it: Run) => bindStore(database.engine, counted(it), workspaceId);
  return {
    ...bind(read),
    update: bind(run).update,
    transaction: (work) => transaction((it) => work(bind(it))),
    snapshot: (work) => snapshot((it) => work(bind(it))),
    within: (limits) =>
      bindStore(database.engine, counted(read), workspaceId, createReadBudget(database.engine, limits)),
    derive: (name, make) => database.cache.derive(counted(database.watch), `${workspaceId} ${name}`, make),
    async add(kind, records, check = acceptAll) {
      usage.statements += 1;
      const countedCheck: Check = async (store, isCareful) => {
        const existing: CheckStore['existing'] = (...question) => {
          usage.statements += 1;
          return store.existing(...question);
        };
        await check({ existing }, isCareful);
        giveIds(kind, workspaceId, records);
      };
      await additionsTo(database).add({ workspaceId, kind, records, check: countedCheck });
    },
  };
}

const acceptAll: Check = async () => {};

/** A store on what runs its statements: any connection, or that of a transaction, which a transaction within it joins. */
function bindStore(engine: Engine, run: Run, workspaceId: string, selectBudgeted?: BudgetedSelect): TransactionStore {
  const select = (what: string, { table }: RecordKind, rest = '', values: readonly unknown[] = []) =>
    run(`select ${what} from ${table} where workspace_id = ?${rest}`, [workspaceId, ...values]);

  /** `most` is how many records it can find, if that is known. */
  const selectRecords = async <K extends RecordKind>(
    kind: K,
    conditions: string,
    values: readonly unknown[],
    fields?: Fields,
    most?: number,
  ) => {
    const table = part(kind, fields);
    const rest = `where workspace_id = ?${conditions}`;
    const all = [workspaceId, ...values];
    const records =
      selectBudgeted && most !== undefined
        ? await selectBudgeted(run, { table, rest, values: all, most })
        : await engine.select(run, table, rest, all, most !== undefined);
    // Sound because the columns are those of the kind's fields, and rows are written from its records only.
    return records as readonly Row[] as RecordOf<K>[];
  };

  const store: TransactionStore = {
    transaction: (work) => work(store),

    draft: toRecord,

    async add(kind, records, check = acceptAll) {
      await check(store, true);
      giveIds(kind, workspaceId, records);
      for (const { sql, values } of engine.inserts(kind, records)) await run(sql, values);
    },

    async update(kind, id, changes) {
      const { sql, values } = updateOf(kind, workspaceId, id, changes);
      await run(sql, values);
    },

    find(kind, ids, fields) {
      const { sql, values } = engine.oneOf('id', ids);
      return selectRecords(kind, ` and ${sql}`, values, fields, ids.length);
    },

    async findForUpdate(kind, id) {
      const [record] = await selectRecords(kind, ` and id = ?${engine.forUpdate}`, [id]);
      return record;
    },

    list(kind, { after, before, limit, fromEnd = false } = {}, fields) {
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
        rest.push(engine.limit);
        values.push(limit);
      }
      return selectRecords(kind, rest.join(''), values, fields, limit);
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

function toRecord<K extends RecordKind>(kind: K, input: CreateOf<K>, stamps: Stamps): RecordOf<K> {
  const values: Row = input;
  const record: Record<string, unknown> = {};
  for (const { field } of columnsOf(kind)) record[field] = values[field] ?? null;
  // Sound because every stored field is there, in its order: the kind's own from the input, the others from here.
  return Object.assign(record, stamps) as object as RecordOf<K>;
}

/** As late as this, so that where there is one writer the order of ids is that of commits. */
function giveIds(kind: RecordKind, workspaceId: string, records: readonly object[]): void {
  for (const record of records as { id: string; workspaceId: string }[]) {
    record.id = newId(kind.idPrefix);
    record.workspaceId = workspaceId;
  }
}
