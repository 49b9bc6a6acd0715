/** Counts what is in use, in total and by each workspace, and refuses what would be more than allowed. */

export interface Quota {
  /** Takes an amount for a workspace. Returns the limit that it would exceed, and then takes nothing. */
  take(workspaceId: string, amount: number): 'share' | 'total' | undefined;
  free(workspaceId: string, amount: number): void;
}

export function createQuota({ total, share }: { readonly total: number; readonly share: number }): Quota {
  let taken = 0;
  const takenBy = new Map<string, number>();

  function add(workspaceId: string, amount: number): void {
    taken += amount;
    const ofWorkspace = (takenBy.get(workspaceId) ?? 0) + amount;
    if (ofWorkspace > 0) takenBy.set(workspaceId, ofWorkspace);
    else takenBy.delete(workspaceId);
  }

  return {
    take(workspaceId, amount) {
      if ((takenBy.get(workspaceId) ?? 0) + amount > share) return 'share';
      if (taken + amount > total) return 'total';
      add(workspaceId, amount);
      return undefined;
    },
    free: (workspaceId, amount) => add(workspaceId, -amount),
  };
}
