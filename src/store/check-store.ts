/** The lookups that a check of new records may make. Lookups of concurrent checks are combined. */
import DataLoader from 'dataloader';
import type { RecordKind } from '../model/record-kind.ts';
import type { IdempotencyResult } from './idempotency.ts';

export interface CheckStore {
  /**
   * Returns those of the values that the field has in some record. A transaction locks these records, so that no other
   * transaction can remove the values before it ends.
   */
  existingValues(kind: RecordKind, field: string, values: readonly string[]): Promise<ReadonlySet<string>>;
}

/** What the checks of a group commit may look up, too. */
export interface GroupCheckStore extends CheckStore {
  /** Returns what requests with these keys have stored. */
  idempotencyResults(keys: readonly string[]): Promise<readonly IdempotencyResult[]>;
}

/** Combines the lookups made in the same tick into one statement; each receives the values found for all of them. */
export function batchLookups(store: GroupCheckStore): GroupCheckStore {
  const lookups = new Map<string, Lookup<ReadonlySet<string>>>();
  const keyed = combine((keys) => store.idempotencyResults(keys));
  return {
    existingValues(kind, field, values) {
      const name = `${kind.name} ${field}`;
      const lookup = lookups.get(name) ?? combine((all) => store.existingValues(kind, field, all));
      lookups.set(name, lookup);
      return lookup.load(values);
    },
    idempotencyResults: (keys) => keyed.load(keys),
  };
}

type Lookup<T> = DataLoader<readonly string[], T>;

const combine = <T>(find: (values: readonly string[]) => Promise<T>): Lookup<T> =>
  new DataLoader(
    async (batch) => {
      const found = await find([...new Set(batch.flat())]);
      return batch.map(() => found);
    },
    { cache: false },
  );
