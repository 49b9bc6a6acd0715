/** The additions that wait for a transaction, and which of them share the next one. Runs nothing. */

interface Measured {
  readonly workspaceId: string;
  readonly records: readonly unknown[];
  /** The external IDs of all records, as externalIdCount counts them: each is a row of its own on SQLite. */
  readonly externalIds: number;
  /** Characters of all texts, an estimate of the memory that the records take until they are stored. */
  readonly length: number;
}

/** The most records, external IDs and characters in one transaction, unless a single addition has more: the next group waits for it. */
const maxRecords = 2_000;
const maxExternalIds = 30_000;
const maxLength = 4_000_000;

export function createWaitingAdditions<A extends Measured>() {
  /** By workspace; the first one has waited longest for its turn. */
  const waiting = new Map<string, A[]>();
  return {
    add(addition: A): void {
      const additions = waiting.get(addition.workspaceId);
      if (additions) additions.push(addition);
      else waiting.set(addition.workspaceId, [addition]);
    },

    isEmpty: () => waiting.size === 0,

    /**
     * Takes as many additions as one transaction may have, and at least one; one of each workspace in turn, so that none waits for all
     * that another one has sent.
     */
    takeGroup(): A[] {
      const group: A[] = [];
      let records = 0;
      let externalIds = 0;
      let length = 0;
      // Workspaces that are moved to the end come up again.
      for (const [workspaceId, additions] of waiting) {
        const [addition] = additions;
        if (!addition) continue;
        records += addition.records.length;
        externalIds += addition.externalIds;
        length += addition.length;
        const isFull = records > maxRecords || externalIds > maxExternalIds || length > maxLength;
        if (group.length > 0 && isFull) break;
        group.push(addition);
        additions.shift();
        waiting.delete(workspaceId);
        if (additions.length > 0) waiting.set(workspaceId, additions);
      }
      return group;
    },
  };
}
