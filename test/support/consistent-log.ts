/** Whether the log of a workspace leads from nothing to what is stored, and is the same however it is read. */
import { expect } from 'vitest';
import type { RecordKind } from '../../src/model/record-kind.ts';
import type { LoggedChange } from '../../src/store/log.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';

/** Records are created when they do not exist, each change follows the version that was before it, and what is left is what is stored. */
export async function requireConsistentLog(store: WorkspaceStore, kinds: readonly RecordKind[]): Promise<void> {
  const log = await store.changes({ after: 0, limit: 1_000_000, withBefore: true });
  expect(log.map(({ number }) => number)).toEqual(log.map((_, index) => index + 1));
  expect(await store.lastChange()).toBe(log.length);
  const some = kinds.slice(1).map(({ name }) => name);
  for (const names of [undefined, some, []]) {
    const expected = names ? log.filter(({ kind }) => names.includes(kind)) : log;
    expect(await feedOf(store, 1 + Math.ceil(log.length / 7), names)).toEqual(expected);
  }

  for (const kind of kinds) {
    const stored = new Map((await store.list(kind)).map((record) => [record.id, record as object]));
    const changes = log.filter((change) => change.kind === kind.name);
    const ids = [...new Set(changes.map(({ id }) => id))];
    for (const id of ids) {
      const own = changes.filter((change) => change.id === id);
      const versions = versionsIn(own, stored.get(id));
      for (const [index, { at, action }] of own.entries()) {
        const [earlier, version] = [own[index - 1], versions[index]];
        expect(action === 'created', id).toBe(!earlier || earlier.action === 'deleted');
        expect(action === 'deleted', id).toBe(version === null);
        if (version) expect(version).toMatchObject({ id, updatedAt: at });
        if (earlier) expect(at > earlier.at).toBe(true);
      }
    }
    expect(ids.filter((id) => stored.has(id))).toHaveLength(stored.size);

    for (const id of ids.slice(-3)) {
      const own = changes.filter((change) => change.id === id);
      expect(await store.histories([id], { limit: own.length + 1, withBefore: true })).toEqual([own.toReversed()]);
      const versions = versionsIn(own, stored.get(id)).map(withoutWorkspace);
      // Between two changes of the record there are changes of others.
      const keys = own.map((_, index) => ({ id, number: (own[index + 1]?.number ?? log.length + 1) - 1 }));
      const times = await Promise.all(own.map(({ at }) => store.versionAt(kind, id, at)));
      expect((await store.versions(kind, keys)).map(withoutWorkspace)).toEqual(versions);
      expect(times.map(withoutWorkspace)).toEqual(versions);
      expect(await store.versionAt(kind, id, '2000-01-01T00:00:00.000Z')).toBeNull();
    }
  }
}

/** The version that each change has made is what was before the next one, or what is stored; null if there was none. */
const versionsIn = (changes: readonly LoggedChange[], stored: object | undefined) =>
  changes.map((_, index) => (index + 1 < changes.length ? (changes[index + 1]?.before ?? null) : (stored ?? null)));

const withoutWorkspace = (record: object | null) => record && { ...record, workspaceId: undefined };

async function feedOf({ changes }: Pick<WorkspaceStore, 'changes'>, limit: number, kinds?: readonly string[]) {
  const all: LoggedChange[] = [];
  for (;;) {
    const page = await changes({ after: all.at(-1)?.number ?? 0, limit, kinds, withBefore: true });
    all.push(...page);
    if (page.length < limit) return all;
  }
}
