/**
 * Every write: REST, GraphQL, imports and reversals build batch items, and `write` turns them into changes in one
 * transaction. Checks note issues in the items: the response lists all.
 */
import { forbidden, invalid, notFound } from '../errors.ts';
import type { Parsed, Path, ValidationIssue } from '../model/issues.ts';
import type { ParsedItem } from '../model/links.ts';
import type { AnyRecord, RecordKey, RecordKind, Values } from '../model/record-kind.ts';
import type { ValueLimits } from '../model/schemas.ts';
import { describeIssue, sentence } from '../model/sentences.ts';
import { linkOrder, newIds } from '../records/index.ts';
import type { TransactionOptions, WorkspaceReads, WorkspaceStore } from '../store/workspace-store.ts';
import type { Change, Creation, Tx } from '../store/writes/tx.ts';
import {
  changedValues,
  checkDeletions,
  checkReferences,
  checkReferencesInBatch,
  checkTrees,
  checkUnchanged,
  checkUnique,
  clearReferences,
  collectReferences,
  lockTrees,
  rejectExchange,
} from './checks.ts';
import { checkClashes, lockClashes, mayClash, type OnClash } from './clashes.ts';
import {
  createItem,
  groupByKind,
  type Item,
  isRejection,
  isValid,
  type OnInvalid,
  type Rejection,
  rejectDependents,
  type StoredItem,
} from './item.ts';
import { completeItems, findByKeys, noRecord, readRecords, resolveLinks } from './match.ts';
import { orderChanges } from './order.ts';

export interface Session {
  readonly store: WorkspaceReads;
  /** The `workspaceId` of records. */
  readonly workspace: string;
  /** Stored as `createdBy` and `updatedBy`; null while the service runs without keys. */
  readonly userId: string | null;
  readonly mayWrite: boolean;
  /** The names of the kinds that may be written. Undefined for all. */
  readonly writableKinds?: readonly string[] | undefined;
  /** The only way to write. Throws a 403 for a read-only key, and for kinds that the key may not write. */
  readonly transaction: WorkspaceStore['transaction'];
  /**
   * A session with a key writes once, and returns the stored result. A dry run stores nothing, and gives new records
   * other IDs than the write will.
   */
  with(options: SessionOptions): Session;
}

type SessionOptions = Pick<TransactionOptions<unknown>, 'key' | 'isDryRun'>;

export function createSession(
  store: WorkspaceStore,
  user: Pick<Session, 'userId' | 'mayWrite' | 'writableKinds'>,
  options: SessionOptions = {},
): Session {
  const { userId, mayWrite, writableKinds } = user;
  let isUsed = false;
  return {
    store,
    workspace: store.workspaceName,
    userId,
    mayWrite,
    writableKinds,
    async transaction(decide, transactionOptions) {
      if (!mayWrite) throw forbidden('this API key is read-only', 'read-only key');
      if (options.key && isUsed) throw new Error('a session with a key writes once');
      isUsed = true;
      const all = { ...transactionOptions, ...options };
      if (!writableKinds) return store.transaction(decide, all);
      // The items, because a repeat with a key makes no changes. The changes, because deletions clear references.
      requireWritable(writableKinds, all.items ?? []);
      const decideWritable: typeof decide = async (tx) => {
        const decision = await decide(tx);
        requireWritable(writableKinds, decision.changes);
        return decision;
      };
      return store.transaction(decideWritable, all);
    },
    with: (more) => createSession(store, user, { ...options, ...more }),
  };
}

function requireWritable(writable: readonly string[], written: readonly { readonly kind: RecordKind }[]): void {
  const kinds = new Set(written.map(({ kind }) => kind));
  const refused = [...kinds].flatMap(({ name, pluralLabel }) => (writable.includes(name) ? [] : [pluralLabel]));
  if (refused.length > 0) throw forbidden(`this API key may not write ${refused.join(', ')}`, 'kind of another key');
}

type Writer = Pick<Session, 'workspace' | 'userId'>;

interface WriteOptions<T> {
  readonly onInvalid?: OnInvalid;
  /** Unless set, records that clash are stored. */
  readonly onClash?: OnClash | undefined;
  readonly limits?: ValueLimits;
  /** The most references to clear. Unless set, deleting referenced records fails. */
  readonly maxCleared?: number | undefined;
  /** `stored` is undefined if a reversal finds its record deleted already. */
  resultOf?(item: Item, stored: StoredItem | undefined): T;
}

/**
 * Writes items in one transaction. Results are in their order. Throws a ServiceError: 403, 404, 413, or 400 with every
 * issue (409 if all are conflicts).
 */
export async function write<T = StoredItem>(
  session: Session,
  input: readonly Item[],
  { onInvalid = 'fail', onClash, limits, maxCleared, resultOf = (_, stored) => stored as T }: WriteOptions<T> = {},
): Promise<(T | Rejection)[]> {
  // An empty batch changes nothing, and does not use its key.
  if (input.length === 0 && session.mayWrite) return [];
  const rejectsClashes = onClash === 'reject';
  return session.transaction(
    async (tx) => {
      // Copies: the store runs this again after a conflict.
      const items = input.map((item): Item => ({ ...item, issues: [...item.issues] }));
      await lock(tx, items);
      if (rejectsClashes) await lockClashes(tx, items);
      await findByKeys(tx, items);
      await resolveLinks(tx, items);
      await checkReferences(tx, items);
      await readRecords(tx, items);
      completeItems(items, limits);
      await checkUnchanged(tx, items);
      checkReferencesInBatch(items);
      await checkDeletions(tx, items, { clearsReferences: maxCleared !== undefined });
      await checkUnique(tx, items);
      const { changes, stored } = await decideChanges(tx, session, items, { onInvalid, rejectsClashes, maxCleared });
      const results = items.map((item) => (isValid(item) ? resultOf(item, stored.get(item)) : rejectionOf(item)));
      return { changes, returned: results };
    },
    {
      creation: rejectsClashes && mayClash(input) ? undefined : creationOf(session, input, resultOf),
      items: input,
    },
  );
}

const rejectionOf = ({ issues }: Item): Rejection => ({ outcome: 'rejected', issues: issues.map(describeIssue) });

interface DecisionRules {
  readonly onInvalid: OnInvalid;
  readonly rejectsClashes: boolean;
  readonly maxCleared: number | undefined;
}

/** Throws a ServiceError for invalid items unless they are skipped. */
async function decideChanges(
  tx: Tx,
  writer: Writer,
  items: readonly Item[],
  { onInvalid, rejectsClashes, maxCleared }: DecisionRules,
) {
  for (;;) {
    // Again after a rejected exchange: without the rejected moves, others may form a cycle.
    await checkTrees(tx, items, onInvalid);
    if (rejectsClashes) await checkClashes(tx, items, onInvalid);
    if (onInvalid === 'skip') rejectDependents(items);
    else requireValid(items);
    const valid = items.filter(isValid);
    const cleared = await clearReferences(tx, valid, maxCleared);
    const { changes, stored } = computeChanges(writer, [...cleared, ...valid]);
    const { ordered, blocked } = orderChanges([...changes.keys()]);
    if (blocked.length === 0) return { changes: ordered, stored };
    for (const { change, by } of blocked) rejectExchange(changes.get(change), changes.get(by));
  }
}

/**
 * New records of one kind without links: the store tries one statement, and opens the transaction only if the database
 * refuses it.
 */
function creationOf<T>(
  writer: Writer,
  items: readonly Item[],
  resultOf: (item: Item, stored: StoredItem | undefined) => T,
): Creation<(T | Rejection)[]> | undefined {
  const [{ kind } = {}] = items;
  const isPlain = (item: Item) =>
    item.op === 'create' && item.kind === kind && isValid(item) && !item.links && !item.merge && item.ref === undefined;
  if (!kind || !items.every(isPlain)) return undefined;
  const { byTarget, wrong } = collectReferences(items);
  if (wrong.length > 0) return undefined;
  const distinctIds = (references: readonly { readonly id: string }[]) => [...new Set(references.map(({ id }) => id))];
  return {
    kind,
    values: items.map(({ values }) => values),
    references: new Map([...byTarget].map(([target, references]) => [target, distinctIds(references)])),
    decide() {
      const { changes, stored } = computeChanges(writer, items);
      return { changes: [...changes.keys()], returned: items.map((item) => resultOf(item, stored.get(item))) };
    },
  };
}

/**
 * Without locks, two upserts could create a record with the same key, and two reversals restore the same record. Named
 * locks come first (store/writes/tx.ts).
 */
async function lock(tx: Tx, items: readonly Item[]): Promise<void> {
  const groups = groupByKind(items.filter(({ op }) => op === 'upsert' || op === 'restore'));
  for (const kind of linkOrder) if (groups.has(kind)) await tx.lock(`upsert ${kind.table}`);
  await lockTrees(tx, items);
}

/** After these, only the first issue of each item is listed. */
const maxListed = 10_000;

/** Throws a 400 or 409, or a 404 for a patch of an unknown record. */
function requireValid(items: readonly Item[]): void {
  const listed: ValidationIssue[] = [];
  for (const { op, kind, id = '', before, path, issues } of items) {
    if (op === 'patch' && !before) throw notFound(sentence(noRecord(kind, id)));
    const shown = listed.length < maxListed ? issues : issues.slice(0, 1);
    for (const issue of shown) listed.push({ ...issue, path: [...path, ...issue.path] });
    if (shown.length < issues.length) listed.push({ path, code: 'unlisted', count: issues.length - shown.length });
  }
  const all = items.flatMap(({ issues }) => issues);
  if (all.length > 0) throw invalid(listed, all);
}

function computeChanges(writer: Writer, items: readonly Item[]) {
  const changes = new Map<Change, Item>();
  const stored = new Map<Item, StoredItem>();
  const add = (item: Item, action: Change['action'], before: AnyRecord | null, after: AnyRecord | null, at: string) => {
    changes.set({ kind: item.kind, action, before, after, at }, item);
    const record = after ?? before;
    if (record) stored.set(item, { record, outcome: action });
  };
  // One time for all kinds: a read as of that time finds the whole batch.
  const now = new Date().toISOString();
  const deletedAt = items.reduce((at, { op, before }) => (op === 'delete' ? updateTime(before, at) : at), now);
  const ids = assignIds(items);
  const valuesOf = ({ values, pendingReferences }: Item): Values =>
    pendingReferences
      ? { ...values, ...Object.fromEntries([...pendingReferences].map(([field, target]) => [field, ids.get(target)])) }
      : values;
  for (const [kind, ofKind] of groupByKind(items)) {
    const unset = Object.fromEntries(Object.keys(kind.storedFields).map((field) => [field, null]));
    const blank = { ...unset, ...creationStamps(kind, writer, now) };
    for (const item of ofKind) {
      const { op, before, restored } = item;
      if (op === 'delete') {
        if (before) add(item, 'deleted', before, null, deletedAt);
      } else if (before) {
        const changed = op === 'patch' ? valuesOf(item) : changedValues(before, valuesOf(item));
        if (Object.keys(changed).length === 0) stored.set(item, { record: before, outcome: 'unchanged' });
        else {
          const after = { ...before, ...changed, ...updateStamps(kind, writer, before, now) };
          add(item, 'updated', before, after, after.updatedAt);
        }
      } else {
        const after = restored
          ? { ...restored, ...updateStamps(kind, writer, restored, now) }
          : { ...blank, ...valuesOf(item), id: ids.get(item) ?? '' };
        add(item, 'created', null, after, after.updatedAt);
      }
    }
  }
  return { changes, stored };
}

function assignIds(items: readonly Item[]): ReadonlyMap<Item, string> {
  const isNew = ({ op, before, restored }: Item) => op !== 'delete' && !before && !restored;
  const ids = new Map<Item, string>();
  for (const [kind, ofKind] of groupByKind(items.filter(isNew))) {
    const idsOfKind = newIds(kind.idPrefix, ofKind.length);
    for (const [index, item] of ofKind.entries()) ids.set(item, idsOfKind[index] ?? '');
  }
  return ids;
}

/** A new record counts as last changed by its creator. */
function creationStamps(kind: RecordKind, { workspace, userId }: Writer, now: string) {
  const stamps = Object.fromEntries(kind.stamps.map((stamp) => [stamp, userId]));
  return { ...stamps, workspaceId: workspace, createdAt: now, updatedAt: now };
}

const updateStamps = (kind: RecordKind, { userId }: Writer, current: AnyRecord, now: string) => ({
  updatedAt: updateTime(current, now),
  ...(kind.stamps.includes('updatedBy') && { updatedBy: userId }),
});

/** No two versions of a record have the same `updatedAt`, even when the clock is behind. */
const updateTime = (record: AnyRecord | undefined, now: string): string =>
  !record || now > record.updatedAt ? now : new Date(Date.parse(record.updatedAt) + 1).toISOString();

const storedRecords = (results: readonly (StoredItem | Rejection)[]): AnyRecord[] =>
  results.flatMap((result) => (isRejection(result) ? [] : [result.record]));

type Batch = readonly ParsedItem<object>[];

type ClashOption = Pick<WriteOptions<unknown>, 'onClash'>;

export async function createRecords(session: Session, kind: RecordKind, batch: Batch, options: ClashOption = {}) {
  const items = batch.map((parsed, index) => createItem('create', kind, [index], parsed));
  return storedRecords(await write(session, items, options));
}

/** A record that has all values already keeps its `updatedAt`. */
export async function updateRecords(
  session: Session,
  kind: RecordKind,
  batch: Batch,
  limits: ValueLimits,
  options: ClashOption = {},
) {
  const items = batch.map((parsed, index) => createItem('update', kind, [index], parsed));
  return storedRecords(await write(session, items, { limits, ...options }));
}

/** PATCH. Throws a 404, too. */
export async function updateRecord(
  session: Session,
  kind: RecordKind,
  id: string,
  change: ParsedItem<object>,
  limits: ValueLimits,
): Promise<AnyRecord> {
  const [record] = storedRecords(await write(session, [{ ...createItem('patch', kind, [], change), id }], { limits }));
  if (!record) throw new Error('an update returned no record');
  return record;
}

interface UpsertOptions extends ClashOption {
  readonly limits: ValueLimits;
  readonly onInvalid: OnInvalid;
  readonly withBefore: boolean;
}

export type UpsertResult =
  | {
      readonly record: AnyRecord;
      readonly outcome: Exclude<StoredItem['outcome'], 'deleted'>;
      readonly before?: AnyRecord | undefined;
    }
  | Rejection;

/** By the key, or by ID without one. Creates the other items. */
export async function upsertRecords(
  session: Session,
  kind: RecordKind,
  records: Batch,
  { by, ...options }: UpsertOptions & { readonly by: RecordKey | undefined },
): Promise<UpsertResult[]> {
  const [results = []] = await importRecords(session, [{ kind, records, path: [], op: 'upsert', by }], options);
  return results;
}

export interface ImportBatch {
  readonly kind: RecordKind;
  readonly records: Batch;
  readonly path: Path;
  readonly op: 'create' | 'upsert';
  readonly by: RecordKey | undefined;
}

/** Records may link to each other before they have IDs. */
export async function importRecords(
  session: Session,
  batches: readonly ImportBatch[],
  { withBefore, ...options }: UpsertOptions,
): Promise<UpsertResult[][]> {
  const items = batches.flatMap(({ kind, records, path, op, by }) =>
    records.map((parsed, index) => createItem(op, kind, [...path, index], parsed, by)),
  );
  const resultOf = ({ before }: Item, stored: StoredItem | undefined): object =>
    withBefore ? { ...stored, before } : { ...stored };
  // Safe: no item is a deletion.
  const results = (await write(session, items, { ...options, resultOf })) as UpsertResult[];
  return batches.map(({ records }) => results.splice(0, records.length));
}

interface DeleteOptions {
  readonly references: 'refuse' | 'clear';
  readonly maxCleared: number;
  /** The key whose values are in the batch, instead of IDs. */
  readonly by?: RecordKey | undefined;
}

export async function deleteRecords(
  session: Session,
  kind: RecordKind,
  batch: readonly Parsed<string>[],
  { references, maxCleared, by }: DeleteOptions,
): Promise<AnyRecord[]> {
  const items = batch.map((parsed, index): Item => {
    const item = createItem('delete', kind, [index], parsed, by);
    return by ? { ...item, key: parsed.value } : { ...item, id: parsed.value };
  });
  return storedRecords(await write(session, items, { maxCleared: references === 'clear' ? maxCleared : undefined }));
}
