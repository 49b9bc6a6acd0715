/** The log of changes: its numbers, and what is read from it, compared with a model of random writes through two processes' stores. */

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RecordKind } from '../../src/model/record-kind.ts';
import { asset, location } from '../../src/records/index.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import type { Author } from '../../src/store/query/tables.ts';
import { createStoreOpener, type WorkspaceStore } from '../../src/store/workspace-store.ts';
import { createDatabase } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { change, dry, inSteps, insert, type Steps } from '../support/insert.ts';
import { nobody, workspaceNamed } from '../support/open-store.ts';
import { createRandom } from '../support/random.ts';

let target: Awaited<ReturnType<typeof createDatabase>>;
let databases: Database[];
let openers: ReturnType<typeof createStoreOpener>[];

beforeEach(async () => {
  target = await createDatabase();
  databases = [await openDatabase(target.url), await openDatabase(target.url)];
  openers = databases.map(createStoreOpener);
});

afterEach(async () => {
  for (const database of databases) await database.close();
  await target.remove();
});

const open = (workspace: string, node = 0, author: Author = nobody): WorkspaceStore => {
  const opener = openers[node];
  if (!opener) throw new Error(`there is no node ${node}`);
  return opener(workspaceNamed(workspace), { author });
};

const limits = { maxTextLength: 10_000, maxExternalIds: 100, maxRecordLength: 100_000, maxResponseLength: 100_000_000 };

const historyOf = async (store: WorkspaceStore, id: string) => {
  const query = { limit: 1_000, withBefore: true };
  return (await store.within(limits).histories([id], query))[0]?.map(comparable);
};

/** A change as the model has it, with the record before it. */
interface Logged extends Author {
  readonly number: number;
  readonly kind: string;
  readonly action: string;
  readonly id: string;
  readonly at: string;
  readonly before: object | null;
}

const comparable = ({
  number,
  kind,
  action,
  id,
  at,
  before,
  userId,
  requestId,
  message,
}: Logged | (object & Partial<Logged>)) => ({
  ...{ number, kind, action, id, at, userId, requestId, message },
  before: before ?? null,
});

/** Reads the whole feed, page by page. */
async function feed(store: WorkspaceStore, limit: number, kinds?: readonly string[]): Promise<Logged[]> {
  const all: Logged[] = [];
  for (;;) {
    const after = all.at(-1)?.number ?? 0;
    const page = await store.changes({ after, limit, kinds, withBefore: true });
    all.push(...(page as readonly object[] as Logged[]));
    if (page.length < limit) return all;
    expect(page).toHaveLength(limit);
  }
}

const startOfTime = Date.parse('2026-03-01T00:00:00.000Z');

class RolledBack extends Error {}

/** What a workspace should have, and has had. */
function createModel() {
  const log: Logged[] = [];
  const current = new Map<string, object>();
  const versions = new Map<string, { readonly number: number; readonly record: object | null }[]>();

  return {
    log,
    current,
    versions,
    add(author: Author, kind: RecordKind, action: string, at: string, id: string, after: object | null) {
      const { workspaceId: _, ...before } = (current.get(id) ?? {}) as { workspaceId?: string };
      const number = log.length + 1;
      log.push({ ...author, number, kind: kind.name, action, id, at, before: action === 'created' ? null : before });
      if (after) current.set(id, after);
      else current.delete(id);
      versions.set(id, [...(versions.get(id) ?? []), { number, record: after }]);
    },
    versionAfter(id: string, number: number) {
      return versions.get(id)?.findLast((version) => version.number <= number)?.record ?? null;
    },
    versionAt(id: string, time: string) {
      const last = log.findLast((change) => change.id === id && change.at <= time);
      return last ? this.versionAfter(id, last.number) : null;
    },
    kindOf: (id: string): typeof asset | typeof location => (id.startsWith('asset') ? asset : location),
  };
}

type Model = ReturnType<typeof createModel>;

/** Makes random writes through both nodes, some of which are rolled back or dry runs. */
async function write(seed: number, operations: number): Promise<ReadonlyMap<string, Model>> {
  const random = createRandom(seed);
  const models = new Map(['acme', 'yard'].map((name) => [name, createModel()]));
  let seconds = 0;
  for (let n = 0; n < operations; n += 1) {
    const workspace = random.pick([...models.keys()]) ?? '';
    const model = models.get(workspace) ?? createModel();
    const author = {
      userId: random.pick([null, 'erp', "O'Neil"]) ?? null,
      requestId: `r${n}`,
      message: random.pick([null, 'why ?']) ?? null,
    };
    const store = open(workspace, random.integer(2), author);
    seconds += 1;
    const at = new Date(startOfTime + 1_000 * seconds).toISOString();
    const size = random.chance(0.1) ? 40 : random.integer(4);
    const ids = random.shuffle([...model.current.keys()]).slice(0, size);
    const inputs = Array.from({ length: size }, (_, index) => ({ name: `${n} ${index} ' ? \\ "` }));
    const stamps = { createdAt: at, updatedAt: at };
    const done: (() => void)[] = [];

    const log = (kind: typeof asset | typeof location, records: readonly { readonly id: string }[]) => {
      for (const record of records) done.push(() => model.add(author, kind, 'created', at, record.id, record as never));
    };
    const create = (steps: Steps, kind: typeof asset | typeof location) => log(kind, steps.add(kind, inputs, stamps));
    const update = async (steps: Steps) => {
      for (const kind of [asset, location] as const) {
        const found = await steps.findToUpdate(
          kind,
          ids.filter((id) => model.kindOf(id) === kind),
        );
        const pairs = found.map((before) => ({ before, after: { ...before, name: `changed ${n}`, updatedAt: at } }));
        // The cast is safe: before and after are of the same kind.
        await steps.update(kind, pairs as never);
        for (const { after } of pairs) done.push(() => model.add(author, kind, 'updated', at, after.id, after));
      }
    };
    const remove = async (steps: Steps) => {
      for (const kind of [asset, location] as const) {
        const found = await steps.findToDelete(
          kind,
          ids.filter((id) => model.kindOf(id) === kind),
        );
        await steps.delete(kind, found as never, at);
        for (const { id } of found) done.push(() => model.add(author, kind, 'deleted', at, id, null));
      }
    };

    const work = random.pick<(steps: Steps) => Promise<void>>([
      async (steps) => create(steps, asset),
      update,
      remove,
      async (steps) => {
        create(steps, location);
        await update(steps);
        create(steps, asset);
      },
    ]);
    const way = random.integer(5);
    if (way === 0) {
      const kind = random.pick([asset, location]) ?? asset;
      log(kind, await insert(store, kind, inputs, stamps));
    } else if (way === 1) {
      const rolledBack = inSteps(store, async (steps) => {
        await work?.(steps);
        throw new RolledBack();
      });
      await expect(rolledBack).rejects.toThrow(RolledBack);
    } else if (way === 2) await inSteps(dry(store), async (steps) => work?.(steps));
    else await inSteps(store, async (steps) => work?.(steps));
    if (way !== 1 && way !== 2) for (const log of done) log();
  }
  return models;
}

test.each(Array.from({ length: byEffort({ small: 2, long: 40 }) }, (_, seed) => seed))(
  'whatever is created, changed, deleted, rolled back and dry, the feed, histories and versions are as in a model (seed %d)',
  async (seed) => {
    const models = await write(seed, 60);

    const random = createRandom(seed);
    for (const [workspace, model] of models) {
      const store = open(workspace);
      expect(await store.lastChange()).toBe(model.log.length);
      for (const limit of [1_000, 7, 1 + random.integer(20)]) {
        expect((await feed(store, limit)).map(comparable)).toEqual(model.log.map(comparable));
      }
      for (const kinds of [['Asset'], ['Location', 'Project'], []]) {
        const expected = model.log.filter(({ kind }) => kinds.includes(kind));
        expect((await feed(store, 3, kinds)).map(comparable)).toEqual(expected.map(comparable));
      }
      for (const kind of [asset, location]) {
        const ids = [...model.versions.keys()].filter((id) => model.kindOf(id) === kind);
        const keys = ids.flatMap((id) => [0, 1, 2].map(() => ({ id, number: random.integer(model.log.length + 1) })));
        const existing = keys.filter(({ id, number }) => number >= (model.versions.get(id)?.[0]?.number ?? 0));
        expect(await store.versions(kind, existing)).toEqual(
          existing.map(({ id, number }) => model.versionAfter(id, number)),
        );
      }
      for (const id of random.shuffle([...model.versions.keys()]).slice(0, 20)) {
        const kind = model.kindOf(id);
        const changes = model.log.filter((change) => change.id === id);
        expect(await historyOf(store, id)).toEqual(changes.toReversed().map(comparable));
        const time = new Date(startOfTime + 500 * random.integer(130)).toISOString();
        expect(await store.versionAt(kind, id, time)).toEqual(model.versionAt(id, time));
      }
    }
  },
);

test('batches of more records than a statement takes are numbered and read like others', async () => {
  const store = open('acme');
  const count = 5_300;
  const names = Array.from({ length: count }, (_, n) => ({ name: `location ${n}` }));
  const created = await insert(store, location, names);
  const ids = created.map(({ id }) => id);

  await inSteps(store, async (steps) => {
    const found = await steps.findToUpdate(location, ids);
    const at = '2026-03-02T00:00:00.000Z';
    await steps.update(
      location,
      found.map((before) => ({ before, after: { ...before, city: 'Bremen', updatedAt: at } })),
    );
  });
  await inSteps(store, async (steps) => {
    await steps.delete(location, await steps.findToDelete(location, ids), '2026-03-03T00:00:00.000Z');
  });

  const changes = await feed(store, 5_000);
  expect(changes.map(({ number }) => number)).toEqual(Array.from({ length: 3 * count }, (_, n) => n + 1));
  expect(changes.slice(0, count).map(({ id }) => id)).toEqual(ids);
  for (const [place, action] of ['created', 'updated', 'deleted'].entries()) {
    const ofAction = changes.slice(place * count, (place + 1) * count);
    expect(new Set(ofAction.map((change) => change.action))).toEqual(new Set([action]));
    expect(new Set(ofAction.map(({ id }) => id))).toEqual(new Set(ids));
  }
  const keys = ids.map((id) => ({ id, number: count }));
  expect(await store.versions(location, keys)).toEqual(created);
  expect(await historyOf(store, ids[4_321] ?? '')).toHaveLength(3);
});

test('a version has all fields of its kind, also those that were added after it ended', async () => {
  const store = open('acme');
  const [yard] = await insert(store, location, [{ name: 'North yard' }]);
  const { id = '' } = yard ?? {};
  await change(store, location, id, { name: 'South yard' });
  await databases[0]?.run(
    `update changes set before = '{"id":"${id}","name":"North yard","gone":1}' where action = 'updated'`,
  );

  const [version] = await store.versions(location, [{ id, number: 1 }]);

  expect(Object.keys(version ?? {})).toEqual(Object.keys(yard ?? {}));
  expect(version).toMatchObject({ id, name: 'North yard', city: null });
});
