/** What is to happen to records, as adapters parse it or as reversals follow from the log, and what is wrong with it. */
import { tooLarge } from '../errors.ts';
import { count, type Issue, type Path, validValues } from '../model/issues.ts';
import type { ExternalIdsMerge, Link, Linkable } from '../model/links.ts';
import type { AnyRecord, RecordKind, RecordOf, Values } from '../model/record-kind.ts';

/** What is to happen to one record. */
export interface Item {
  /** `restore` gives a record an earlier state: it is updated, or stored again with its ID if it does not exist any more. */
  readonly op: 'create' | 'update' | 'upsert' | 'delete' | 'restore';
  readonly kind: RecordKind;
  /** Where it was sent: `[2]` in a batch, `['assets', 2]` in an import, `[]` by itself. */
  readonly path: Path;
  /** The fields that were sent and are valid; then also those that links stand for. */
  values: Values;
  /** What is wrong with it, in paths that begin in the item. */
  readonly issues: Problem[];
  /** The ID of the record to update, delete or restore, unless it is found by a key. */
  readonly id?: string | undefined;
  readonly key?: string | undefined;
  /** The `updatedAt` that the record must still have. */
  readonly ifUpdatedAt?: string | undefined;
  /** A name by which links of other items lead to this one. */
  readonly ref?: string | undefined;
  readonly links?: readonly Link[] | undefined;
  readonly merge?: ExternalIdsMerge | undefined;
  /** The new items to which it refers, by the fields of the references: they get their IDs last. */
  linked?: Map<string, Item>;
  /** The items that are rejected with this one, and the problem that they then have. */
  dependents?: Dependent[];
  /** The stored record, locked; undefined if there is none. */
  before?: AnyRecord | undefined;
  /** The record to store again, as it was, but with the time of its latest change; undefined if it is stored. */
  restored?: AnyRecord | undefined;
}

interface Dependent {
  readonly item: Item;
  readonly problem: Problem;
}

/** A conflict is valid by itself, but not beside the stored records. */
export type Problem = Issue & { readonly isConflict?: true };

/** What a write does with invalid items: rejects the whole batch, or leaves them out and stores the others. */
export type OnInvalid = 'fail' | 'skip';

/** An item that was left out, and why. The paths of its issues begin in the item. */
export interface Rejected {
  readonly outcome: 'rejected';
  readonly issues: readonly Issue[];
}

export interface Stored {
  readonly record: RecordOf<RecordKind>;
  /** The record as it was, if that is to be returned and it is not new. */
  readonly before?: RecordOf<RecordKind> | undefined;
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'deleted';
}

export const itemOf = (op: Item['op'], kind: RecordKind, path: Path, sent: Linkable<unknown>): Item => ({
  op,
  kind,
  path,
  values: validValues(sent),
  issues: [...(sent.issues ?? [])],
  id: sent.id,
  ifUpdatedAt: sent.ifUpdatedAt,
  ref: sent.ref,
  links: sent.links,
  merge: sent.merge,
});

/** Returns the ID of the record; undefined if it is new. */
export const idOf = ({ before, restored }: Item): string | undefined => (before ?? restored)?.id;

export const isValid = ({ issues }: Item): boolean => issues.length === 0;

/** Returns the items of each kind, in the order of their first items. */
export function byKind<I extends Item>(items: readonly I[]): ReadonlyMap<RecordKind, readonly I[]> {
  const groups = new Map<RecordKind, I[]>();
  for (const item of items) {
    const group = groups.get(item.kind);
    if (group) group.push(item);
    else groups.set(item.kind, [item]);
  }
  return groups;
}

/** Lets an item refer to a new one, which gets its ID last. */
export function referTo(other: Item, item: Item, field: string, problem: Problem): void {
  item.linked = (item.linked ?? new Map<string, Item>()).set(field, other);
  dependOn(other, item, problem);
}

/** The item has the problem if the other one is rejected. */
export function dependOn(other: Item, item: Item, problem: Problem): void {
  other.dependents ??= [];
  other.dependents.push({ item, problem });
}

/** Rejects what depends on rejected items, and what depends on that. */
export function rejectDependents(items: readonly Item[]): void {
  const left = items.filter((item) => !isValid(item));
  for (let next = left.pop(); next; next = left.pop()) {
    const { dependents = [] } = next;
    next.dependents = [];
    for (const { item, problem } of dependents) {
      if (isValid(item)) left.push(item);
      item.issues.push(problem);
    }
  }
}

/** True for an item that was left out: no field of a record is a list. */
export const isRejected = (item: object): item is Rejected => 'issues' in item && Array.isArray(item.issues);

/** Throws a ServiceError 413. Adapters check it before they parse the items, so that a batch that is too large costs nothing. */
export function requireBatchSize(size: number, max: number): void {
  if (size > max) {
    const problem = `expected at most ${count(max)} records, received ${count(size)}: send them in several batches`;
    throw tooLarge(problem, 'batch too large');
  }
}
