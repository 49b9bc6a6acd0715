/** Reverses changes by writes of their own, which history and feed show like any others. */
import { badRequest } from '../errors.ts';
import { isSame } from '../model/fields.ts';
import { count, quote } from '../model/issues.ts';
import type { AnyRecord, RecordKind, Values } from '../model/record-kind.ts';
import { kindNamed, kindOfId, recordKinds } from '../records/index.ts';
import { linkOrder } from '../records/link-order.ts';
import type { Change as LoggedChange } from '../store/log/read-changes.ts';
import type { Tx } from '../store/writes/tx.ts';
import type { Change } from '../store/writes/write.ts';
import { differing, updated } from './changes.ts';
import { referenceProblems } from './checks.ts';
import { requireFewExternalIds } from './limits.ts';
import { noRecord } from './match.ts';
import { type Session, timeAfterAll, updateStamps } from './session.ts';
import { inTreeOrder, maxAncestors, treeLock, treeOf } from './trees.ts';
import { upsertLock } from './write.ts';

/** The changes with greater numbers than `after`, up to the one with the number `upTo`. */
export interface ChangeRange {
  readonly after: number;
  readonly upTo: number;
}

/** How many changes were reversed, kept because their record has changed since, or failed to be reversed, and which of them were not. */
export interface Reverted {
  readonly reversed: number;
  readonly kept: number;
  readonly failed: number;
  readonly notReversed: readonly NotReversed[];
}

export interface NotReversed extends Problem {
  readonly change: number;
  readonly kind: string;
  readonly recordId: string;
}

/** A record that the range has changed, and its state before the range, which it is to get back. */
interface Touched extends Reversal {
  /** The numbers of its changes in the range. */
  readonly numbers: number[];
  readonly wasCreated: boolean;
  latest: LoggedChange;
}

/**
 * Gives records the state back that they had before the range, all or none: those it created are deleted, those it deleted are stored
 * again with their IDs. One that was changed after it is kept. Throws a ServiceError: 403, 400 for changes to come, 413 for too much text.
 */
export async function revertChanges(session: Session, range: ChangeRange): Promise<Reverted> {
  const write = session.writer();
  return write(async (tx) => {
    const touched = touchedBy(await changesIn(tx, range));
    const existing = await readStates(tx, touched, range);
    requireFewExternalIds(touched.flatMap(withNewExternalIds));
    await keepChanged(tx, touched, range);
    failImpossible(touched, await surroundingsOf(tx, touched, existing));
    return { changes: changesFor(session, touched), returned: outcomeOf(touched) };
  });
}

/** Returns the earlier state of a record if its external IDs are to be stored again. */
const withNewExternalIds = ({ current, target }: Touched) =>
  target && !isSame(current?.externalIds, target.externalIds) ? [target] : [];

async function changesIn(tx: Tx, { after, upTo }: ChangeRange): Promise<LoggedChange[]> {
  const last = await tx.lastChange();
  if (upTo > last) throw badRequest(`there is no change with the cursor "${upTo}" yet: the last one is "${last}"`);
  if (upTo <= after) return [];
  const changes = await tx.changes({ after, limit: upTo - after, withBefore: false });
  // Numbers have gaps where an older version of the service has moved changes.
  return changes.filter(({ number }) => number <= upTo);
}

function touchedBy(changes: readonly LoggedChange[]): Touched[] {
  const byId = new Map<string, Touched>();
  for (const change of changes) {
    const { id, kind, number, action } = change;
    const earlier = byId.get(id);
    earlier?.numbers.push(number);
    if (earlier) continue;
    const [wasCreated, states] = [action === 'created', { current: null, target: null }];
    byId.set(id, { id, kind: kindNamed(kind), numbers: [number], wasCreated, latest: change, ...states });
  }
  return [...byId.values()];
}

const idsOf = (records: readonly { readonly id: string }[]) => records.map(({ id }) => id);

/** Locks the records and those to which the earlier states refer. Returns the IDs of the latter that exist. */
async function readStates(tx: Tx, touched: readonly Touched[], { after }: ChangeRange): Promise<Set<string>> {
  const groups = byKind(touched);
  // Upserts look for records that are restored here, and so do other reversals: nothing else could make them wait.
  for (const [kind] of groups) await tx.lock(upsertLock(kind));
  for (const [kind] of groups) if (treeOf(kind)) await tx.lock(treeLock(kind));
  for (const [kind, records] of groups) {
    const known = records.filter(({ wasCreated }) => !wasCreated);
    const versions = await tx.versions(
      kind,
      known.map(({ id }) => ({ id, number: after })),
    );
    for (const [index, record] of known.entries()) record.target = versions[index] ?? null;
  }
  const existing = new Set<string>();
  for (const [kind, ids] of referencesIn(touched)) {
    for (const id of await tx.existingValues(kind, 'id', ids)) existing.add(id);
  }
  for (const [kind, records] of groups) await readCurrent(tx, kind, records);
  return existing;
}

function referencesIn(records: readonly Touched[]) {
  const own = new Set(idsOf(records));
  const wanted = new Map<RecordKind, Set<string>>();
  for (const { kind, target } of records) {
    for (const reference of ownReferences(kind, target)) {
      if (own.has(reference.id)) continue;
      const ids = wanted.get(reference.kind);
      if (ids) ids.add(reference.id);
      else wanted.set(reference.kind, new Set([reference.id]));
    }
  }
  return linkOrder.flatMap((kind) => (wanted.has(kind) ? [[kind, [...(wanted.get(kind) ?? [])]] as const] : []));
}

async function readCurrent(tx: Tx, kind: RecordKind, records: readonly Touched[]): Promise<void> {
  const created = records.filter(({ wasCreated }) => wasCreated);
  const others = records.filter(({ wasCreated }) => !wasCreated);
  const found = [
    ...(created.length > 0 ? await tx.findToDelete(kind, idsOf(created)) : []),
    ...(others.length > 0 ? await tx.findToUpdate(kind, idsOf(others)) : []),
  ];
  const current = new Map(found.map((record) => [record.id, record]));
  for (const record of records) record.current = current.get(record.id) ?? null;
}

/** Keeps the records whose state is no longer the one in which the range left them, unless it is that before the range already. */
async function keepChanged(tx: Tx, touched: readonly Touched[], { upTo }: ChangeRange): Promise<void> {
  if (touched.length === 0) return;
  const latest = await tx.histories(idsOf(touched), { limit: 1, withBefore: false });
  for (const [index, record] of touched.entries()) record.latest = latest[index]?.[0] ?? record.latest;
  for (const [kind, records] of byKind(touched.filter((record) => record.latest.number > upTo))) {
    const left = await tx.versions(
      kind,
      records.map(({ id }) => ({ id, number: upTo })),
    );
    for (const [index, record] of records.entries()) {
      const { current, target } = record;
      if (hasState(kind, current, left[index] ?? null) || hasState(kind, current, target)) continue;
      const message = `this ${kind.label} has changed since, last by change ${record.latest.number}`;
      record.problem = { outcome: 'kept', message };
    }
  }
}

async function surroundingsOf(
  tx: Tx,
  touched: readonly Touched[],
  existing: ReadonlySet<string>,
): Promise<Surroundings> {
  const groups = byKind(touched);
  const own = new Map(groups.map(([kind, records]) => [kind, new Set(idsOf(records))]));
  const [referring, parents, taken] = [new Map<string, string>(), new Map<string, string | null>(), new Set<string>()];
  for (const [kind, records] of groups) {
    const going = records.filter(({ problem, current, target }) => !problem && current && !target);
    if (going.length === 0) continue;
    const found = await referenceProblems(tx, kind, new Set(idsOf(going)), own);
    for (const [id, { problem }] of found) referring.set(id, problem);
  }
  for (const [kind, records] of groups) {
    const tree = treeOf(kind);
    const ids = tree ? textsOf(records, tree.field) : [];
    if (!tree || ids.length === 0) continue;
    const found = await tx.ancestors(tree, ids, maxAncestors + 1);
    if (found.size > maxAncestors) {
      throw badRequest(`expected at most ${count(maxAncestors)} ${kind.pluralLabel} above those of the changes`);
    }
    for (const [id, parent] of found) parents.set(id, parent);
  }
  for (const [kind, records] of groups) {
    for (const field of uniqueFields(kind)) {
      const texts = textsOf(records, field);
      if (texts.length === 0) continue;
      for (const text of await tx.existingValues(kind, field, texts)) taken.add(uniqueKey(kind, field, text));
    }
  }
  return { existing, referring, parents, taken };
}

const textsOf = (records: readonly Touched[], field: string): string[] => [
  ...new Set(
    records.flatMap(({ current, target }) => {
      const text = target?.[field];
      return typeof text === 'string' && text !== current?.[field] ? [text] : [];
    }),
  ),
];

function outcomeOf(touched: readonly Touched[]): Reverted {
  const counts = { reversed: 0, kept: 0, failed: 0 };
  const notReversed: NotReversed[] = [];
  for (const { id, kind, numbers, problem } of touched) {
    counts[problem?.outcome ?? 'reversed'] += numbers.length;
    if (!problem) continue;
    for (const change of numbers) notReversed.push({ ...problem, change, kind: kind.name, recordId: id });
  }
  return { ...counts, notReversed: notReversed.sort((a, b) => a.change - b.change) };
}

interface Restorable extends Reversal {
  /** The latest change of the record: the times of its changes rise. */
  readonly latest: { readonly at: string };
}

/** Returns the records of each kind, targets of references first, which is the order in which writes lock them. */
const byKind = <R extends { readonly kind: RecordKind }>(records: readonly R[]) =>
  linkOrder.flatMap((kind) => {
    const ofKind = records.filter((record) => record.kind === kind);
    return ofKind.length > 0 ? [[kind, ofKind] as const] : [];
  });

/** Compares the fields that clients may set; null where the record does not exist. */
function hasState(kind: RecordKind, record: Values | null, state: Values | null): boolean {
  if (!record || !state) return record === state;
  return Object.keys(kind.fields).every((field) => isSame(record[field] ?? null, state[field] ?? null));
}

function changesFor(session: Session, reversals: readonly Restorable[], now = Date.now()): Change[] {
  const changed = reversals.filter(
    ({ kind, problem, current, target }) => !problem && !hasState(kind, current, target),
  );
  const groups = byKind(changed);
  const restorations = groups.map(([kind, records]) => restorationOf(session, kind, records, now));
  const updates = groups.map(([kind, records]) => updateOf(session, kind, records, now));
  const deletions = groups.map(([, records]) => deletionOf(records, now));
  const hasUnique = ([change]: readonly Change[]) => change !== undefined && uniqueFields(change.kind).length > 0;
  const hasNone = (group: readonly Change[]) => !hasUnique(group);
  // Records exist while others refer to them, and unique values are free before others get them.
  return [
    ...deletions.filter(hasUnique),
    ...restorations.filter(hasNone),
    ...updates,
    ...restorations.filter(hasUnique),
    ...deletions.filter(hasNone).reverse(),
  ].flat();
}

function restorationOf(session: Session, kind: RecordKind, records: readonly Restorable[], now: number): Change[] {
  const missing = new Map(records.filter(({ current }) => !current).map((record) => [record.id, record]));
  const tree = treeOf(kind);
  const parentOf = (id: string) => {
    const parent = tree && missing.get(id)?.target?.[tree.field];
    return typeof parent === 'string' && missing.has(parent) ? parent : undefined;
  };
  return inTreeOrder(missing.keys(), parentOf).order.map((id): Change => {
    const { target = null, latest } = missing.get(id) ?? {};
    const after = { ...target, ...updateStamps(kind, session, { updatedAt: latest?.at ?? '' }, now) };
    return { kind, action: 'created', before: null, after, at: after.updatedAt };
  });
}

const updateOf = (session: Session, kind: RecordKind, records: readonly Restorable[], now: number): Change[] =>
  records.flatMap(({ current, target }) => {
    if (!current || !target) return [];
    const values = Object.fromEntries(Object.keys(kind.fields).map((field) => [field, target[field]]));
    const changed = differing(current, values);
    return Object.keys(changed).length > 0 ? [updated(session, kind, current, changed, now)] : [];
  });

function deletionOf(records: readonly Restorable[], now: number): Change[] {
  const going = records.filter(({ current, target }) => current && !target);
  const at = timeAfterAll(
    going.map(({ current }) => current),
    now,
  );
  return going.map(({ kind, current }) => ({ kind, action: 'deleted', before: current, after: null, at }));
}

interface Problem {
  readonly outcome: 'kept' | 'failed';
  readonly message: string;
}

/** A record, the state that it has, and the one that it is to get back; null where it does not exist. It stays as it is if it has a problem. */
interface Reversal {
  readonly id: string;
  readonly kind: RecordKind;
  current: AnyRecord | null;
  target: AnyRecord | null;
  problem?: Problem;
}

interface Surroundings {
  /** Of the other records to which the reversals refer, the IDs of those that exist. */
  readonly existing: ReadonlySet<string>;
  /** Why records cannot be deleted, by their IDs: others refer to them. */
  readonly referring: ReadonlyMap<string, string>;
  /** In a tree, the stored parents of the records' new parents and of all above them, by ID; null for a root. */
  readonly parents: ReadonlyMap<string, string | null>;
  /** The unique values that records have, whether others or these, as `uniqueKey` returns them. */
  readonly taken: ReadonlySet<string>;
}

const uniqueFields = ({ fields }: RecordKind): readonly string[] =>
  Object.entries(fields).flatMap(([name, field]) => (field.unique ? [name] : []));

const uniqueKey = (kind: RecordKind, field: string, text: unknown): string => JSON.stringify([kind.name, field, text]);

const ownReferences = ({ fields }: RecordKind, state: Values | null) =>
  Object.entries(fields).flatMap(([name, field]) => {
    const id = state?.[name];
    if (field.type !== 'reference' || typeof id !== 'string') return [];
    const kind = kindOfId(id);
    return kind?.name === field.target ? [{ kind, id }] : [];
  });

const uniqueKeys = (kind: RecordKind, state: Values | null): string[] =>
  uniqueFields(kind).flatMap((field) => {
    const text = state?.[field] ?? null;
    return text === null ? [] : [uniqueKey(kind, field, text)];
  });

const stateOf = ({ problem, current, target }: Reversal): Values | null => (problem ? current : target);

/** The most rounds in which only the moves in cycles fail: after them, all moves fail. */
const maxRounds = 10;

/** A reversal that fails can make others fail, so its dependents are checked again. */
function failImpossible(reversals: readonly Reversal[], surroundings: Surroundings): void {
  const failDependents = checksOf(reversals, surroundings);
  failDependents(reversals);
  for (const kind of recordKinds) {
    const tree = treeOf(kind);
    const ofKind = tree ? reversals.filter((reversal) => reversal.kind === kind) : [];
    if (!tree || ofKind.length === 0) continue;
    for (let round = 1; ; round += 1) {
      const inCycles = movesInCycles(ofKind, tree.field, surroundings, round > maxRounds);
      if (inCycles.length === 0) break;
      const message = `this ${kind.label} would be its own ancestor, because others have been moved since`;
      for (const reversal of inCycles) reversal.problem = { outcome: 'failed', message };
      failDependents(inCycles);
    }
  }
}

/** Returns the records that would become their own ancestors; with `all`, if there are any, all that get another parent. */
function movesInCycles(reversals: readonly Reversal[], field: string, { parents }: Surroundings, all: boolean) {
  const byId = new Map(reversals.map((reversal) => [reversal.id, reversal]));
  const parentOf = (id: string): string | undefined => {
    const reversal = byId.get(id);
    const parent = reversal ? stateOf(reversal)?.[field] : parents.get(id);
    return typeof parent === 'string' ? parent : undefined;
  };
  const { inCycles } = inTreeOrder(byId.keys(), parentOf);
  const moves = reversals.filter(
    ({ problem, current, target }) => !problem && target && target[field] !== current?.[field],
  );
  const found = moves.filter(({ id }) => inCycles.has(id));
  return all && found.length > 0 ? moves : found;
}

/** Checks reversals; for one that has failed, its dependents. */
function checksOf(reversals: readonly Reversal[], { existing, referring, taken }: Surroundings) {
  const byId = new Map(reversals.map((reversal) => [reversal.id, reversal]));
  /** The records that refer to an ID, or have a unique value, in either state. */
  const users = new Map<string, Set<Reversal>>();
  const held = new Set<string>();
  for (const reversal of reversals) {
    const { kind, current, target } = reversal;
    for (const state of [current, target]) {
      const names = [...ownReferences(kind, state).map(({ id }) => id), ...uniqueKeys(kind, state)];
      for (const name of names) users.set(name, (users.get(name) ?? new Set()).add(reversal));
    }
    for (const key of uniqueKeys(kind, current)) held.add(key);
  }
  const usersOf = (name: string): Iterable<Reversal> => users.get(name) ?? [];

  function deletionProblem(reversal: Reversal): string | undefined {
    const { id, kind } = reversal;
    for (const user of usersOf(id)) {
      if (user !== reversal && ownReferences(user.kind, stateOf(user)).some((reference) => reference.id === id)) {
        return `this ${kind.label} is still referenced by the ${user.kind.label} ${user.id}`;
      }
    }
    return referring.get(id);
  }

  function problemOf(reversal: Reversal): string | undefined {
    const { kind, current, target } = reversal;
    if (!target) return current ? deletionProblem(reversal) : undefined;
    const exists = (id: string) => {
      const other = byId.get(id);
      return other ? stateOf(other) !== null : existing.has(id);
    };
    const missing = ownReferences(kind, target).find(({ id }) => !exists(id));
    if (missing) return noRecord(missing.kind, missing.id);
    const own = new Set(uniqueKeys(kind, current));
    for (const field of uniqueFields(kind)) {
      const [text, key] = [target[field], uniqueKey(kind, field, target[field])];
      if (typeof text !== 'string' || own.has(key)) continue;
      const others = [...usersOf(key)].filter((user) => user !== reversal);
      const isHeld = others.some((user) => uniqueKeys(user.kind, stateOf(user)).includes(key));
      if (isHeld || (taken.has(key) && !held.has(key))) return `another ${kind.label} has the ${field} ${quote(text)}`;
    }
    return undefined;
  }

  return (started: readonly Reversal[]): void => {
    const left = new Set<Reversal>(
      started.flatMap((reversal) => (reversal.problem ? dependentsOf(reversal) : [reversal])),
    );
    // What is added to a set while it is iterated is visited, too.
    for (const reversal of left) {
      left.delete(reversal);
      if (reversal.problem) continue;
      const message = problemOf(reversal);
      if (message === undefined) continue;
      reversal.problem = { outcome: 'failed', message };
      for (const dependent of dependentsOf(reversal)) left.add(dependent);
    }
  };

  function dependentsOf({ id, kind, current }: Reversal): Reversal[] {
    const targets = ownReferences(kind, current).flatMap((reference) => byId.get(reference.id) ?? []);
    const rivals = uniqueKeys(kind, current).flatMap((key) => [...usersOf(key)]);
    return [...usersOf(id), ...targets, ...rivals];
  }
}
