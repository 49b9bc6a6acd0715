/**
 * Orders changes so that each can be made by itself, in the database and by a reader of the feed: a record exists while
 * others refer to it, and a unique value is free before another record takes it. Otherwise changes of a kind and action
 * stay together: the store makes one statement of them.
 */
import type { RecordKind } from '../model/record-kind.ts';
import { linkOrder } from '../records/index.ts';
import type { Change } from '../store/writes/tx.ts';
import { addTo } from './item.ts';

interface ChangeOrder {
  readonly ordered: readonly Change[];
  /** `change` takes a value that `by` releases, but `by` must come after `change`. */
  readonly blocked: readonly { readonly change: Change; readonly by: Change }[];
}

export function orderChanges(changes: readonly Change[]): ChangeOrder {
  const [first] = changes;
  const isPlain = ({ kind, action }: Change) => kind === first?.kind && action === 'created' && !refersToItself(kind);
  if (changes.every(isPlain)) return { ordered: changes, blocked: [] };
  const { successors, releasedBy } = findPrecedence(changes);
  const predecessors = changes.map(() => 0);
  for (const next of successors.flat()) predecessors[next] = (predecessors[next] ?? 0) + 1;
  const ready = new Map<number, number[]>();
  const at = (index: number) => changes[index] as Change;
  const addReady = (index: number) => addTo(ready, rankOf(at(index)), index);
  for (const index of changes.keys()) if (predecessors[index] === 0) addReady(index);
  const ordered = new Set<number>();
  while (ready.size > 0) {
    const rank = Math.min(...ready.keys());
    // The list grows while it is read: changes of this rank that become ready follow at once.
    for (const index of ready.get(rank) ?? []) {
      ordered.add(index);
      for (const next of successors[index] ?? []) {
        predecessors[next] = (predecessors[next] ?? 0) - 1;
        if (predecessors[next] === 0) addReady(next);
      }
    }
    ready.delete(rank);
  }
  const blocked = [...releasedBy].filter(([taking, releasing]) => !ordered.has(taking) && !ordered.has(releasing));
  return {
    ordered: [...ordered].map(at),
    blocked: blocked.map(([taking, releasing]) => ({ change: at(taking), by: at(releasing) })),
  };
}

const refersToItself = ({ name, fields }: RecordKind): boolean =>
  Object.values(fields).some((field) => field.type === 'reference' && field.target === name);

/** Creations, then updates, both with targets of references first; then deletions, with targets last. */
function rankOf({ kind, action }: Change): number {
  const place = linkOrder.indexOf(kind);
  if (action === 'created') return place;
  return action === 'updated' ? linkOrder.length + place : 3 * linkOrder.length - place;
}

/** By index: the changes that must follow a change, and the one that releases the value it takes. */
function findPrecedence(changes: readonly Change[]) {
  const successors: number[][] = changes.map(() => []);
  const precede = (first: number | undefined, second: number | undefined): void => {
    if (first !== undefined && second !== undefined && first !== second) successors[first]?.push(second);
  };
  const created = new Map<unknown, number>();
  const deleted = new Map<unknown, number>();
  const released = new Map<string, number>();
  const releasedBy = new Map<number, number>();
  const fieldsOf = new Map([...new Set(changes.map(({ kind }) => kind))].map((kind) => [kind, orderingFields(kind)]));
  for (const [index, { kind, action, before, after }] of changes.entries()) {
    if (action === 'created') created.set(after?.id, index);
    if (action === 'deleted') deleted.set(before?.id, index);
    for (const name of before ? (fieldsOf.get(kind)?.unique ?? []) : []) {
      const value = before?.[name] ?? null;
      if (value !== null && value !== after?.[name]) released.set(`${kind.table}.${name} ${value}`, index);
    }
  }
  for (const [index, { kind, before, after }] of changes.entries()) {
    const { references = [], unique = [] } = fieldsOf.get(kind) ?? {};
    for (const name of references) {
      precede(created.get(after?.[name]), index);
      precede(index, deleted.get(before?.[name]));
    }
    for (const name of released.size > 0 ? unique : []) {
      if (after?.[name] === before?.[name]) continue;
      const releasing = released.get(`${kind.table}.${name} ${after?.[name]}`);
      precede(releasing, index);
      if (releasing !== undefined) releasedBy.set(index, releasing);
    }
  }
  return { successors, releasedBy };
}

function orderingFields(kind: RecordKind) {
  const fields = Object.entries(kind.fields);
  const references = fields.filter(([, { type }]) => type === 'reference').map(([name]) => name);
  return { references, unique: fields.filter(([, { unique }]) => unique).map(([name]) => name) };
}
