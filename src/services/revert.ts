/**
 * Reverses changes by a write of its own, which history and feed show like any other: each record that the changes touched is an item of
 * it, to be restored to its state before them, or deleted if they created it. What cannot be is left out, with all that depends on it.
 */
import { badRequest } from '../errors.ts';
import type { AnyRecord, RecordKind, Values } from '../model/record-kind.ts';
import { linkOrder } from '../records/index.ts';
import type { LoggedChange } from '../store/log.ts';
import type { Change } from '../store/writes/apply-changes.ts';
import type { Tx } from '../store/writes/tx.ts';
import { checkDeletions, checkReferences, checkTrees, checkUnique, referencesIn } from './checks.ts';
import { byKind, type Item, isValid, itemOf, referTo, rejectDependents } from './item.ts';
import { noRecord } from './match.ts';
import { changesOf, differing, lock, type Session } from './write.ts';

/** The changes with greater numbers than `after`, up to the one with the number `upTo`. */
export interface ChangeRange {
  readonly after: number;
  readonly upTo: number;
  /** Only those with this message. */
  readonly message?: string | undefined;
}

/** How many changes were reversed, kept because their record has changed since, or failed to be reversed, and which of them were not. */
export interface Reverted {
  readonly reversed: number;
  readonly kept: number;
  readonly failed: number;
  /** The number of changes by which they were reversed. */
  readonly made: number;
  readonly notReversed: readonly NotReversed[];
}

export interface NotReversed {
  readonly outcome: 'kept' | 'failed';
  readonly message: string;
  readonly change: number;
  readonly kind: string;
  readonly recordId: string;
}

/** A record that the range has changed. */
interface Reversal extends Item {
  readonly id: string;
  /** The numbers of its changes in the range. */
  readonly numbers: readonly number[];
  /** The record before the first of them; undefined if it did not exist. */
  readonly target: AnyRecord | undefined;
  /** True if others have changed it since the first of its changes, which is then the first of its issues. */
  isKept: boolean;
}

/**
 * Gives records the state back that they had before the range, all or none: those it created are deleted, those it deleted are stored
 * again with their IDs. One that was changed after it is kept. Throws a ServiceError: 403, 400 for changes to come, 413 for too much text.
 */
export async function revertChanges(session: Session, range: ChangeRange): Promise<Reverted> {
  return session.transaction(async (tx) => {
    const items = await reversalsOf(tx, await changesIn(tx, range), range);
    const byId = new Map(items.map((item) => [item.id, item]));
    await lock(tx, items);
    await checkReferences(tx, items, byId);
    await readStored(tx, items);
    await keepChanged(tx, items, range);
    checkOwnReferences(items, byId);
    await checkDeletions(tx, items);
    await checkUnique(tx, items);
    await checkTrees(tx, items, { onInvalid: 'skip' });
    rejectDependents(items);
    const { changes } = changesOf(session, items.filter(isValid));
    return { changes: inOrder(changes), returned: { ...outcomeOf(items), made: changes.length } };
  });
}

async function changesIn(tx: Tx, { after, upTo }: ChangeRange): Promise<LoggedChange[]> {
  const last = await tx.lastChange();
  if (upTo > last) throw badRequest(`there is no change with the cursor "${upTo}" yet: the last one is "${last}"`);
  if (upTo <= after) return [];
  return tx.changes({ after, upTo, limit: upTo - after, withBefore: false });
}

/** Returns an item for each record, targets of references first, which is the order in which writes lock them. */
async function reversalsOf(
  tx: Tx,
  changes: readonly LoggedChange[],
  { message }: ChangeRange,
): Promise<readonly Reversal[]> {
  const isMeant = (change: LoggedChange) => message === undefined || change.message === message;
  const touched = new Map<string, { readonly first: LoggedChange; readonly numbers: number[] }>();
  for (const change of changes.filter(isMeant)) {
    const earlier = touched.get(change.id);
    if (earlier) earlier.numbers.push(change.number);
    else touched.set(change.id, { first: change, numbers: [change.number] });
  }
  // What others changed before is a part of the state that the record gets back.
  const isBetween = (change: LoggedChange) => change.number > (touched.get(change.id)?.first.number ?? Infinity);
  const others = new Map(changes.filter((it) => !isMeant(it) && isBetween(it)).map((change) => [change.id, change]));
  const items: Reversal[] = [];
  for (const kind of linkOrder) {
    const ofKind = [...touched].filter(([, { first }]) => first.kind === kind.name);
    const known = ofKind.flatMap(([id, { first }]) =>
      first.action === 'created' ? [] : [{ id, number: first.number - 1 }],
    );
    const targets = await versionsAt(tx, kind, known);
    for (const [id, { numbers }] of ofKind) {
      const target = targets.get(id);
      const item = itemOf(target ? 'restore' : 'delete', kind, [], { value: target ? fieldsOf(kind, target) : {} });
      const other = others.get(id);
      if (other) item.issues.push({ path: [], message: changedSince(kind, other.number) });
      items.push({ ...item, id, numbers, target, isKept: other !== undefined });
    }
  }
  return items;
}

const changedSince = ({ label }: RecordKind, number: number): string =>
  `this ${label} has changed since, last by change ${number}`;

/** Returns the records as they were right after the changes with these numbers, by ID. */
async function versionsAt(
  tx: Tx,
  kind: RecordKind,
  at: readonly { readonly id: string; readonly number: number }[],
): Promise<ReadonlyMap<string, AnyRecord>> {
  if (at.length === 0) return new Map();
  const versions = await tx.versions(kind, at);
  return new Map(versions.flatMap((version) => (version ? [[version.id, version]] : [])));
}

/** Returns what clients may set. */
const fieldsOf = ({ fields }: RecordKind, record: AnyRecord): Values =>
  Object.fromEntries(Object.keys(fields).map((field) => [field, record[field] ?? null]));

const idsOf = (items: readonly Reversal[]): string[] => items.map(({ id }) => id);

/** Locks the records, and keeps in each item only the values that differ. */
async function readStored(tx: Tx, items: readonly Reversal[]): Promise<void> {
  for (const [kind, ofKind] of byKind(items)) {
    const deleted = ofKind.filter(({ op }) => op === 'delete');
    const others = ofKind.filter(({ op }) => op === 'restore');
    const found = [
      ...(deleted.length > 0 ? await tx.findToDelete(kind, idsOf(deleted)) : []),
      ...(others.length > 0 ? await tx.findToUpdate(kind, idsOf(others)) : []),
    ];
    const stored = new Map(found.map((record) => [record.id, record]));
    for (const item of ofKind) {
      item.before = stored.get(item.id);
      if (item.before) item.values = differing(item.before, item.values);
    }
  }
}

/** Rejects the items whose records are no longer as the range left them, unless they are as before the range already. */
async function keepChanged(tx: Tx, items: readonly Reversal[], { upTo }: ChangeRange): Promise<void> {
  if (items.length === 0) return;
  const histories = await tx.histories(idsOf(items), { limit: 1, withBefore: false });
  const latest = new Map(histories.flat().map((change) => [change.id, change]));
  for (const item of items) {
    const { before, target } = item;
    if (target && !before) item.restored = { ...target, updatedAt: latest.get(item.id)?.at ?? target.updatedAt };
  }
  const numberOf = ({ id }: Reversal) => latest.get(id)?.number ?? 0;
  for (const [kind, ofKind] of byKind(items.filter((item) => numberOf(item) > upTo))) {
    const left = await versionsAt(
      tx,
      kind,
      ofKind.map(({ id }) => ({ id, number: upTo })),
    );
    for (const item of ofKind) {
      const { id, before, target } = item;
      if (isSameState(kind, before, left.get(id)) || isSameState(kind, before, target)) continue;
      item.issues.unshift({ path: [], message: changedSince(kind, numberOf(item)) });
      item.isKept = true;
    }
  }
}

/** Compares what clients may set; undefined where the record does not exist. */
function isSameState(kind: RecordKind, record: AnyRecord | undefined, state: AnyRecord | undefined): boolean {
  if (!record || !state) return record === state;
  return Object.keys(differing(record, fieldsOf(kind, state))).length === 0;
}

/** Of the records that the range has changed, others can refer to those that stay or are restored with them. */
function checkOwnReferences(items: readonly Reversal[], own: ReadonlyMap<string, Reversal>): void {
  for (const [target, references] of referencesIn(items).byTarget) {
    for (const { item, field, id } of references) {
      const other = own.get(id);
      if (!other || (other.before && other.op !== 'delete')) continue;
      const problem = { path: [field], message: noRecord(target, id) };
      if (other.restored) referTo(other, item, field, problem);
      else item.issues.push(problem);
    }
  }
}

/** Records exist while others refer to them, and unique values are free before others get them. */
function inOrder(changes: readonly Change[]): Change[] {
  const isUnique = ({ kind }: Change) => Object.values(kind.fields).some(({ unique }) => unique);
  const ofAction = (action: Change['action']) => changes.filter((change) => change.action === action);
  const created = ofAction('created');
  const deleted = ofAction('deleted').reverse();
  return [
    ...deleted.filter(isUnique),
    ...created.filter((change) => !isUnique(change)),
    ...ofAction('updated'),
    ...created.filter(isUnique),
    ...deleted.filter((change) => !isUnique(change)),
  ];
}

function outcomeOf(items: readonly Reversal[]): Omit<Reverted, 'made'> {
  const counts = { reversed: 0, kept: 0, failed: 0 };
  const notReversed: NotReversed[] = [];
  for (const { id, kind, numbers, issues, isKept } of items) {
    const [issue] = issues;
    if (!issue) {
      counts.reversed += numbers.length;
      continue;
    }
    const outcome = isKept ? 'kept' : 'failed';
    counts[outcome] += numbers.length;
    for (const change of numbers) {
      notReversed.push({ outcome, message: issue.message, change, kind: kind.name, recordId: id });
    }
  }
  return { ...counts, notReversed: notReversed.sort((a, b) => a.change - b.change) };
}
