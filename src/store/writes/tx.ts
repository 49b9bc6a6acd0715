/** What a write may do in its transaction before it says what it changes: find records, and lock them until the transaction ends. */
import type { Knex } from 'knex';
import { tooLarge } from '../../errors.ts';
import { textLengthOfAll } from '../../model/fields.ts';
import { formatCount } from '../../model/issues.ts';
import type { AnyRecord, Criterion, RecordKind } from '../../model/record-kind.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';
import { TransactionConflict } from '../connections/database-error.ts';
import type { Row } from '../connections/driver.ts';
import { type ChangeReads, createChangeReads } from '../log.ts';
import { columnName } from '../query/columns.ts';
import type { Insert } from '../query/dialect.ts';
import { rowsQuery, runQuery, selectEach, selectRecords } from '../query/rows.ts';
import type { Action } from '../query/tables.ts';
import { measureRows, type ReadBudget, type WorkspaceScope } from '../records/read-budget.ts';
import { asRecords, createRecordReads, type RecordReads, readParents } from '../records/read-records.ts';

/** Reads of the log. Like records that are read to write them, the versions that are read are limited together. */
type LogReads = Pick<ChangeReads, 'lastChange' | 'changes' | 'histories' | 'versions'>;

export interface Tx extends LogReads, Pick<RecordReads, 'pages' | 'find'> {
  /** Waits for all other transactions that hold the lock with this name in the workspace, and keeps it until this one ends. */
  lock(name: string): Promise<void>;
  /** Locks the records: no other transaction can remove the values before this one ends. */
  existingValues(kind: RecordKind, field: string, values: readonly string[]): Promise<ReadonlySet<string>>;
  /** Reads the records and locks them. IDs without a record are left out. */
  findToUpdate(kind: RecordKind, ids: readonly string[]): Promise<AnyRecord[]>;
  /** Reads and locks records like findToUpdate, and also waits for transactions that are about to store references to them. */
  findToDelete(kind: RecordKind, ids: readonly string[]): Promise<AnyRecord[]>;
  /** By ID: null for a root. At most `limit` are read. */
  ancestors(tree: ReverseLink, ids: readonly string[], limit: number): Promise<ReadonlyMap<string, string | null>>;
  /** Returns the IDs of records whose reference is one of these IDs, at most `limit`, in no particular order. */
  findReferring(link: ReverseLink, ids: readonly string[], limit: number): Promise<string[]>;
  /** Returns the IDs of the first few records that meet all criteria of each list, without those of `except`. */
  readonly findMatches: FindMatches;
}

/**
 * Decides what a write changes. Has no effects: it runs again after a conflict. Throws a ServiceError below 500 to reject the write,
 * TransactionConflict to run again.
 */
export type Decide<T> = (tx: Tx) => Promise<Decision<T>>;

export interface Decision<T> {
  readonly changes: readonly Change[];
  /** The result, now and when the write is repeated with its key: plain data, for it is stored as JSON. */
  readonly returned: T;
}

/**
 * New records of one kind, whose unique values, references and key only the database checks, when it stores them: by one statement, together with
 * other creations that wait. That is a third faster than a transaction, which looks them up first, and is what follows if the database refuses.
 */
export interface Creation<T> extends Pick<Insert, 'references'> {
  readonly kind: RecordKind;
  /** The fields of each record that the client has set. */
  readonly values: readonly Row[];
  decide(): Decision<T>;
}

/** What happens to one record, which was read with a lock unless it is new, or stored again with the ID that it had. */
export interface Change {
  readonly kind: RecordKind;
  readonly action: Action;
  readonly before: AnyRecord | null;
  readonly after: AnyRecord | null;
  readonly at: string;
}

/** Ends the transaction and runs it again: another one has changed the records that it looked up. */
export const lookupOutdated = () => new TransactionConflict('LOOKUP_OUTDATED');

/** The most text of the records that one transaction reads to change or delete them. */
const maxBytes = 50_000_000;

const tooMuchText = (recordsHold: string) =>
  tooLarge(
    `${recordsHold} more than ${formatCount(maxBytes)} bytes of text: change or delete fewer at a time`,
    'records too large',
  );

/**
 * Two writes that lock the same things in different orders could wait for each other: so locks with a name come first, then the records
 * that others refer to, then those that are changed, and last those with values that are to be unique. A write that locks in another
 * order is a defect, which fails here and not in a deadlock. Records of several kinds have an order of their own, targets before what
 * refers to them, which is not checked here.
 */
const lockOrder = ['names', 'referenced records', 'changed records', 'unique values'] as const;

/** For one write. A dry run locks nothing, so that no other write waits for it. */
export function createTx(scope: WorkspaceScope, { isDryRun = false } = {}): Tx {
  const { dialect, run, workspaceId } = scope;
  let bytesLeft = maxBytes;
  let lastPlace = 0;

  function requireOrder(locked: (typeof lockOrder)[number]): void {
    const place = lockOrder.indexOf(locked);
    if (place < lastPlace) throw new Error('a write locks what it should have locked before');
    lastPlace = place;
  }

  const lockRows = (rows: Knex.QueryBuilder, lock: 'forUpdate' | 'forNoKeyUpdate' | 'forKeyShare') =>
    isDryRun ? rows : rows[lock]();

  /** Of two transactions that lock the same records, one then waits for the other at the first one. */
  const rowsInOrder = (kind: RecordKind, ids: readonly string[]) =>
    dialect.rowsById(kind, workspaceId, [...new Set(ids)].sort());

  /** Reads records to write, within a limit on their texts: a batch names records in a few bytes, however much text they hold. */
  async function readToWrite(
    kind: RecordKind,
    ids: readonly string[],
    lock: 'forUpdate' | 'forNoKeyUpdate',
  ): Promise<AnyRecord[]> {
    requireOrder('changed records');
    const rows = rowsInOrder(kind, ids);
    const locked = lockRows(rows.clone(), lock);
    // A single record cannot be too long.
    const bytes = ids.length <= 1 ? 0 : await measureRows(dialect, run, kind, rows);
    if (bytes > bytesLeft) throw tooMuchText(`the ${kind.pluralLabel} hold`);
    const records = await selectRecords(dialect, run, kind, locked);
    bytesLeft -= textLengthOfAll(records);
    return asRecords(scope, kind, records);
  }

  const budget: ReadBudget = {
    async read(bounded) {
      if ((await bounded.measure()) > bytesLeft) throw tooMuchText('the records held');
      const { result, length } = await bounded.read(false);
      bytesLeft -= length;
      return result;
    },
  };
  const { lastChange, changes, histories, versions } = createChangeReads({ ...scope, budget });

  return {
    findMatches: createFindMatches(scope),
    lastChange,
    changes,
    histories,
    versions,
    pages: createRecordReads(scope).pages,
    find: createRecordReads({ ...scope, budget }).find,

    async lock(name) {
      requireOrder('names');
      if (dialect.lock && !isDryRun) await run(dialect.lock, [workspaceId, name]);
    },

    async existingValues(kind, field, values) {
      requireOrder(field === 'id' ? 'referenced records' : 'unique values');
      const rows =
        field === 'id'
          ? rowsInOrder(kind, values)
          : rowsQuery(dialect, kind, workspaceId, { where: { field, in: values } });
      const found = await runQuery(run, lockRows(rows.select({ value: columnName(field) }), 'forKeyShare'));
      return new Set(found.map(({ value }) => String(value)));
    },

    findToUpdate: (kind, ids) => readToWrite(kind, ids, 'forNoKeyUpdate'),

    findToDelete: (kind, ids) => readToWrite(kind, ids, 'forUpdate'),

    ancestors: (tree, ids, limit) => readParents(scope, tree, ids, limit),

    async findReferring({ kind, field }, ids, limit) {
      const referring = dialect.rowsReferring({ table: kind, field }, workspaceId, ids, limit);
      const rows = await runQuery(run, referring.select('id'));
      return rows.map(({ id }) => String(id));
    },
  };
}

/** What JavaScript's `trim` removes. That of SQL removes spaces alone. */
const whiteSpace =
  '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';

/** The most records that are found for one list of criteria: a caller that looks for one sees that there are several. */
export const maxMatches = 4;

type FindMatches = (
  kind: RecordKind,
  wanted: readonly (readonly Criterion[])[],
  except?: readonly string[],
) => Promise<readonly (readonly string[])[]>;

/** Lists of the same form share a statement: thousands of texts, each looked up in an index. */
function createFindMatches({ dialect, run, workspaceId }: WorkspaceScope): FindMatches {
  const { builder, filters, parents } = dialect;

  /** Returns the subquery for the IDs, and whether it reads the index of external IDs. */
  function queryOf(kind: RecordKind, criteria: readonly Criterion[], except: readonly string[]) {
    const { table } = kind;
    const records = { workspaceId, table, column: columnName('externalIds') };
    const hasId = criteria.some(({ by }) => 'field' in by && by.field === 'id');
    let parts = 0;
    const nextPart = () => `sent.value ->> ${parts++}`;
    let first: Knex.QueryBuilder | undefined;
    const conditions = criteria.flatMap(({ by, text }) => {
      const key = 'field' in by ? undefined : `(${nextPart()})`;
      const column = 'field' in by ? columnName(by.field) : filters.externalId(`${table}.${records.column}`, key ?? '');
      if (text === null) return [`coalesce(trim(${column}, '${whiteSpace}'), '') = ''`];
      const value = `(${nextPart()})`;
      if (key === undefined || first || hasId) return [`${column} = ${value}`];
      // The index of external IDs is the most selective one but that of the ID.
      first = filters.idsWithExternalId(
        records,
        key,
        value,
        criteria.length + except.length === 1 ? maxMatches : undefined,
      );
      return [];
    });
    if (first && conditions.length + except.length === 0) return { ids: first, readsExternalIds: true };
    const rows = rowsQuery(dialect, kind, workspaceId).orderBy('id').limit(maxMatches).select('id');
    for (const condition of conditions) rows.whereRaw(condition);
    if (first) rows.whereIn('id', first);
    if (except.length > 0) rows.whereRaw('id not in (select parent.value from ?)', [parents(except)]);
    return { ids: rows, readsExternalIds: first !== undefined };
  }

  const partsOf = ({ by, text }: Criterion) => [
    ...('field' in by ? [] : [by.externalId]),
    ...(text === null ? [] : [text]),
  ];

  const formOf = (criteria: readonly Criterion[]) =>
    criteria.map(({ by, text }) => `${'field' in by ? by.field : 'externalIds'}${text === null ? ' null' : ''}`).join();

  return async (kind, wanted, except = []) => {
    const forms = new Map<string, number[]>();
    for (const [place, criteria] of wanted.entries()) {
      const form = formOf(criteria);
      const places = forms.get(form);
      if (places) places.push(place);
      else forms.set(form, [place]);
    }
    const found: (readonly string[])[] = wanted.map(() => []);
    for (const places of forms.values()) {
      const lists = places.map((place) => wanted[place] ?? []);
      const { ids, readsExternalIds } = queryOf(kind, lists[0] ?? [], except);
      if (readsExternalIds && dialect.prepareExternalIds) await run(dialect.prepareExternalIds);
      const joined = builder.from(ids.as('matching')).select(builder.raw("string_agg(matching.id, ' ')"));
      const texts = lists.map((criteria) => criteria.flatMap(partsOf));
      for (const [index, matches] of (await selectEach(dialect, run, texts, joined)).entries()) {
        if (matches !== null) found[places[index] ?? 0] = String(matches).split(' ');
      }
    }
    return found;
  };
}
