/**
 * The order of a write's changes, in which each can be made by itself: a record exists while others refer to it, and a unique value is free
 * before another record takes it. So the feed can be followed one change at a time. Changes that are alike stay together, as far as that
 * allows: the store makes one statement of them.
 */
import type { RecordKind } from '../model/record-kind.ts';
import { linkOrder } from '../records/index.ts';
import type { Change } from '../store/writes/tx.ts';

export interface Order {
  readonly ordered: readonly Change[];
  /** Changes without a place: each takes a value that another one frees, which waits for a record of the first. */
  readonly blocked: readonly { readonly change: Change; readonly by: Change }[];
}

export function inOrder(changes: readonly Change[]): Order {
  const [first] = changes;
  const isPlain = ({ kind, action }: Change) => kind === first?.kind && action === 'created' && !refersToItself(kind);
  if (changes.every(isPlain)) return { ordered: changes, blocked: [] };
  const { following, freedBy } = precedence(changes);
  const waitsFor = changes.map(() => 0);
  for (const next of following.flat()) waitsFor[next] = (waitsFor[next] ?? 0) + 1;
  const ready = new Map<number, number[]>();
  const addReady = (index: number) => {
    const rank = rankOf(changes[index] as Change);
    const alike = ready.get(rank);
    if (alike) alike.push(index);
    else ready.set(rank, [index]);
  };
  for (const index of changes.keys()) if (waitsFor[index] === 0) addReady(index);
  const ordered = new Set<number>();
  while (ready.size > 0) {
    const rank = Math.min(...ready.keys());
    // Those that become ready meanwhile and are alike are added to the list.
    for (const index of ready.get(rank) ?? []) {
      ordered.add(index);
      for (const next of following[index] ?? []) {
        waitsFor[next] = (waitsFor[next] ?? 0) - 1;
        if (waitsFor[next] === 0) addReady(next);
      }
    }
    ready.delete(rank);
  }
  const at = (index: number) => changes[index] as Change;
  const blocked = [...freedBy].filter(([taking, freeing]) => !ordered.has(taking) && !ordered.has(freeing));
  return {
    ordered: [...ordered].map(at),
    blocked: blocked.map(([taking, freeing]) => ({ change: at(taking), by: at(freeing) })),
  };
}

const refersToItself = ({ name, fields }: RecordKind): boolean =>
  Object.values(fields).some((field) => field.type === 'reference' && field.target === name);

/** New records first, then changes, then deletions; targets of references before what refers to them, but the other way for deletions. */
function rankOf({ kind, action }: Change): number {
  const place = linkOrder.indexOf(kind);
  if (action === 'created') return place;
  return action === 'updated' ? linkOrder.length + place : 3 * linkOrder.length - place;
}

/** Returns for each change the places of those that come after it, and for those that take a value the place of the one that frees it. */
function precedence(changes: readonly Change[]) {
  const following: number[][] = changes.map(() => []);
  const precede = (first: number | undefined, second: number | undefined): void => {
    if (first !== undefined && second !== undefined && first !== second) following[first]?.push(second);
  };
  const created = new Map<unknown, number>();
  const deleted = new Map<unknown, number>();
  const freed = new Map<string, number>();
  const freedBy = new Map<number, number>();
  const fieldsOf = orderingFields(changes);
  for (const [index, { kind, action, before, after }] of changes.entries()) {
    if (action === 'created') created.set(after?.id, index);
    if (action === 'deleted') deleted.set(before?.id, index);
    for (const name of before ? fieldsOf(kind).unique : []) {
      const value = before?.[name] ?? null;
      if (value !== null && value !== after?.[name]) freed.set(`${kind.table}.${name} ${value}`, index);
    }
  }
  for (const [index, { kind, before, after }] of changes.entries()) {
    const { references, unique } = fieldsOf(kind);
    for (const name of references) {
      precede(created.get(after?.[name]), index);
      precede(index, deleted.get(before?.[name]));
    }
    for (const name of freed.size > 0 ? unique : []) {
      if (after?.[name] === before?.[name]) continue;
      const freeing = freed.get(`${kind.table}.${name} ${after?.[name]}`);
      precede(freeing, index);
      if (freeing !== undefined) freedBy.set(index, freeing);
    }
  }
  return { following, freedBy };
}

/** Returns a function that returns the fields of a kind by which its changes are ordered. */
function orderingFields(changes: readonly Change[]) {
  const none = { references: [], unique: [] };
  const byKind = new Map(
    [...new Set(changes.map(({ kind }) => kind))].map((kind) => {
      const fields = Object.entries(kind.fields);
      const references = fields.filter(([, { type }]) => type === 'reference').map(([name]) => name);
      return [kind, { references, unique: fields.filter(([, { unique }]) => unique).map(([name]) => name) }];
    }),
  );
  return (kind: RecordKind) => byKind.get(kind) ?? none;
}
