/** What clients want to happen to records, as adapters parse it, and what is wrong with it. */
import { type Issue, type Path, validValues } from '../model/issues.ts';
import type { Link, Linkable } from '../model/links.ts';
import type { AnyRecord, RecordKind, Values } from '../model/record-kind.ts';

/** What a client wants to happen to one record. */
export interface Item {
  readonly op: 'create' | 'update' | 'upsert' | 'delete';
  readonly kind: RecordKind;
  /** Where it was sent: `[2]` in a batch, `['assets', 2]` in an import, `[]` by itself. */
  readonly path: Path;
  /** The fields that were sent and are valid; then also those that links stand for. */
  values: Values;
  /** What is wrong with it, in paths that begin in the item. */
  readonly issues: Problem[];
  /** The ID of the record to update or delete, unless it is found by a key. */
  readonly id?: string | undefined;
  readonly key?: string | undefined;
  /** The `updatedAt` that the record must still have. */
  readonly ifUpdatedAt?: string | undefined;
  /** A name by which links of other items lead to this one. */
  readonly ref?: string | undefined;
  readonly links?: readonly Link[] | undefined;
  /** The items to which links lead, by the fields of the references: they get their IDs last. */
  readonly linked: Map<string, Item>;
  /** The stored record, locked; undefined if there is none. */
  before?: AnyRecord | undefined;
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
  readonly record: AnyRecord;
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'deleted';
}

export const itemOf = (op: Item['op'], kind: RecordKind, path: Path, sent: Linkable<object>): Item => ({
  op,
  kind,
  path,
  values: validValues(sent),
  issues: [...(sent.issues ?? [])],
  ref: sent.ref,
  links: sent.links,
  linked: new Map(),
});

/** True for an item that was left out: no field of a record is a list. */
export const isRejected = (item: object): item is Rejected => 'issues' in item && Array.isArray(item.issues);
