/** Writes as data: services say in this form what a write looks up and what it changes, and the store carries it out. */
import { newIds } from '../../model/ids.ts';
import type { CreateOf, RecordKind, RecordOf } from '../../model/record-kind.ts';
import type { Row } from '../connections/driver.ts';
import { columnsOf } from '../query/columns.ts';
import type { Lookups } from './lookups.ts';

/** Has no effects: it runs again after a conflict. Throws a ServiceError below 500 to reject the write, TransactionConflict to run again. */
export type Work<T> = (find: Lookups) => Promise<Written<T>>;

export interface Written<T> {
  readonly changes: readonly Change[];
  /** The result, now and when the write is repeated with its key: plain data, for it is stored as JSON. */
  readonly returned: T;
}

export type Change = { readonly kind: RecordKind } & (
  | { readonly action: 'created'; readonly records: readonly Row[] }
  /** Stores deleted records again, with their IDs. */
  | { readonly action: 'restored'; readonly records: readonly Row[] }
  | { readonly action: 'updated'; readonly records: readonly Replacement[] }
  | { readonly action: 'deleted'; readonly records: readonly Row[]; readonly at: string }
);

/** A record that was read with a lock, and what it is to become. */
export interface Replacement<R = Row> {
  readonly before: R;
  readonly after: R;
}

export interface Stamps {
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly createdBy?: string | null;
  readonly updatedBy?: string | null;
}

export function draftOf<K extends RecordKind>(kind: K, input: CreateOf<K>, stamps: Stamps): Row {
  const values: Row = input;
  const draft: Record<string, unknown> = {};
  for (const { field } of columnsOf(kind)) draft[field] = values[field] ?? null;
  return Object.assign(draft, stamps);
}

/** Records get the name of their workspace when they are stored. The cast is safe: drafts have all fields of the kind. */
export function newRecords<K extends RecordKind>(
  kind: K,
  drafts: readonly Row[],
  ids: readonly string[] = newIds(kind.idPrefix, drafts.length),
): RecordOf<K>[] {
  return drafts.map((draft, index) => Object.assign(draft, { id: ids[index] })) as object as RecordOf<K>[];
}

export const created = <K extends RecordKind>(kind: K, records: readonly RecordOf<K>[]): Change => ({
  kind,
  action: 'created',
  records: rows(records),
});

/** Returns the update of records, which have a new `updatedAt`. */
export const updated = <K extends RecordKind>(kind: K, records: readonly Replacement<RecordOf<K>>[]): Change => ({
  kind,
  action: 'updated',
  records: records as readonly Replacement<object>[] as readonly Replacement[],
});

/** Returns the deletion of records that were read with `findToDelete`. */
export const deleted = <K extends RecordKind>(kind: K, records: readonly RecordOf<K>[], at: string): Change => ({
  kind,
  action: 'deleted',
  records: rows(records),
  at,
});

/** Returns the restoration of deleted records, which have an `updatedAt` after their deletion. */
export const restored = <K extends RecordKind>(kind: K, records: readonly RecordOf<K>[]): Change => ({
  kind,
  action: 'restored',
  records: rows(records),
});

const rows = (records: readonly object[]) => records as readonly Row[];
