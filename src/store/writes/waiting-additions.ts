/** The additions that wait for a transaction, and which of them share the next one. Runs nothing. */

interface Measured {
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
  /** By workspace; the first one has waited longest for its turn. */
  const waiting = new Map<number, A[]>();
  return {
    add(addition: A): void {
      const additions = waiting.get(addition.workspaceId);
      if (additions) additions.push(addition);
      else waiting.set(addition.workspaceId, [addition]);
    },

    isEmpty: () => waiting.size === 0,

    /**
     * Takes as many additions as one transaction may have, and at least one; one of each workspace in turn, so that none waits for all
     * that another one has sent, without those that are too large for what is left.
     */
    takeGroup(): A[] {
      const group: A[] = [];
      let size = 0;
      let maxSize = 1;
      // Workspaces that are moved to the end come up again.
      for (const [workspaceId, additions] of waiting) {
        const [addition] = additions;
        if (!addition) continue;
        const newSize = size + sizeOf(addition);
        if (group.length === 0) maxSize = Math.max(1, newSize + reserve);
        if (newSize > maxSize) continue;
        size = newSize;
        group.push(addition);
        additions.shift();
        waiting.delete(workspaceId);
        if (additions.length > 0) waiting.set(workspaceId, additions);
      }
      return group;
    },
  };
}
