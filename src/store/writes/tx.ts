/**
 * A write as services see it: lookups and locks of its transaction, and the changes it decides on.
 *
 * Invariants:
 * - A decision has no effects outside of the transaction: after a conflict it is made again.
 * - Locks are taken in one order: names, referenced records, changed records, unique values; and records of a kind by
 *   ID. Writes that lock in different orders could deadlock: one that breaks the order is a defect and fails here. The
 *   order of kinds, targets before the records that refer to them, is up to services, unchecked.
 * - A record is changed or deleted only after it was read with a lock.
 * - A dry run locks nothing: no other write waits for it.
 * - A transaction reads at most 50 MB of text: a batch of a few bytes may name records with much text.
 */
import type { Knex } from 'knex';
import { tooLarge } from '../../errors.ts';
import { isSorted, textLengthOfAll } from '../../model/fields.ts';
import { formatCount } from '../../model/issues.ts';
import type { AnyRecord, Criterion, RecordKind } from '../../model/record-kind.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';
import { sortKey } from '../../model/sort-key.ts';
import { TransactionConflict } from '../connections/database-error.ts';
import type { Row } from '../connections/driver.ts';
import { type ChangeReads, createChangeReads } from '../log.ts';
import { columnName, pickFields, recordFromValues, tableColumns } from '../query/columns.ts';
import { keyField } from '../query/computed.ts';
import { endless, overlapsSql, requireField } from '../query/conditions.ts';
import type { Insert } from '../query/dialect.ts';
import { parseRows, rowsQuery, runQuery, selectEach, selectRecords } from '../query/rows.ts';
import type { Action } from '../query/tables.ts';
import { type BoundedRead, measureRows, type ReadBudget, type WorkspaceScope } from '../records/read-budget.ts';
import { asRecords, createRecordReads, type RecordReads, readParents } from '../records/read-records.ts';

/** Texts of changes, versions and found records count towards the limit. */
export interface Tx
  extends Pick<ChangeReads, 'lastChange' | 'changes' | 'histories' | 'versions'>,
    Pick<RecordReads, 'pages' | 'find'> {
  /** Until the transaction ends. */
  lock(name: string): Promise<void>;
  /** Locks the records until the transaction ends. */
  existingValues(kind: RecordKind, field: string, values: readonly string[]): Promise<ReadonlySet<string>>;
  /** Reads and locks the records. IDs without a record are left out. */
  findToUpdate(kind: RecordKind, ids: readonly string[]): Promise<AnyRecord[]>;
  /** Like findToUpdate. Also waits for transactions about to store references to the records. */
  findToDelete(kind: RecordKind, ids: readonly string[]): Promise<AnyRecord[]>;
  /** At most `limit` parents by ID: null for a root. */
  ancestors(tree: ReverseLink, ids: readonly string[], limit: number): Promise<ReadonlyMap<string, string | null>>;
  /** At most `limit` IDs, in any order. */
  findReferring(link: ReverseLink, ids: readonly string[], limit: number): Promise<string[]>;
  /** For each time, the first record that overlaps it, not in `except`. `times` are by the occupied ID. */
  findOccupying<Time extends OccupiedTime>(
    kind: RecordKind,
    field: string,
    times: ReadonlyMap<string, readonly Time[]>,
    except: readonly string[],
  ): Promise<ReadonlyMap<Time, string>>;
  /** For each list, the first `maxMatches` IDs of records that meet all criteria, not in `except`. */
  findMatches(
    kind: RecordKind,
    wanted: readonly (readonly Criterion[])[],
    except?: readonly string[],
  ): Promise<readonly (readonly string[])[]>;
}

export interface OccupiedTime {
  readonly start: string;
  /** `endless` for an open end. */
  readonly end: string;
}

export const byStart = (a: OccupiedTime, b: OccupiedTime): number =>
  a.start < b.start ? -1 : Number(a.start > b.start);

/** Throws a ServiceError below 500 to reject the write, TransactionConflict to decide again. */
export type Decide<T> = (tx: Tx) => Promise<Decision<T>>;

interface Decision<T> {
  readonly changes: readonly Change[];
  /** Plain data, stored as JSON if the write has a key. */
  readonly returned: T;
}

/**
 * New records of one kind, inserted by one statement with other waiting creations. Only the database checks unique
 * values, references and key, which saves a third of the time. If it refuses, the write follows as a transaction.
 */
export interface Creation<T> extends Pick<Insert, 'references'> {
  readonly kind: RecordKind;
  readonly values: readonly Row[];
  decide(): Decision<T>;
}

/** A restored record is created with its old ID. */
export interface Change {
  readonly kind: RecordKind;
  readonly action: Action;
  readonly before: Row | null;
  readonly after: Row | null;
  readonly at: string;
}

export { endless };

export const lookupOutdated = () => new TransactionConflict('LOOKUP_OUTDATED');

interface TxContext extends WorkspaceScope {
  readonly isDryRun: boolean;
  readonly locks: LockOrder;
  readonly texts: TextAllowance;
}

export function createTx(scope: WorkspaceScope, { isDryRun = false } = {}): Tx {
  const texts = new TextAllowance();
  const context: TxContext = { ...scope, isDryRun, locks: new LockOrder(), texts };
  const { lastChange, changes, histories, versions } = createChangeReads({ ...scope, budget: texts });
  return {
    lastChange,
    changes,
    histories,
    versions,
    pages: createRecordReads(scope).pages,
    find: createRecordReads({ ...scope, budget: texts }).find,
    lock: (name) => lockName(context, name),
    existingValues: (kind, field, values) => findExistingValues(context, kind, field, values),
    findToUpdate: (kind, ids) => findToWrite(context, kind, ids, 'forNoKeyUpdate'),
    findToDelete: (kind, ids) => findToWrite(context, kind, ids, 'forUpdate'),
    ancestors: (tree, ids, limit) => readParents(scope, tree, ids, limit),
    findReferring: (link, ids, limit) => findReferring(scope, link, ids, limit),
    findOccupying: (kind, field, times, except) => findOccupying(scope, kind, field, times, except),
    findMatches: (kind, wanted, except) => lookUpMatches(scope, kind, wanted, except),
  };
}

const lockOrder = ['names', 'referenced records', 'changed records', 'unique values'] as const;

class LockOrder {
  #last = 0;

  require(locked: (typeof lockOrder)[number]): void {
    const place = lockOrder.indexOf(locked);
    if (place < this.#last) throw new Error(`a write must lock ${locked} before ${lockOrder[this.#last]}`);
    this.#last = place;
  }
}

const maxBytes = 50_000_000;

class TextAllowance implements ReadBudget {
  #bytesLeft = maxBytes;

  async read<T>(bounded: BoundedRead<T>): Promise<T> {
    this.require(await bounded.measure(), 'the records held');
    const { result, length } = await bounded.read(false);
    this.spend(length);
    return result;
  }

  require(bytes: number, messageStart: string): void {
    if (bytes <= this.#bytesLeft) return;
    throw tooLarge(
      `${messageStart} more than ${formatCount(maxBytes)} bytes of text: change or delete fewer at a time`,
      'records too large',
    );
  }

  spend(bytes: number): void {
    this.#bytesLeft -= bytes;
  }
}

const lockRows = (
  { isDryRun }: TxContext,
  rows: Knex.QueryBuilder,
  lock: 'forUpdate' | 'forNoKeyUpdate' | 'forKeyShare',
) => (isDryRun ? rows : rows[lock]());

const rowsSortedById = ({ dialect, workspaceId }: TxContext, kind: RecordKind, ids: readonly string[]) =>
  dialect.rowsById(kind, workspaceId, [...new Set(ids)].sort());

async function lockName({ dialect, run, workspaceId, locks, isDryRun }: TxContext, name: string): Promise<void> {
  locks.require('names');
  if (dialect.lock && !isDryRun) await run(dialect.lock, [workspaceId, name]);
}

async function findExistingValues(
  context: TxContext,
  kind: RecordKind,
  field: string,
  values: readonly string[],
): Promise<ReadonlySet<string>> {
  const { dialect, run, workspaceId, locks } = context;
  const isId = field === 'id';
  locks.require(isId ? 'referenced records' : 'unique values');
  const rows = isId
    ? rowsSortedById(context, kind, values)
    : rowsQuery(dialect, kind, workspaceId, { where: { field, in: values } });
  const found = await runQuery(run, lockRows(context, rows.select({ value: columnName(field) }), 'forKeyShare'));
  return new Set(found.map(({ value }) => String(value)));
}

async function findToWrite(
  context: TxContext,
  kind: RecordKind,
  ids: readonly string[],
  lock: 'forUpdate' | 'forNoKeyUpdate',
): Promise<AnyRecord[]> {
  const { dialect, run, locks, texts } = context;
  locks.require('changed records');
  const rows = rowsSortedById(context, kind, ids);
  const locked = lockRows(context, rows.clone(), lock);
  // A single record cannot be too long.
  const bytes = ids.length <= 1 ? 0 : await measureRows(dialect, run, kind, rows);
  texts.require(bytes, `the ${kind.pluralLabel} hold`);
  const records = await selectRecords(context, kind, locked);
  texts.spend(textLengthOfAll(records));
  return asRecords(kind, records);
}

async function findReferring(
  { dialect, run, workspaceId }: WorkspaceScope,
  { kind, field }: ReverseLink,
  ids: readonly string[],
  limit: number,
): Promise<string[]> {
  const referring = dialect.rowsReferring({ table: kind, field }, workspaceId, ids, limit);
  const rows = await runQuery(run, referring.select('id'));
  return rows.map(({ id }) => String(id));
}

const rowsOfSlice = 10_000;

/**
 * Reads the rows once, in slices by start: a lookup for each time would read all earlier rows again, 20 s for 10,000
 * times among 10,000 rows.
 */
async function findOccupying<Time extends OccupiedTime>(
  { dialect, run, workspaceId }: WorkspaceScope,
  kind: RecordKind,
  field: string,
  times: ReadonlyMap<string, readonly Time[]>,
  except: readonly string[],
): Promise<ReadonlyMap<Time, string>> {
  const { builder, jsonElements, jsonArrayOf, jsonRow, fromJson, parents, timeType } = dialect;
  const { table } = kind;
  const columns = tableColumns(pickFields(kind, new Set(['id', 'startDate', 'endDate'])));
  const toValues = fromJson(columns);
  const time = (index: number) => `cast(value ->> ${index} as ${timeType})`;
  // Materialized, the times are parsed once.
  const spans = `occupied as materialized (
    select value ->> 0 as id, ${time(1)} as first_start, ${time(2)} as last_end, ${time(3)} as read_up_to
    from ${jsonElements}(?) as sent)`;
  const occupying = rowsQuery(dialect, kind, workspaceId)
    .whereRaw(`${columnName(field)} = occupied.id and ${table}.start_date >= occupied.read_up_to`)
    .whereRaw(overlapsSql(table, 'occupied.first_start', 'occupied.last_end'))
    .whereRaw(`${table}.id not in (select parent.value from ?)`, [parents(except)])
    .orderByRaw(`${table}.start_date, ${table}.id`)
    .select(columns.map(({ name }) => `${table}.${name}`));
  const json = builder.raw(`${jsonArrayOf}(${jsonRow(columns)})`);
  const holders = new Map<Time, string>();
  let unfinished = [...times].map(([id, ofId]) => ({ id, left: ofId.toSorted(byStart), readUpTo: '-infinity' }));
  while (unfinished.length > 0) {
    // For a single time, one row is enough.
    const limit = unfinished.some(({ left }) => left.length > 1) ? Math.ceil(rowsOfSlice / unfinished.length) : 1;
    const slice = builder.from(occupying.clone().limit(limit).as('slice')).select(json);
    const sent = unfinished.map(({ id, left, readUpTo }) => [id, left[0]?.start, latestEnd(left), readUpTo]);
    const slices = builder.raw(`with ${spans} select (?) as found from occupied`, [JSON.stringify(sent), slice]);
    const found = await runQuery(run, slices);
    unfinished = unfinished.filter((occupied, index) => {
      const { left } = occupied;
      const rows = parseRows(found[index]?.found).map((values) => recordFromValues(columns, toValues(values)));
      for (const { id, startDate, endDate } of rows) {
        // No later slice has a row that ends before `left[0]`: the other times start later.
        while (left[0] && String(endDate ?? endless) > left[0].start) {
          if (String(startDate) < left[0].end) holders.set(left[0], String(id));
          left.shift();
        }
        occupied.readUpTo = String(startDate);
      }
      return left.length > 0 && rows.length === limit;
    });
  }
  return holders;
}

const latestEnd = (times: readonly OccupiedTime[]): string =>
  times.reduce((latest, { end }) => (end > latest ? end : latest), '');

/** The characters that JavaScript's `trim` removes: SQL's removes spaces alone. */
const whiteSpace =
  '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';

/** Several matches are an error, which shows a few. */
export const maxMatches = 4;

/** Lists of criteria on the same fields share a statement. */
async function lookUpMatches(
  scope: WorkspaceScope,
  kind: RecordKind,
  wanted: readonly (readonly Criterion[])[],
  except: readonly string[] = [],
): Promise<readonly (readonly string[])[]> {
  const { dialect, run } = scope;
  const { builder } = dialect;
  const indexesByForm = new Map<string, number[]>();
  for (const [index, criteria] of wanted.entries()) {
    const form = formOfCriteria(criteria);
    const indexes = indexesByForm.get(form);
    if (indexes) indexes.push(index);
    else indexesByForm.set(form, [index]);
  }
  const found: (readonly string[])[] = wanted.map(() => []);
  for (const indexes of indexesByForm.values()) {
    const lists = indexes.map((index) => wanted[index] ?? []);
    const { ids, readsExternalIds } = matchingIds(scope, kind, lists[0] ?? [], except);
    if (readsExternalIds && dialect.prepareExternalIds) await run(dialect.prepareExternalIds);
    const joined = builder.from(ids.as('matching')).select(builder.raw("string_agg(matching.id, ' ')"));
    const texts = lists.map((criteria) => criteria.flatMap((criterion) => criterionTexts(kind, criterion)));
    for (const [at, matches] of (await selectEach(dialect, run, texts, joined)).entries()) {
      if (matches !== null) found[indexes[at] ?? 0] = String(matches).split(' ');
    }
  }
  return found;
}

const formOfCriteria = (criteria: readonly Criterion[]) =>
  criteria.map(({ by, text }) => `${'field' in by ? by.field : 'externalIds'}${text === null ? ' null' : ''}`).join();

const criterionTexts = (kind: RecordKind, { by, text }: Criterion) => [
  ...('field' in by ? [] : [by.externalId]),
  ...(text === null ? [] : hasSortKey(kind, by) ? [text, sortKey(text)] : [text]),
];

const hasSortKey = ({ storedFields }: RecordKind, by: Criterion['by']): boolean =>
  'field' in by && isSorted(requireField(storedFields, by.field));

/** In the subquery, `sent.value` has the `criterionTexts` of a list. */
function matchingIds(
  { dialect, workspaceId }: WorkspaceScope,
  kind: RecordKind,
  criteria: readonly Criterion[],
  except: readonly string[],
) {
  const { filters, parents } = dialect;
  const { table } = kind;
  const records = { workspaceId, table, column: columnName('externalIds') };
  const hasId = criteria.some(({ by }) => 'field' in by && by.field === 'id');
  const isOnlyCondition = criteria.length + except.length === 1;
  let textsUsed = 0;
  const nextText = () => `(sent.value ->> ${textsUsed++})`;
  let withExternalId: Knex.QueryBuilder | undefined;
  const conditions = criteria.flatMap(({ by, text }) => {
    const key = 'field' in by ? undefined : nextText();
    const column = 'field' in by ? columnName(by.field) : filters.externalId(`${table}.${records.column}`, key ?? '');
    if (text === null) return [`coalesce(trim(${column}, '${whiteSpace}'), '') = ''`];
    const value = nextText();
    if ('field' in by && hasSortKey(kind, by)) {
      return [`${column} = ${value}`, `${columnName(keyField(by.field))} = ${nextText()}`];
    }
    if (key === undefined || withExternalId || hasId) return [`${column} = ${value}`];
    // After the ID's, the index of external IDs is the most selective.
    withExternalId = filters.idsWithExternalId(records, key, value, isOnlyCondition ? maxMatches : undefined);
    return [];
  });
  if (withExternalId && conditions.length + except.length === 0) return { ids: withExternalId, readsExternalIds: true };
  const rows = rowsQuery(dialect, kind, workspaceId).orderBy('id').limit(maxMatches).select('id');
  for (const condition of conditions) rows.whereRaw(condition);
  if (withExternalId) rows.whereIn('id', withExternalId);
  if (except.length > 0) rows.whereRaw('id not in (select parent.value from ?)', [parents(except)]);
  return { ids: rows, readsExternalIds: withExternalId !== undefined };
}
