/** A batch item: an operation on one record, and its issues. The adapters make items of input, and a reversal makes them of the log. */
import { tooLarge } from '../errors.ts';
import { type ExternalIds, type ExternalIdsPatch, mergedExternalIds } from '../model/fields.ts';
import { count, type DescribedIssue, type FoundIssue, type Path, validValues } from '../model/issues.ts';
import type { ExternalIdsMerge, Link, Linkable } from '../model/links.ts';
import type { AnyRecord, RecordKey, RecordKind, RecordOf, Values } from '../model/record-kind.ts';
import { kindOfId } from '../records/index.ts';

export interface Item {
  /** `patch` counts any field as a change; `restore` gives a record an earlier state, also one that does not exist any more. */
  readonly op: 'create' | 'update' | 'patch' | 'upsert' | 'delete' | 'restore';
  readonly kind: RecordKind;
  /** `[2]` in a batch, `['assets', 2]` in an import, `[]` for a single record. */
  readonly path: Path;
  /** The valid fields of the input; the references of links are added to them. */
  values: Values;
  /** Their paths begin in the item. */
  readonly issues: FoundIssue[];
  /** The ID of the record, sent or found by the key. Undefined for a new record. */
  id?: string | undefined;
  /** The key by which an upsert or a deletion finds its record. An upsert has its value among its own. */
  readonly by?: RecordKey | undefined;
  readonly key?: string | undefined;
  /** The `updatedAt` that the record must still have. */
  readonly ifUpdatedAt?: string | undefined;
  /** Of a reversal: the change after which its record must not have been changed to anything else. */
  readonly lastChange?: number | undefined;
  /** The name by which links of other items lead to this one. */
  readonly ref?: string | undefined;
  readonly links?: readonly Link[] | undefined;
  readonly merge?: ExternalIdsMerge | undefined;
  /** The new records of other items that this one refers to, by field: their IDs are set last. */
  linked?: Map<string, Item>;
  /** The first item with the same record or key, for which this one is rejected. */
  earlier?: Item | undefined;
  /** The items that are rejected with this one. */
  dependents?: Dependent[];
  /** The stored record, locked; undefined if there is none. */
  before?: AnyRecord | undefined;
  /** The deleted record that a `restore` stores again. */
  restored?: AnyRecord | undefined;
}

interface Dependent {
  readonly item: Item;
  readonly issue: FoundIssue;
}

/** What a write does with invalid items: rejects the whole batch, or leaves them out and stores the others. */
export type OnInvalid = 'fail' | 'skip';

/** An item that was left out, and why. The paths of its issues begin in the item. */
export interface Rejected {
  readonly outcome: 'rejected';
  readonly issues: readonly DescribedIssue[];
}

export interface Stored {
  readonly record: RecordOf<RecordKind>;
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'deleted';
}

export const itemOf = (
  op: Item['op'],
  kind: RecordKind,
  path: Path,
  sent: Linkable<unknown>,
  by?: RecordKey | undefined,
): Item => ({
  op,
  kind,
  path,
  by,
  values: validValues(sent),
  issues: [...(sent.issues ?? [])],
  id: sent.id,
  ifUpdatedAt: sent.ifUpdatedAt,
  ref: sent.ref,
  links: sent.links,
  merge: sent.merge,
});

/** Returns the external IDs that the record of an item will have. An upsert by the ID of one system keeps the IDs of the others. */
export function externalIdsAfter({ op, by, merge, values }: Item, stored: Values | undefined): ExternalIds | null {
  const before = (stored?.externalIds ?? null) as ExternalIds | null;
  const isByExternalId = op === 'upsert' && stored && by && 'externalId' in by;
  const patch = merge?.externalIds ?? (isByExternalId ? values.externalIds : undefined);
  if (patch) return mergedExternalIds(before, patch as ExternalIdsPatch);
  return values.externalIds === undefined ? before : (values.externalIds as ExternalIds | null);
}

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

/** The first item of each stored record. */
export function byId(items: readonly Item[]): ReadonlyMap<string, Item> {
  const found = new Map<string, Item>();
  for (const item of items) {
    const { id, kind } = item;
    if (id !== undefined && !found.has(id) && kindOfId(id) === kind) found.set(id, item);
  }
  return found;
}

/** Lets an item refer to another one, which has its ID already or gets it last. */
export function referTo(other: Item, item: Item, field: string): void {
  if (other.id !== undefined) item.values = { ...item.values, [field]: other.id };
  else item.linked = (item.linked ?? new Map<string, Item>()).set(field, other);
}

/** The item has the issue if the other one is rejected. */
export function dependOn(other: Item, item: Item, issue: FoundIssue): void {
  other.dependents ??= [];
  other.dependents.push({ item, issue });
}

/** Rejects what depends on rejected items, and what depends on that. */
export function rejectDependents(items: readonly Item[]): void {
  const left = items.filter((item) => !isValid(item));
  for (let next = left.pop(); next; next = left.pop()) {
    const { dependents = [] } = next;
    next.dependents = [];
    for (const { item, issue } of dependents) {
      if (isValid(item)) left.push(item);
      item.issues.push(issue);
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
