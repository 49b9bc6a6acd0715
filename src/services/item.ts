/**
 * A batch item: an operation on one record, and its validation issues. Adapters build items from input, reversals from
 * the log.
 */
import { tooLarge } from '../errors.ts';
import { type ExternalIds, type ExternalIdsPatch, mergedExternalIds } from '../model/fields.ts';
import { type DescribedIssue, formatCount, type Path, type ValidationIssue, validValues } from '../model/issues.ts';
import type { ExternalIdsMerge, Link, ParsedItem } from '../model/links.ts';
import type { AnyRecord, RecordKey, RecordKind, Values } from '../model/record-kind.ts';
import { kindOfId } from '../records/index.ts';

export interface Item {
  /** For `patch`, an equal value is a change. `restore` gives a record an earlier state, even after its deletion. */
  readonly op: 'create' | 'update' | 'patch' | 'upsert' | 'delete' | 'restore';
  readonly kind: RecordKind;
  /** `[2]` in a batch, `['assets', 2]` in an import, `[]` for a single record. Issues' paths are relative to it. */
  readonly path: Path;
  /** The valid fields of the input, and the references that its links resolve to. */
  values: Values;
  readonly issues: ValidationIssue[];
  /** From the input, or found by the key. Undefined for a new record. */
  id?: string | undefined;
  readonly by?: RecordKey | undefined;
  /** The value of a deletion's key; an upsert has it in `values`. */
  readonly key?: string | undefined;
  readonly ifUpdatedAt?: string | undefined;
  /** A reversal expects its record unchanged since the change with this number. */
  readonly unchangedSince?: number | undefined;
  readonly ref?: string | undefined;
  readonly links?: readonly Link[] | undefined;
  readonly merge?: ExternalIdsMerge | undefined;
  /** By field: references to new records of the batch, which get IDs last. */
  pendingReferences?: Map<string, Item>;
  duplicateOf?: Item | undefined;
  dependents?: Dependent[];
  /** The stored record, locked. */
  before?: AnyRecord | undefined;
  /** The deleted record that a `restore` stores again. */
  restored?: AnyRecord | undefined;
}

interface Dependent {
  readonly item: Item;
  readonly issue: ValidationIssue;
}

/** `fail` stores no item of the batch, `skip` only the valid ones. */
export type OnInvalid = 'fail' | 'skip';

export interface Rejection {
  readonly outcome: 'rejected';
  readonly issues: readonly DescribedIssue[];
}

export interface StoredItem {
  readonly record: AnyRecord;
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'deleted';
}

export const createItem = (
  op: Item['op'],
  kind: RecordKind,
  path: Path,
  parsed: ParsedItem<unknown>,
  by?: RecordKey | undefined,
): Item => ({
  op,
  kind,
  path,
  by,
  values: validValues(parsed),
  issues: [...(parsed.issues ?? [])],
  id: parsed.id,
  ifUpdatedAt: parsed.ifUpdatedAt,
  ref: parsed.ref,
  links: parsed.links,
  merge: parsed.merge,
});

/** An upsert by an external ID keeps the others. */
export function externalIdsAfter({ op, by, merge, values }: Item, stored: Values | undefined): ExternalIds | null {
  const before = (stored?.externalIds ?? null) as ExternalIds | null;
  const isByExternalId = op === 'upsert' && stored && by && 'externalId' in by;
  const patch = merge?.externalIds ?? (isByExternalId ? values.externalIds : undefined);
  if (patch) return mergedExternalIds(before, patch as ExternalIdsPatch);
  return values.externalIds === undefined ? before : (values.externalIds as ExternalIds | null);
}

export const isValid = ({ issues }: Item): boolean => issues.length === 0;

export function groupByKind<I extends Item>(items: readonly I[]): ReadonlyMap<RecordKind, readonly I[]> {
  const groups = new Map<RecordKind, I[]>();
  for (const item of items) addTo(groups, item.kind, item);
  return groups;
}

export function addTo<Key, Value>(groups: Map<Key, Value[]>, key: Key, value: Value): void {
  const group = groups.get(key);
  if (group) group.push(value);
  else groups.set(key, [value]);
}

/** Indexes the first item of each ID. */
export function indexById(items: readonly Item[]): ReadonlyMap<string, Item> {
  const index = new Map<string, Item>();
  for (const item of items) {
    const { id, kind } = item;
    if (id !== undefined && !index.has(id) && kindOfId(id) === kind) index.set(id, item);
  }
  return index;
}

export function setReference(item: Item, field: string, target: Item): void {
  if (target.id !== undefined) item.values = { ...item.values, [field]: target.id };
  else item.pendingReferences = (item.pendingReferences ?? new Map<string, Item>()).set(field, target);
}

/** If the item is rejected, so is the dependent, with this issue. */
export function addDependent(item: Item, dependent: Item, issue: ValidationIssue): void {
  item.dependents ??= [];
  item.dependents.push({ item: dependent, issue });
}

export function rejectDependents(items: readonly Item[]): void {
  const rejected = items.filter((item) => !isValid(item));
  for (let next = rejected.pop(); next; next = rejected.pop()) {
    const { dependents = [] } = next;
    next.dependents = [];
    for (const { item, issue } of dependents) {
      if (isValid(item)) rejected.push(item);
      item.issues.push(issue);
    }
  }
}

/** No field of a record is a list. */
export const isRejection = (result: object): result is Rejection => 'issues' in result && Array.isArray(result.issues);

/** Called before the items are parsed: too large a batch costs nothing. Throws a 413. */
export function requireBatchSize(size: number, max: number): void {
  if (size > max) {
    const problem = `expected at most ${formatCount(max)} records, received ${formatCount(size)}: send them in several batches`;
    throw tooLarge(problem, 'batch too large');
  }
}
