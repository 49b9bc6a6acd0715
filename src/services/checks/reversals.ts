/** Finds the records that cannot get an earlier state back beside what is stored, without reading anything. */
import { quote } from '../../model/issues.ts';
import type { RecordKind, Values } from '../../model/record-kind.ts';
import { kindOfId, recordKinds } from '../../records/index.ts';
import { inTreeOrder, treeOf } from './cycles.ts';
import { noRecord } from './unknown-ids.ts';

/** Why a record does not get its earlier state back. */
export interface Problem {
  readonly outcome: 'kept' | 'failed';
  readonly message: string;
}

/** A record, the state that it has, and the one that it is to get back; null where it does not exist. It stays as it is if it has a problem. */
export interface Reversal {
  readonly id: string;
  readonly kind: RecordKind;
  current: Values | null;
  target: Values | null;
  problem?: Problem;
}

/** What other records say about the reversals. */
export interface Surroundings {
  /** Of the other records to which the reversals refer, the IDs of those that exist. */
  readonly existing: ReadonlySet<string>;
  /** Why records cannot be deleted, by their IDs: others refer to them. */
  readonly referring: ReadonlyMap<string, string>;
  /** In a tree, the stored parents of the records' new parents and of all above them, by ID; null for a root. */
  readonly parents: ReadonlyMap<string, string | null>;
  /** The unique values that records have, whether others or these, as `uniqueKey` returns them. */
  readonly taken: ReadonlySet<string>;
}

export const uniqueFields = ({ fields }: RecordKind): readonly string[] =>
  Object.entries(fields).flatMap(([name, field]) => (field.unique ? [name] : []));

export const uniqueKey = (kind: RecordKind, field: string, text: unknown): string =>
  JSON.stringify([kind.name, field, text]);

/** Returns the records of this service to which a state of a record refers. */
export const ownReferences = ({ fields }: RecordKind, state: Values | null) =>
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

/** The state that a record will have. */
const stateOf = ({ problem, current, target }: Reversal): Values | null => (problem ? current : target);

/** The most rounds in which only the moves in cycles fail: after them, all moves fail. */
const maxRounds = 10;

/**
 * Gives a problem to each reversal that is impossible: because a reference would lead nowhere, a unique value is taken, it deletes what
 * others refer to, or it would form a cycle. A failure can make others fail, so these are checked again.
 */
export function failImpossible(reversals: readonly Reversal[], surroundings: Surroundings): void {
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

/** Returns a function that checks the reversals it is given. Instead of one that has a problem, it checks those that depend on it. */
function checksOf(reversals: readonly Reversal[], { existing, referring, taken }: Surroundings) {
  const byId = new Map(reversals.map((reversal) => [reversal.id, reversal]));
  /** The records that refer to an ID, or have a unique value, in either state. */
  const users = new Map<string, Set<Reversal>>();
  /** The unique values that the records have now. */
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

  /** Returns the records that may be impossible now that this one stays as it is. */
  function dependentsOf({ id, kind, current }: Reversal): Reversal[] {
    const targets = ownReferences(kind, current).flatMap((reference) => byId.get(reference.id) ?? []);
    const rivals = uniqueKeys(kind, current).flatMap((key) => [...usersOf(key)]);
    return [...usersOf(id), ...targets, ...rivals];
  }
}
