/**
 * Sessions, and how they write: creations, updates, upserts, deletions and imports, over REST and GraphQL, go from items to changes in one
 * function. (The reversal of changes composes the same steps for its own items.) What is wrong with an item is noted in it, so that the
 * response lists everything at once.
 */
import { conflict, forbidden, invalid, notFound } from '../errors.ts';
import { isSame } from '../model/fields.ts';
import { count, type Issue, type Parsed, type PathOf } from '../model/issues.ts';
import type { Linkable, RecordKey } from '../model/links.ts';
import type { AnyRecord, RecordKind, RecordOf, Values } from '../model/record-kind.ts';
import type { ValueLimits } from '../model/schemas.ts';
import { newIds } from '../records/index.ts';
import type { TransactionOptions, WorkspaceReads, WorkspaceStore } from '../store/workspace-store.ts';
import type { Change, Creation } from '../store/writes/apply-changes.ts';
import type { Tx } from '../store/writes/tx.ts';
import {
  checkDeletions,
  checkReferences,
  checkTrees,
  checkUnique,
  clearReferences,
  inTreeOrder,
  lockTrees,
  parentIn,
  referencesIn,
  treeOf,
} from './checks.ts';
import {
  byKind,
  type Item,
  isRejected,
  isValid,
  itemOf,
  type OnInvalid,
  type Rejected,
  rejectDependents,
  type Stored,
} from './item.ts';
import { matchRecords, noRecord, resolveLinks } from './match.ts';

/** Who makes a request, in which workspace, and whether they may write. */
export interface Session {
  readonly store: WorkspaceReads;
  /** The name of the workspace, which records have as their `workspaceId`. */
  readonly workspace: string;
  /** Recorded as `createdBy` and `updatedBy`; null while the service runs open. */
  readonly userId: string | null;
  /** False for a read-only key, with which `transaction` throws. */
  readonly mayWrite: boolean;
  /** The only way to write. Throws a ServiceError 403 if the user may only read. */
  readonly transaction: WorkspaceStore['transaction'];
  /**
   * Returns a session whose one write has a key, and returns the stored result if it is repeated, with the records as they were, or is a
   * dry run, which stores nothing. New records of a dry run have IDs other than those that the write will give them.
   */
  with(how: How): Session;
}

type How = Pick<TransactionOptions<unknown>, 'key' | 'isDryRun'>;

export function createSession(
  store: WorkspaceStore,
  user: Pick<Session, 'userId' | 'mayWrite'>,
  how: How = {},
): Session {
  const { userId, mayWrite } = user;
  let isUsed = false;
  return {
    store,
    workspace: store.workspaceName,
    userId,
    mayWrite,
    async transaction(work, options) {
      if (!mayWrite) throw forbidden('this API key is read-only', 'read-only key');
      if (how.key && isUsed) throw new Error('a session with a key writes once');
      isUsed = true;
      return store.transaction(work, { ...options, ...how });
    },
    with: (more) => createSession(store, user, { ...how, ...more }),
  };
}

/** What records say of the session that wrote them. */
type Author = Pick<Session, 'workspace' | 'userId'>;

/** How items are matched with records, and what becomes of invalid ones. */
interface WriteOptions {
  readonly onInvalid?: OnInvalid;
  /** The key by which upserts and deletions find their records: by their IDs without it. */
  readonly by?: RecordKey | undefined;
  /** The limits of external IDs after they are merged. */
  readonly limits?: ValueLimits;
  /** The most references that a deletion clears; without it, referenced records are not deleted. */
  readonly maxCleared?: number | undefined;
  /** One record by its ID, as PATCH has it: a 404 if there is none, and any field counts as a change, even with the value that it had. */
  readonly isPatch?: boolean;
  /** Returns the stored records also as they were. */
  readonly withBefore?: boolean | undefined;
}

/** All or none, in the order sent. Throws a ServiceError with every issue: 403, 413, 400, or 409 if all of them are conflicts. */
async function write(
  session: Session,
  sent: readonly Item[],
  options: WriteOptions = {},
): Promise<(Stored | Rejected)[]> {
  // An empty batch changes nothing, and does not use its key.
  if (sent.length === 0 && session.mayWrite) return [];
  return session.transaction(
    async (tx) => {
      // Copies: after a conflict with another transaction, all of this runs again.
      const items = sent.map((item): Item => ({ ...item, issues: [...item.issues] }));
      await lock(tx, items);
      await resolveLinks(tx, items);
      await checkReferences(tx, items);
      await matchRecords(tx, items, options);
      if (options.isPatch) requireFound(items);
      await checkUnique(tx, items, options.by);
      if (options.maxCleared === undefined) await checkDeletions(tx, items, orClear);
      await checkTrees(tx, items, options);
      if (options.onInvalid === 'skip') rejectDependents(items);
      else requireValid(items);
      const valid = items.filter(isValid);
      const cleared = await clearReferences(tx, valid, options.maxCleared);
      const { changes, stored } = changesOf(session, [...cleared, ...valid], options);
      const returned = items.map((item): Stored | Rejected => {
        const result = stored.get(item);
        if (!result) return { outcome: 'rejected', issues: item.issues };
        // The cast is safe: the record is of the item's kind.
        return options.withBefore ? { ...result, before: item.before as Stored['before'] } : result;
      });
      return { changes, returned };
    },
    { creation: creationOf(session, sent), items: sent.length },
  );
}

const orClear = (pronoun: string) => `; delete ${pronoun} first, or send references: CLEAR`;

/** New records of one kind need no transaction if the database finds their references, and no unique value taken. */
function creationOf(session: Author, items: readonly Item[]): Creation<(Stored | Rejected)[]> | undefined {
  const [{ kind } = {}] = items;
  const isPlain = (item: Item) => item.op === 'create' && item.kind === kind && item.issues.length === 0;
  if (!kind || !items.every((item) => isPlain(item) && !item.links && item.ref === undefined)) return undefined;
  const { byTarget, wrong } = referencesIn(items);
  if (wrong.length > 0) return undefined;
  const idsOf = (references: readonly { readonly id: string }[]) => [...new Set(references.map(({ id }) => id))];
  return {
    kind,
    values: items.map(({ values }) => values),
    references: new Map([...byTarget].map(([target, references]) => [target, idsOf(references)])),
    make() {
      const { changes, stored } = changesOf(session, items);
      return { changes, returned: items.map((item) => stored.get(item) as Stored) };
    },
  };
}

/** In the order of all writes (see lockOrder in store/writes/tx.ts). */
export async function lock(tx: Tx, items: readonly Item[]): Promise<void> {
  // Otherwise two upserts of a key that no record has would both create one, and two reversals would restore the same record.
  const lookedUp = items.filter(({ op }) => op === 'upsert' || op === 'restore');
  for (const { table } of byKind(lookedUp).keys()) await tx.lock(`upsert ${table}`);
  await lockTrees(tx, items);
}

function requireFound(items: readonly Item[]): void {
  for (const { kind, id = '', before } of items) if (!before) throw notFound(noRecord(kind, id));
}

/** Issues listed per batch. Beyond that, only the first issue of each item is listed, and the rest are counted. */
const maxListed = 10_000;

function requireValid(items: readonly Item[]): void {
  const listed: Issue[] = [];
  let total = 0;
  for (const { path, issues } of items) {
    total += issues.length;
    const own = listed.length < maxListed ? issues : issues.slice(0, 1);
    for (const issue of own) listed.push({ path: [...path, ...issue.path], message: issue.message });
    if (own.length < issues.length) listed.push({ path, message: `and ${count(issues.length - own.length)} more` });
  }
  if (total === 0) return;
  if (items.every(({ issues }) => issues.every(({ isConflict }) => isConflict))) throw conflict(listed);
  throw invalid(listed, total);
}

/**
 * Returns the changes, and what is then stored for each item: new records first, each kind's parents before their children, then those that
 * change, and last those that are deleted. Items are valid, and those to update have their records. Reads and stores nothing.
 */
export function changesOf(
  session: Author,
  items: readonly Item[],
  { isPatch = false }: { readonly isPatch?: boolean } = {},
): { readonly changes: Change[]; readonly stored: ReadonlyMap<Item, Stored> } {
  const changes: Change[] = [];
  const stored = new Map<Item, Stored>();
  // The cast is safe: the record has all fields of the item's kind.
  const note = (item: Item, outcome: Stored['outcome'], record: object | null) =>
    stored.set(item, { record: record as RecordOf<RecordKind>, outcome });
  const add = (item: Item, outcome: Stored['outcome'], change: Change) => {
    changes.push(change);
    note(item, outcome, change.after ?? change.before);
  };
  // The same for all kinds: as of that time, everything that was created together is there.
  const now = new Date().toISOString();
  for (const [item, after] of recordsToCreate(session, items, now)) {
    add(item, 'created', { kind: item.kind, action: 'created', before: null, after, at: String(after.updatedAt) });
  }
  for (const item of items) {
    const { op, kind, values, before } = item;
    if (!before || op === 'delete') continue;
    const changed = isPatch ? values : differing(before, values);
    if (Object.keys(changed).length === 0) note(item, 'unchanged', before);
    else {
      const after = { ...before, ...changed, ...updateStamps(kind, session, before, now) };
      add(item, 'updated', { kind, action: 'updated', before, after, at: after.updatedAt });
    }
  }
  const deleted = items.filter(({ op, before }) => op === 'delete' && before);
  const at = deleted.reduce((time, { before }) => timeAfter(before, time), now);
  for (const item of deleted) {
    add(item, 'deleted', { kind: item.kind, action: 'deleted', before: item.before ?? null, after: null, at });
  }
  return { changes, stored };
}

function recordsToCreate(session: Author, items: readonly Item[], now: string) {
  const newItems = items.filter(({ op, before }) => !before && op !== 'delete');
  const records = new Map<Item, Record<string, unknown>>();
  for (const [kind, ofKind] of byKind(newItems)) {
    const fields = Object.keys(kind.fields);
    const blank = Object.fromEntries(Object.keys(kind.storedFields).map((field) => [field, null]));
    const unset = { ...blank, ...creationStamps(kind, session, now) };
    const ids = newIds(kind.idPrefix, ofKind.length).values();
    for (const item of treeOf(kind) ? inTreeOrder(ofKind, parentIn).order : ofKind) {
      const { values, restored } = item;
      const record: Record<string, unknown> = restored
        ? { ...restored, ...updateStamps(kind, session, restored, now) }
        : { ...unset, id: ids.next().value };
      if (!restored) for (const field of fields) record[field] = values[field] ?? null;
      records.set(item, record);
    }
  }
  for (const [{ linked = [] }, record] of records) {
    for (const [field, target] of linked) record[field] = records.get(target)?.id;
  }
  return records;
}

/** Returns only the changed values: the others would log an empty change. */
export function differing(record: Values, values: Values): Values {
  const changed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) if (!isSame(record[name], value)) changed[name] = value;
  return changed;
}

/** A new record counts as last changed by its creator. */
function creationStamps(kind: RecordKind, { workspace, userId }: Author, now: string) {
  const stamps = Object.fromEntries(kind.stamps.map((stamp) => [stamp, userId]));
  return { ...stamps, workspaceId: workspace, createdAt: now, updatedAt: now };
}

const updateStamps = (kind: RecordKind, { userId }: Author, current: AnyRecord, now: string) => ({
  updatedAt: timeAfter(current, now),
  ...(kind.stamps.includes('updatedBy') && { updatedBy: userId }),
});

/** No two versions of a record have the same `updatedAt`, even when the clock is behind. */
const timeAfter = (record: AnyRecord | undefined, now: string): string =>
  !record || now > record.updatedAt ? now : new Date(Date.parse(record.updatedAt) + 1).toISOString();

const recordsOf = (written: readonly (Stored | Rejected)[]): RecordOf<RecordKind>[] =>
  written.flatMap((item) => (isRejected(item) ? [] : [item.record]));

/** Creates all or none, in the order sent (docs/interface.md). */
export async function createRecords(
  session: Session,
  kind: RecordKind,
  batch: readonly Linkable<object>[],
): Promise<RecordOf<RecordKind>[]> {
  const items = batch.map((sent, index) => itemOf('create', kind, [index], sent));
  return recordsOf(await write(session, items));
}

interface Batch {
  readonly kind: RecordKind;
  readonly items: readonly Linkable<object>[];
  readonly pathOf: PathOf;
}

/** Creates records of several kinds, which may refer to each other before they have IDs. Returns them by batch. */
export async function importRecords(
  session: Session,
  batches: readonly Batch[],
  onInvalid: OnInvalid = 'fail',
): Promise<(RecordOf<RecordKind> | Rejected)[][]> {
  const items = batches.flatMap(({ kind, items: sent, pathOf }) =>
    sent.map((item, index) => itemOf('create', kind, pathOf(index), item)),
  );
  const left = (await write(session, items, { onInvalid })).map((item) => (isRejected(item) ? item : item.record));
  return batches.map(({ items: sent }) => left.splice(0, sent.length));
}

/** A record that has all values already keeps its `updatedAt`. */
export async function updateRecords(
  session: Session,
  kind: RecordKind,
  batch: readonly Linkable<object>[],
  limits: ValueLimits,
): Promise<RecordOf<RecordKind>[]> {
  const items = batch.map((sent, index) => itemOf('update', kind, [index], sent));
  return recordsOf(await write(session, items, { limits }));
}

/** Any field counts as a change, even with the value that it had, as PATCH has always done. Throws a 404 as well. */
export async function updateRecord(
  session: Session,
  kind: RecordKind,
  id: string,
  change: Linkable<object>,
  limits: ValueLimits,
): Promise<RecordOf<RecordKind>> {
  const item = { ...itemOf('update', kind, [], change), id };
  const [record] = recordsOf(await write(session, [item], { isPatch: true, limits }));
  return record as RecordOf<RecordKind>;
}

export type Upserted =
  | (Omit<Stored, 'outcome'> & { readonly outcome: Exclude<Stored['outcome'], 'deleted'> })
  | Rejected;

/** Updates the records that have the key of an item, or its ID without a key, and creates the others. */
export async function upsertRecords(
  session: Session,
  kind: RecordKind,
  batch: readonly Linkable<object>[],
  options: Pick<WriteOptions, 'by' | 'limits' | 'onInvalid' | 'withBefore'>,
): Promise<Upserted[]> {
  const items = batch.map((sent, index) => itemOf('upsert', kind, [index], sent));
  return (await write(session, items, options)) as Upserted[];
}

interface DeleteOptions {
  readonly references: 'refuse' | 'clear';
  readonly maxCleared: number;
  /** What was sent are such keys, instead of IDs. */
  readonly by?: RecordKey | undefined;
}

/** Returns the records as they were. */
export async function deleteRecords(
  session: Session,
  kind: RecordKind,
  sent: readonly Parsed<string>[],
  { references, maxCleared, by }: DeleteOptions,
): Promise<RecordOf<RecordKind>[]> {
  const items = sent.map((parsed, index): Item => {
    const item = itemOf('delete', kind, [index], parsed);
    return by ? { ...item, key: parsed.value } : { ...item, id: parsed.value };
  });
  const options = { by, maxCleared: references === 'clear' ? maxCleared : undefined };
  return recordsOf(await write(session, items, options));
}
