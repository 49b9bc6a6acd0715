/** Whether the log of a workspace leads from nothing to what is stored. */
import { expect } from 'vitest';
import type { RecordKind } from '../../src/model/record-kind.ts';
import type { storeOpener } from './open-store.ts';

/** Every record was created once, each change follows the version that was before it, and what is left is what is stored. */
export async function requireConsistentLog(
  store: ReturnType<ReturnType<typeof storeOpener>>,
  kinds: readonly RecordKind[],
): Promise<void> {
  const log = await store.changes({ after: 0, limit: 1_000_000, withBefore: true });
  expect(log.map(({ number }) => number)).toEqual(log.map((_, index) => index + 1));
  expect(await store.lastChange()).toBe(log.length);

  for (const kind of kinds) {
    const stored = new Map((await store.list(kind)).map((record) => [record.id, record as object]));
    const changes = log.filter((change) => change.kind === kind.name);
    const ids = [...new Set(changes.map(({ id }) => id))];
    for (const id of ids) {
      const own = changes.filter((change) => change.id === id);
      expect(
        own.map(({ action }) => action),
        id,
      ).toEqual([
        'created',
        ...own.slice(1, -1).map(() => 'updated'),
        ...(own.length > 1 ? [stored.has(id) ? 'updated' : 'deleted'] : []),
      ]);
      for (const [index, { at, action }] of own.entries()) {
        // The version that this change made is what was before the next one, or what is stored.
        const version = own[index + 1]?.before ?? stored.get(id);
        expect(version === undefined).toBe(action === 'deleted');
        if (version) expect(version).toMatchObject({ id, updatedAt: at });
        const earlier = own[index - 1];
        if (earlier) expect(at > earlier.at).toBe(true);
      }
    }
    expect(ids.filter((id) => stored.has(id))).toHaveLength(stored.size);
  }
}
