/** Reverses changes by writes of their own, which history and feed show like any others. */
import { badRequest } from '../errors.ts';
import { isSame } from '../model/fields.ts';
import { count } from '../model/issues.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { kindNamed } from '../records/index.ts';
import { linkOrder } from '../records/link-order.ts';
import type { Change as LoggedChange } from '../store/log/read-changes.ts';
import type { Lookups } from '../store/writes/lookups.ts';
import { requireFewExternalIds } from './checks/batch-size.ts';
import { maxAncestors, treeLock, treeOf } from './checks/cycles.ts';
import {
  failImpossible,
  ownReferences,
  type Problem,
  type Reversal,
  type Surroundings,
  uniqueFields,
  uniqueKey,
} from './checks/reversals.ts';
import { referenceProblems } from './delete-records.ts';
import { byKind, changesFor, hasState } from './earlier-states.ts';
import type { Session } from './session.ts';
import { upsertLock } from './upsert-records.ts';

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
  /** The number of the change. */
  readonly change: number;
  /** The name of the record's kind. */
  readonly kind: string;
  readonly recordId: string;
}

/** A record that the range has changed, and its state before the range, which it is to get back. */
interface Touched extends Reversal {
  /** The numbers of its changes in the range. */
  readonly numbers: number[];
  readonly wasCreated: boolean;
  /** Its latest change of all. */
  latest: LoggedChange;
}

/**
 * Gives the records that the range has changed the state back that they had before it, in one transaction: records that it created are
 * deleted, and records that it deleted are stored again, with their IDs. A record that is no longer in the state in which the range left it
 * is kept. Throws a ServiceError: 403 if the session may not write, 400 if there are no such changes yet, 413 if the records are too large
 * together.
 */
export async function revertChanges(session: Session, range: ChangeRange): Promise<Reverted> {
  const write = session.writer();
  return write(async (find) => {
    const touched = touchedBy(await changesIn(find, range));
    const existing = await readStates(find, touched, range);
    requireFewExternalIds(touched.flatMap(withNewExternalIds));
    await keepChanged(find, touched, range);
    failImpossible(touched, await surroundingsOf(find, touched, existing));
    return { changes: changesFor(session, touched), returned: outcomeOf(touched) };
  });
}

/** Returns the earlier state of a record if its external IDs are to be stored again. */
const withNewExternalIds = ({ current, target }: Touched) =>
  target && !isSame(current?.externalIds, target.externalIds) ? [target] : [];

async function changesIn(find: Lookups, { after, upTo }: ChangeRange): Promise<LoggedChange[]> {
  const last = await find.lastChange();
  if (upTo > last) throw badRequest(`there is no change with the cursor "${upTo}" yet: the last one is "${last}"`);
  if (upTo <= after) return [];
  const changes = await find.changes({ after, limit: upTo - after, withBefore: false });
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
    const states = { current: null, target: null };
    byId.set(id, {
      id,
      kind: kindNamed(kind),
      numbers: [number],
      wasCreated: action === 'created',
      latest: change,
      ...states,
    });
  }
  return [...byId.values()];
}

const idsOf = (records: readonly { readonly id: string }[]) => records.map(({ id }) => id);

/**
 * Reads the state that each record had before the range, and the one that it has now. Locks the records, and the others to which the
 * earlier states refer; returns the IDs of those others that exist.
 */
async function readStates(find: Lookups, touched: readonly Touched[], { after }: ChangeRange): Promise<Set<string>> {
  const groups = byKind(touched);
  // Upserts look for records that are restored here, and so do other reversals: nothing else could make them wait.
  for (const [kind] of groups) await find.lock(upsertLock(kind));
  for (const [kind] of groups) if (treeOf(kind)) await find.lock(treeLock(kind));
  for (const [kind, records] of groups) {
    const known = records.filter(({ wasCreated }) => !wasCreated);
    const versions = await find.versions(
      kind,
      known.map(({ id }) => ({ id, number: after })),
    );
    for (const [index, record] of known.entries()) record.target = versions[index] ?? null;
  }
  const existing = new Set<string>();
  for (const [kind, ids] of referencesIn(touched)) {
    for (const id of await find.existingValues(kind, 'id', ids)) existing.add(id);
  }
  for (const [kind, records] of groups) await readCurrent(find, kind, records);
  return existing;
}

/** Returns the IDs of other records to which the earlier states refer, by their kind. */
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

async function readCurrent(find: Lookups, kind: RecordKind, records: readonly Touched[]): Promise<void> {
  const created = records.filter(({ wasCreated }) => wasCreated);
  const others = records.filter(({ wasCreated }) => !wasCreated);
  const found = [
    ...(created.length > 0 ? await find.findToDelete(kind, idsOf(created)) : []),
    ...(others.length > 0 ? await find.findToUpdate(kind, idsOf(others)) : []),
  ];
  const current = new Map(found.map((record) => [record.id, record]));
  for (const record of records) record.current = current.get(record.id) ?? null;
}

/** Keeps the records whose state is no longer the one in which the range left them, unless it is that before the range already. */
async function keepChanged(find: Lookups, touched: readonly Touched[], { upTo }: ChangeRange): Promise<void> {
  if (touched.length === 0) return;
  const latest = await find.histories(idsOf(touched), { limit: 1, withBefore: false });
  for (const [index, record] of touched.entries()) record.latest = latest[index]?.[0] ?? record.latest;
  for (const [kind, records] of byKind(touched.filter((record) => record.latest.number > upTo))) {
    const left = await find.versions(
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

/** Looks up what the reversals must agree with in records that the range has not changed. */
async function surroundingsOf(
  find: Lookups,
  touched: readonly Touched[],
  existing: ReadonlySet<string>,
): Promise<Surroundings> {
  const groups = byKind(touched);
  const own = new Map(groups.map(([kind, records]) => [kind, new Set(idsOf(records))]));
  const [referring, parents, taken] = [new Map<string, string>(), new Map<string, string | null>(), new Set<string>()];
  for (const [kind, records] of groups) {
    const going = records.filter(({ problem, current, target }) => !problem && current && !target);
    if (going.length === 0) continue;
    const found = await referenceProblems(find, kind, new Set(idsOf(going)), own);
    for (const [id, { problem }] of found) referring.set(id, problem);
  }
  for (const [kind, records] of groups) {
    const tree = treeOf(kind);
    const ids = tree ? textsOf(records, tree.field) : [];
    if (!tree || ids.length === 0) continue;
    const found = await find.ancestors(tree, ids, maxAncestors + 1);
    if (found.size > maxAncestors) {
      throw badRequest(`expected at most ${count(maxAncestors)} ${kind.pluralLabel} above those of the changes`);
    }
    for (const [id, parent] of found) parents.set(id, parent);
  }
  for (const [kind, records] of groups) {
    for (const field of uniqueFields(kind)) {
      const texts = textsOf(records, field);
      if (texts.length === 0) continue;
      for (const text of await find.existingValues(kind, field, texts)) taken.add(uniqueKey(kind, field, text));
    }
  }
  return { existing, referring, parents, taken };
}

/** Returns the texts that a field has before the range, and not now. */
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
