/** A queue that serves one item of each workspace in turn: a workspace that adds many delays no other. Runs nothing. */
export function createTurns<T>() {
  /** By workspace, in the order of their turns. */
  const queues = new Map<string, T[]>();
  return {
    add(workspaceId: string, item: T): void {
      const queue = queues.get(workspaceId);
      if (queue) queue.push(item);
      else queues.set(workspaceId, [item]);
    },

    isEmpty: () => queues.size === 0,

    takeNext(): T | undefined {
      const [first] = queues;
      if (!first) return undefined;
      const [workspaceId, queue] = first;
      const next = queue.shift();
      queues.delete(workspaceId);
      if (queue.length > 0) queues.set(workspaceId, queue);
      return next;
    },
  };
}
