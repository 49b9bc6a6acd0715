/** What checks of new records may read, many of them at once. */
import DataLoader from 'dataloader';
import type { RecordKind } from '../model/record-kind.ts';

/** Reads only what no other transaction can change before this one ends. */
export interface CheckStore {
  /** Which of these values the field has in some record: in a transaction, none of those is removed before the end. */
  existingValues(kind: RecordKind, field: string, values: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Lookups of the same step become one statement; each gets the values found for all of them. */
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
