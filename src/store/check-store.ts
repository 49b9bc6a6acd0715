/** The lookups that a check of new records may make. Lookups of concurrent checks are combined. */
import DataLoader from 'dataloader';
import type { RecordKind } from '../model/record-kind.ts';

export interface CheckStore {
  /**
   * Returns those of the values that the field has in some record. A transaction locks these records, so that no other
   * transaction can remove the values before it ends.
   */
  existingValues(kind: RecordKind, field: string, values: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Combines the lookups made in the same tick into one statement; each receives the values found for all of them. */
export function batchLookups(store: CheckStore): CheckStore {
  const lookups = new Map<string, DataLoader<readonly string[], ReadonlySet<string>>>();
  return {
    existingValues(kind, field, values) {
      const name = `${kind.name} ${field}`;
      const lookup =
        lookups.get(name) ??
        new DataLoader(
          async (batch) => {
            const existing = await store.existingValues(kind, field, [...new Set(batch.flat())]);
            return batch.map(() => existing);
          },
          { cache: false },
        );
      lookups.set(name, lookup);
      return lookup.load(values);
    },
  };
}
