/** The additions that wait for a transaction, and which of them share the next one. Runs nothing. */
import { createTurns } from '../../sharing/turns.ts';

export interface Measured {
  readonly workspaceId: number;
  readonly drafts: readonly unknown[];
  /** The external IDs of all records, as externalIdCount counts them: each is a row of its own on SQLite. */
  readonly externalIds: number;
  /** Characters of all texts, an estimate of the memory that the records take until they are stored. */
  readonly length: number;
}

/** The most records, external IDs and characters in one transaction, unless its first addition has more: the next group waits for it. */
const maxRecords = 2_000;
const maxExternalIds = 30_000;
const maxLength = 4_000_000;

/** The part of these that others may have beside a first addition of any size, so that small ones do not wait for it and then for another. */
const reserve = 0.1;

const sizeOf = ({ drafts, externalIds, length }: Measured): number =>
  Math.max(drafts.length / maxRecords, externalIds / maxExternalIds, length / maxLength);

export function createWaitingAdditions<A extends Measured>() {
  const { add, isEmpty, take } = createTurns<A>();
  return {
    add: (addition: A): void => add(addition.workspaceId, addition),
    isEmpty,

    /** Takes as many additions as one transaction may have, and at least one, without those that are too large for what is left. */
    takeGroup(): A[] {
      let size = 0;
      let maxSize: number | undefined;
      const fits = (addition: A): boolean => {
        const newSize = size + sizeOf(addition);
        maxSize ??= Math.max(1, newSize + reserve);
        if (newSize > maxSize) return false;
        size = newSize;
        return true;
      };
      return [...take(fits)];
    },
  };
}
