/** Writes the records of one workspace within a transaction, and collects the changes to be logged before its commit. */
import type { Knex } from 'knex';
import { tooLarge } from '../errors.ts';
import { externalIdCount, textLengthOfAll } from '../model/fields.ts';
import { newIds } from '../model/ids.ts';
import { count } from '../model/issues.ts';
import type { CreateOf, RecordKind, RecordOf } from '../model/record-kind.ts';
import type { ReverseLink } from '../model/reverse-link.ts';
import { type Author, creationOf, type NewChange } from './changes.ts';
import type { GroupCheckStore } from './check-store.ts';
import { columnName, columnsOf } from './columns.ts';
import type { Statement } from './dialect.ts';
import type { Row, Run } from './driver.ts';
import { createRecordMatches, type RecordMatches } from './find-matches.ts';
import { findIdempotencyResults } from './idempotency.ts';
import { rowsQuery, runQuery } from './query.ts';
import { selectWithin } from './read-budget.ts';
import { readParents, type Scope, stored } from './read-records.ts';

/** What the service sets on a new record, beside its ID and its workspace. */
export interface Stamps {
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly createdBy?: string | null;
  readonly updatedBy?: string | null;
}

/** A record that was read with a lock, and what it is to become. */
export interface Replacement<R> {
  readonly before: R;
  readonly after: R;
}

export interface RecordWrites extends GroupCheckStore, RecordMatches {
  /**
   * Stores new records, and returns them in the order given. Fields that are absent are not set. `ids` are those that newIds has returned
   * for them, if they are known already.
   */
  add<K extends RecordKind>(
    kind: K,
    inputs: readonly CreateOf<K>[],
    stamps: Stamps,
    ids?: readonly string[],
  ): Promise<RecordOf<K>[]>;
  /** Stores the records as they are to be. Each has another `updatedAt` than before. */
  update<K extends RecordKind>(kind: K, replacements: readonly Replacement<RecordOf<K>>[]): Promise<void>;
  /** Deletes records that were read with `findToDelete`. */
  delete<K extends RecordKind>(kind: K, records: readonly RecordOf<K>[], at: string): Promise<void>;
  /** Reads the records and locks them until the transaction ends. IDs without a record are left out. */
  findToUpdate<K extends RecordKind>(kind: K, ids: readonly string[]): Promise<RecordOf<K>[]>;
  /** The same, and also waits for transactions that are about to store references to them. */
  findToDelete<K extends RecordKind>(kind: K, ids: readonly string[]): Promise<RecordOf<K>[]>;
  /** The parent of each of the records and of all their ancestors, by their IDs: null for a root. At most `limit` are read. */
  ancestors(tree: ReverseLink, ids: readonly string[], limit: number): Promise<ReadonlyMap<string, string | null>>;
  /** Waits for all other transactions that hold the lock with this name in the workspace, and keeps it until this one ends. */
  lock(name: string): Promise<void>;
  /** The IDs of records whose reference is one of these IDs, at most `limit`, in no particular order. */
  findReferring(link: ReverseLink, ids: readonly string[], limit: number): Promise<string[]>;
}

/** What a transaction does beside reading. */
export interface Effects {
  /** Runs statements that write, or that lock something other than rows. */
  runAll(statements: Iterable<Statement>): Promise<void>;
  /** Makes a query lock the rows that it finds until the transaction ends. */
  lockRows(rows: Knex.QueryBuilder, lock: 'forUpdate' | 'forNoKeyUpdate' | 'forKeyShare'): Knex.QueryBuilder;
}

export const effectsOn = (run: Run): Effects => ({
  async runAll(statements) {
    for (const { sql, values } of statements) await run(sql, values);
  },
  lockRows: (rows, lock) => rows[lock](),
});

/** For dry runs: stores nothing, and makes nobody wait. */
export const noEffects: Effects = {
  async runAll() {},
  lockRows: (rows) => rows,
};

/**
 * The most external IDs of the records that one write stores, and as many of those that it replaces or deletes. Each is a row of its own on
 * SQLite, where all other writes wait until so many are written: 0.2 to 0.5 s. Postgres has the same limit, so that both databases accept
 * the same requests.
 */
export const maxExternalIdsPerWrite = 30_000;

/** How externalIdCount counts, for messages. */
export const longExternalIds = 'one of more than 100 characters counts several times';

/** The most text of the records that one transaction reads to change or delete them. */
const maxBytes = 50_000_000;

/** The changes are added to `log`. */
export function createRecordWrites(
  scope: Scope,
  { runAll, lockRows }: Effects,
  author: Author,
  log: NewChange[],
): RecordWrites {
  const { dialect, run, workspaceId } = scope;
  let bytesLeft = maxBytes;
  let externalIdsLeft = maxExternalIdsPerWrite;

  /** In the order of the IDs, so that of two transactions that lock the same records, one waits for the other at the first of them. */
  const rowsInOrder = (kind: RecordKind, ids: readonly string[]) =>
    dialect.rowsById(kind, workspaceId, [...new Set(ids)].sort());

  /** A batch names records in a few bytes, however much text they hold. */
  async function readToWrite(
    kind: RecordKind,
    ids: readonly string[],
    lock: 'forUpdate' | 'forNoKeyUpdate',
  ): Promise<readonly Row[]> {
    const rows = lockRows(rowsInOrder(kind, ids), lock);
    // A single record cannot be too long.
    const isSingle = ids.length <= 1;
    const records = await (isSingle
      ? dialect.select(run, kind, rows)
      : selectWithin(dialect, run, kind, rows, bytesLeft));
    if (records) {
      bytesLeft -= textLengthOfAll(records);
      return records;
    }
    const most = `more than ${count(maxBytes)} bytes of text`;
    throw tooLarge(`the ${kind.pluralLabel} hold ${most}: change or delete fewer at a time`, 'records too large');
  }

  /** Before they are replaced or deleted. A single record may have as many as the settings allow. */
  function requireFewExternalIds(kind: RecordKind, records: readonly Row[]): void {
    if (records.length <= 1) return;
    for (const { externalIds } of records) externalIdsLeft -= externalIdCount(externalIds ?? {});
    if (externalIdsLeft >= 0) return;
    const most = `more than ${count(maxExternalIdsPerWrite)} external IDs (${longExternalIds})`;
    throw tooLarge(`the ${kind.pluralLabel} hold ${most}: change or delete fewer at a time`, 'records too large');
  }

  const changeOf = (
    kind: RecordKind,
    action: 'updated' | 'deleted',
    { workspaceId: _, ...before }: Row,
    at: unknown,
  ): NewChange => ({
    ...author,
    workspaceId,
    kind: kind.name,
    action,
    firstId: String(before.id),
    records: 1,
    at: String(at),
    before,
  });

  return {
    ...createRecordMatches(scope),

    async add(kind, inputs, stamps, ids = newIds(kind.idPrefix, inputs.length)) {
      if (inputs.length === 0) return [];
      const records = inputs.map((input, index) => ({ ...draftOf(kind, input, stamps), id: ids[index], workspaceId }));
      await runAll(dialect.inserts(kind, records));
      log.push(creationOf({ workspaceId, kind, author }, records));
      return stored(scope, kind, records);
    },

    async update(kind, replacements) {
      if (replacements.length === 0) return;
      const changed = new Set<string>();
      const replaced: Row[] = [];
      for (const { before, after } of replacements as readonly Replacement<Row>[]) {
        for (const { field } of columnsOf(kind)) {
          if (!changed.has(field) && !isStoredAs(before[field], after[field])) changed.add(field);
        }
        if (!isStoredAs(before.externalIds, after.externalIds)) replaced.push(before);
      }
      requireFewExternalIds(kind, replaced);
      const records = replacements.map(({ after }) => after as object as Row);
      await runAll(dialect.updates(kind, workspaceId, records, changed));
      for (const { before, after } of replacements)
        log.push(changeOf(kind, 'updated', before as object as Row, after.updatedAt));
    },

    async delete(kind, records, at) {
      requireFewExternalIds(kind, records as readonly object[] as readonly Row[]);
      await runAll(
        dialect.deletions(
          kind,
          workspaceId,
          records.map(({ id }) => id),
        ),
      );
      for (const record of records) log.push(changeOf(kind, 'deleted', record as object as Row, at));
    },

    findToUpdate: async (kind, ids) => stored(scope, kind, await readToWrite(kind, ids, 'forNoKeyUpdate')),

    findToDelete: async (kind, ids) => stored(scope, kind, await readToWrite(kind, ids, 'forUpdate')),

    ancestors: (tree, ids, limit) => readParents(scope, tree, ids, limit),

    async lock(name) {
      if (dialect.lock) await runAll([{ sql: dialect.lock, values: [workspaceId, name] }]);
    },

    async findReferring({ kind: table, field }, ids, limit) {
      const rows = await runQuery(run, dialect.rowsReferring({ table, field }, workspaceId, ids, limit).select('id'));
      return rows.map(({ id }) => String(id));
    },

    async existingValues(kind, field, values) {
      const rows =
        field === 'id'
          ? rowsInOrder(kind, values)
          : rowsQuery(dialect, kind, workspaceId, { where: { field, in: values } });
      const found = await runQuery(run, lockRows(rows.select({ value: columnName(field) }), 'forKeyShare'));
      return new Set(found.map(({ value }) => String(value)));
    },

    idempotencyResults: (keys) => findIdempotencyResults(scope, keys),
  };
}

/** External IDs are stored in the order in which they were sent. */
const isStoredAs = (before: unknown, after: unknown): boolean =>
  before === after ||
  (typeof before === 'object' && typeof after === 'object' && JSON.stringify(before) === JSON.stringify(after));

/** A new record with all its fields, but without an ID and a workspace. */
export function draftOf<K extends RecordKind>(kind: K, input: CreateOf<K>, stamps: Stamps): Row {
  const values: Row = input;
  const draft: Record<string, unknown> = {};
  for (const { field } of columnsOf(kind)) draft[field] = values[field] ?? null;
  return Object.assign(draft, stamps);
}
