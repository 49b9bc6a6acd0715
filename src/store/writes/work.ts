/** Writes as data: services say in this form what a write looks up and what it changes, and the store carries it out. */
import type { RecordKind } from '../../model/record-kind.ts';
import type { Row } from '../connections/driver.ts';
import type { Lookups } from './lookups.ts';

/** Has no effects: it runs again after a conflict. Throws a ServiceError below 500 to reject the write, TransactionConflict to run again. */
export type Work<T> = (tx: Lookups) => Promise<Written<T>>;

export interface Written<T> {
  readonly changes: readonly Change[];
  /** The result, now and when the write is repeated with its key: plain data, for it is stored as JSON. */
  readonly returned: T;
}

/** What happens to one record, which was read with a lock unless it is new, or stored again with the ID that it had. */
export interface Change {
  readonly kind: RecordKind;
  readonly action: 'created' | 'updated' | 'deleted';
  readonly before: Row | null;
  readonly after: Row | null;
  readonly at: string;
}
