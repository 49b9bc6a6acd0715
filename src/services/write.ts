/**
 * Sessions, and how they write: whatever writes over REST or GraphQL makes items, which become changes in one function. Issues are noted in
 * the items, so that the response lists all of them at once.
 */
import { forbidden, invalid, notFound } from '../errors.ts';
import type { FoundIssue, Parsed, Path } from '../model/issues.ts';
import type { Linkable } from '../model/links.ts';
import type { AnyRecord, RecordKey, RecordKind, RecordOf, Values } from '../model/record-kind.ts';
import type { ValueLimits } from '../model/schemas.ts';
import { described, sentence } from '../model/sentences.ts';
import { linkOrder, newIds } from '../records/index.ts';
import type { TransactionOptions, WorkspaceReads, WorkspaceStore } from '../store/workspace-store.ts';
import type { Change, Creation, Tx } from '../store/writes/tx.ts';
import {
  checkDeletions,
  checkReferences,
  checkReferencesWithin,
  checkTrees,
  checkUnchanged,
  checkUnique,
  clearReferences,
  differing,
  lockTrees,
  referencesIn,
  rejectExchange,
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
import { completeItems, findByKeys, noRecord, readRecords, resolveLinks } from './match.ts';
import { inOrder } from './order.ts';

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
  with(options: SessionOptions): Session;
}

type SessionOptions = Pick<TransactionOptions<unknown>, 'key' | 'isDryRun'>;

export function createSession(
  store: WorkspaceStore,
  user: Pick<Session, 'userId' | 'mayWrite'>,
  options: SessionOptions = {},
): Session {
  const { userId, mayWrite } = user;
  let isUsed = false;
  return {
    store,
    workspace: store.workspaceName,
    userId,
    mayWrite,
    async transaction(decide, how) {
      if (!mayWrite) throw forbidden('this API key is read-only', 'read-only key');
      if (options.key && isUsed) throw new Error('a session with a key writes once');
      isUsed = true;
      return store.transaction(decide, { ...how, ...options });
    },
    with: (more) => createSession(store, user, { ...options, ...more }),
  };
}

/** What records say of the session that wrote them. */
type Author = Pick<Session, 'workspace' | 'userId'>;

/** What a write does with its items. */
interface WriteOptions<T> {
  readonly onInvalid?: OnInvalid;
  /** The limits of external IDs after they are merged. */
  readonly limits?: ValueLimits;
  /** The most references that deletions clear; without it, referenced records are not deleted. */
  readonly maxCleared?: number | undefined;
  /** Returns what the write returns for a valid item: what is stored, unless set. It has none for a deletion of what is deleted already. */
  resultOf?(item: Item, stored: Stored | undefined): T;
}

/**
 * Writes items of any verb and kind, all or none. Returns their results in the order sent. Throws a ServiceError with every issue: 403, 413,
 * 400, or 409 if all of them are conflicts.
 */
export async function write<T = Stored>(
  session: Session,
  sent: readonly Item[],
  { onInvalid = 'fail', limits, maxCleared, resultOf = (_, stored) => stored as T }: WriteOptions<T> = {},
): Promise<(T | Rejected)[]> {
  // An empty batch changes nothing, and does not use its key.
  if (sent.length === 0 && session.mayWrite) return [];
  return session.transaction(
    async (tx) => {
      // Copies: after a conflict with another transaction, all of this runs again.
      const items = sent.map((item): Item => ({ ...item, issues: [...item.issues] }));
      await lock(tx, items);
      await findByKeys(tx, items);
      await resolveLinks(tx, items);
      await checkReferences(tx, items);
      await readRecords(tx, items);
      completeItems(items, limits);
      await checkUnchanged(tx, items);
      checkReferencesWithin(items);
      if (maxCleared === undefined) await checkDeletions(tx, items);
      await checkUnique(tx, items);
      await checkTrees(tx, items, onInvalid);
      const { changes, stored } = await decideChanges(tx, session, items, { onInvalid, maxCleared });
      const returned = items.map((item): T | Rejected =>
        isValid(item) ? resultOf(item, stored.get(item)) : { outcome: 'rejected', issues: item.issues.map(described) },
      );
      return { changes, returned };
    },
    { creation: creationOf(session, sent, resultOf), items: sent.length },
  );
}

/** Returns the changes of the valid items in their order. Throws a ServiceError if some are invalid, unless these are left out. */
async function decideChanges(
  tx: Tx,
  session: Author,
  items: readonly Item[],
  { onInvalid, maxCleared }: Pick<WriteOptions<unknown>, 'onInvalid' | 'maxCleared'>,
) {
  for (;;) {
    if (onInvalid === 'skip') rejectDependents(items);
    else requireValid(items);
    const valid = items.filter(isValid);
    const cleared = await clearReferences(tx, valid, maxCleared);
    const { changes, stored } = changesOf(session, [...cleared, ...valid]);
    const { ordered, blocked } = inOrder([...changes.keys()]);
    if (blocked.length === 0) return { changes: ordered, stored };
    for (const { change, by } of blocked) rejectExchange(changes.get(change), changes.get(by));
  }
}

/** New records of one kind need no transaction if the database finds their references, and no unique value taken. */
function creationOf<T>(
  session: Author,
  items: readonly Item[],
  resultOf: (item: Item, stored: Stored | undefined) => T,
): Creation<(T | Rejected)[]> | undefined {
  const [{ kind } = {}] = items;
  const isPlain = (item: Item) => item.op === 'create' && item.kind === kind && item.issues.length === 0;
  if (!kind || !items.every((item) => isPlain(item) && !item.links && !item.merge && item.ref === undefined))
    return undefined;
  const { byTarget, wrong } = referencesIn(items);
  if (wrong.length > 0) return undefined;
  const idsOf = (references: readonly { readonly id: string }[]) => [...new Set(references.map(({ id }) => id))];
  return {
    kind,
    values: items.map(({ values }) => values),
    references: new Map([...byTarget].map(([target, references]) => [target, idsOf(references)])),
    decide() {
      const { changes, stored } = changesOf(session, items);
      return { changes: [...changes.keys()], returned: items.map((item) => resultOf(item, stored.get(item))) };
    },
  };
}

/** In the order of all writes (see lockOrder in store/writes/tx.ts). */
async function lock(tx: Tx, items: readonly Item[]): Promise<void> {
  // Otherwise two upserts of a key that no record has would both create one, and two reversals would restore the same record.
  const groups = byKind(items.filter(({ op }) => op === 'upsert' || op === 'restore'));
  for (const kind of linkOrder) if (groups.has(kind)) await tx.lock(`upsert ${kind.table}`);
  await lockTrees(tx, items);
}

/** Issues listed per batch. Beyond that, only the first issue of each item is listed, and the rest are counted. */
const maxListed = 10_000;

/** Throws a 404 for a patch of a record that does not exist. */
function requireValid(items: readonly Item[]): void {
  const listed: FoundIssue[] = [];
  for (const { op, kind, id = '', before, path, issues } of items) {
    if (op === 'patch' && !before) throw notFound(sentence(noRecord(kind, id)));
    const own = listed.length < maxListed ? issues : issues.slice(0, 1);
    for (const issue of own) listed.push({ ...issue, path: [...path, ...issue.path] });
    if (own.length < issues.length) listed.push({ path, code: 'unlisted', count: issues.length - own.length });
  }
  const all = items.flatMap(({ issues }) => issues);
  if (all.length > 0) throw invalid(listed, all);
}

/** Returns the changes of valid items, and what is then stored for each. Reads and stores nothing. */
export function changesOf(
  session: Author,
  items: readonly Item[],
): { readonly changes: ReadonlyMap<Change, Item>; readonly stored: ReadonlyMap<Item, Stored> } {
  const changes = new Map<Change, Item>();
  const stored = new Map<Item, Stored>();
  // The cast is safe: the record has all fields of the item's kind.
  const note = (item: Item, outcome: Stored['outcome'], record: object | null) =>
    stored.set(item, { record: record as RecordOf<RecordKind>, outcome });
  const add = (item: Item, outcome: Stored['outcome'], change: Change) => {
    changes.set(change, item);
    note(item, outcome, change.after ?? change.before);
  };
  // The same for all kinds: as of that time, everything that was created together is there.
  const now = new Date().toISOString();
  const ids = idsOfNew(items);
  const valuesOf = ({ values, linked }: Item): Values =>
    linked
      ? { ...values, ...Object.fromEntries([...linked].map(([field, target]) => [field, ids.get(target)])) }
      : values;
  const deletedAt = items.reduce((at, { op, before }) => (op === 'delete' ? timeAfter(before, at) : at), now);
  for (const [kind, ofKind] of byKind(items)) {
    const blank = Object.fromEntries(Object.keys(kind.storedFields).map((field) => [field, null]));
    const unset = { ...blank, ...creationStamps(kind, session, now) };
    const fields = Object.keys(kind.fields);
    for (const item of ofKind) {
      const { op, before, restored } = item;
      if (op === 'delete') {
        if (before) add(item, 'deleted', { kind, action: 'deleted', before, after: null, at: deletedAt });
      } else if (before) {
        const changed = op === 'patch' ? valuesOf(item) : differing(before, valuesOf(item));
        if (Object.keys(changed).length === 0) note(item, 'unchanged', before);
        else {
          const after = { ...before, ...changed, ...updateStamps(kind, session, before, now) };
          add(item, 'updated', { kind, action: 'updated', before, after, at: after.updatedAt });
        }
      } else {
        const after: Record<string, unknown> = restored
          ? { ...restored, ...updateStamps(kind, session, restored, now) }
          : { ...unset, id: ids.get(item) };
        const values = restored ? {} : valuesOf(item);
        for (const field of fields) if (values[field] !== undefined) after[field] = values[field];
        add(item, 'created', { kind, action: 'created', before: null, after, at: String(after.updatedAt) });
      }
    }
  }
  return { changes, stored };
}

function idsOfNew(items: readonly Item[]): ReadonlyMap<Item, string> {
  const ids = new Map<Item, string>();
  for (const [kind, ofKind] of byKind(
    items.filter(({ op, before, restored }) => op !== 'delete' && !before && !restored),
  )) {
    const own = newIds(kind.idPrefix, ofKind.length);
    for (const [index, item] of ofKind.entries()) ids.set(item, own[index] ?? '');
  }
  return ids;
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

const recordsOf = (results: readonly (Stored | Rejected)[]): RecordOf<RecordKind>[] =>
  results.flatMap((result) => (isRejected(result) ? [] : [result.record]));

/** Creates all or none, in the order sent (docs/interface.md). */
export async function createRecords(
  session: Session,
  kind: RecordKind,
  batch: readonly Linkable<object>[],
): Promise<RecordOf<RecordKind>[]> {
  const items = batch.map((parsed, index) => itemOf('create', kind, [index], parsed));
  return recordsOf(await write(session, items));
}

/** A record that has all values already keeps its `updatedAt`. */
export async function updateRecords(
  session: Session,
  kind: RecordKind,
  batch: readonly Linkable<object>[],
  limits: ValueLimits,
): Promise<RecordOf<RecordKind>[]> {
  const items = batch.map((parsed, index) => itemOf('update', kind, [index], parsed));
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
  const [record] = recordsOf(await write(session, [{ ...itemOf('patch', kind, [], change), id }], { limits }));
  return record as RecordOf<RecordKind>;
}

interface UpsertOptions {
  readonly limits: ValueLimits;
  readonly onInvalid: OnInvalid;
  /** Returns the records also as they were. */
  readonly withBefore: boolean;
}

/** A record that an upsert has stored, or the issues of a rejected item. */
export type Upserted =
  | {
      readonly record: RecordOf<RecordKind>;
      readonly outcome: Exclude<Stored['outcome'], 'deleted'>;
      readonly before?: RecordOf<RecordKind> | undefined;
    }
  | Rejected;

/** Updates the records that have the key of an item, or its ID without a key, and creates the others. */
export const upsertRecords = (
  session: Session,
  kind: RecordKind,
  batch: readonly Linkable<object>[],
  { by, ...options }: UpsertOptions & { readonly by: RecordKey | undefined },
): Promise<Upserted[]> =>
  upsert(
    session,
    batch.map((parsed, index) => itemOf('upsert', kind, [index], parsed, by)),
    options,
  );

// The casts are safe: no item is a deletion, and a stored record is of the item's kind.
const upsert = async (session: Session, items: readonly Item[], { withBefore, ...how }: UpsertOptions) =>
  (await write<object>(session, items, {
    ...how,
    resultOf: ({ before }, stored) => (withBefore ? { ...stored, before } : { ...stored }),
  })) as Upserted[];

/** The records of one kind in an import: created, or found by their IDs or a key. */
export interface ImportBatch {
  readonly kind: RecordKind;
  readonly records: readonly Linkable<object>[];
  readonly path: Path;
  readonly op: 'create' | 'upsert';
  readonly by: RecordKey | undefined;
}

/** Writes records of several kinds, whose links may lead to each other before they have IDs. Returns the results of each batch. */
export async function importRecords(
  session: Session,
  batches: readonly ImportBatch[],
  options: UpsertOptions,
): Promise<Upserted[][]> {
  const items = batches.flatMap(({ kind, records, path, op, by }) =>
    records.map((parsed, index) => itemOf(op, kind, [...path, index], parsed, by)),
  );
  const results = await upsert(session, items, options);
  return batches.map(({ records }) => results.splice(0, records.length));
}

interface DeleteOptions {
  readonly references: 'refuse' | 'clear';
  readonly maxCleared: number;
  /** The key of which the batch has values, instead of IDs. */
  readonly by?: RecordKey | undefined;
}

/** Returns the records as they were. */
export async function deleteRecords(
  session: Session,
  kind: RecordKind,
  batch: readonly Parsed<string>[],
  { references, maxCleared, by }: DeleteOptions,
): Promise<RecordOf<RecordKind>[]> {
  const items = batch.map((parsed, index): Item => {
    const item = itemOf('delete', kind, [index], parsed, by);
    return by ? { ...item, key: parsed.value } : { ...item, id: parsed.value };
  });
  return recordsOf(await write(session, items, { maxCleared: references === 'clear' ? maxCleared : undefined }));
}
