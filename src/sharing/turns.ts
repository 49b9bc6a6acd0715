/** A queue that serves one item of each workspace in turn: a workspace that adds many delays no other. Runs nothing. */
export function createTurns<T>() {
  /** By workspace, in the order of their turns. */
  const queues = new Map<string | number, T[]>();
  return {
    add(workspaceId: string | number, item: T): void {
      const queue = queues.get(workspaceId);
      if (queue) queue.push(item);
      else queues.set(workspaceId, [item]);
    },

    isEmpty: () => queues.size === 0,

    /** Takes items as long as they are asked for. One that does not fit, and those of its workspace after it, wait for another time. */
    *take(fits: (item: T) => boolean = () => true): Generator<T> {
      // Workspaces that are moved to the end come up again.
      for (const [workspaceId, queue] of queues) {
        const [next] = queue;
        if (next === undefined || !fits(next)) continue;
        queue.shift();
        queues.delete(workspaceId);
        if (queue.length > 0) queues.set(workspaceId, queue);
        yield next;
      }
    },
  };
}
