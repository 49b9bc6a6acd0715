/** The workspace store: bound to one workspace, all or nothing, without SQL in its errors, and with a log of changes. */
import { beforeEach, expect, test } from 'vitest';
import { location, project, transportOrder } from '../../src/records/index.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';
import { isPostgres } from '../support/database.ts';
import { change, dry, inSteps, insert } from '../support/insert.ts';
import { numberOf, storeOpener } from '../support/open-store.ts';
import { useDatabase } from '../support/own-database.ts';

const database = useDatabase();
let ours: WorkspaceStore;
let theirs: WorkspaceStore;

beforeEach(() => {
  const openStore = storeOpener(database);
  [ours, theirs] = [openStore('ours'), openStore('theirs')];
});

const input = { name: 'Yard' };

test('nobody waits for a dry run, whatever it changes', async () => {
  const [yard, other] = await insert(ours, location, [input, input]);
  const ids = [yard?.id ?? '', other?.id ?? ''];

  const found = await inSteps(dry(ours), async (steps) => {
    await steps.lock('tree');
    const found = await steps.findToUpdate(location, ids);
    await steps.update(
      location,
      found.map((before) => ({ before, after: { ...before, name: 'Dry', updatedAt: '2026-03-02T00:00:00.000Z' } })),
    );
    await steps.delete(location, await steps.findToDelete(location, ids), '2026-03-02T00:00:00.000Z');
    const [added] = steps.add(location, [{ name: 'New' }]);

    await change(ours, location, ids[0] ?? '', { name: 'Changed' });
    await inSteps(ours, async (writing) => {
      await writing.lock('tree');
      expect(await writing.existingValues(location, 'id', ids)).toEqual(new Set(ids));
      await writing.delete(location, await writing.findToDelete(location, ids.slice(1)), '2026-03-02T00:00:00.000Z');
    });
    await insert(theirs, location, [input]);
    // It reads what was stored when it began.
    return { added, found: await steps.findToUpdate(location, ids) };
  });

  expect(found.added).toMatchObject({ name: 'New', workspaceId: 'ours' });
  expect(found.found.map(({ name }) => name)).toEqual(['Yard', 'Yard']);
  expect((await ours.list(location)).map(({ name }) => name)).toEqual(['Changed']);
  expect(await theirs.count(location)).toBe(1);
});

test('a derived text includes a write that was committed while others waited for an earlier one', async () => {
  await insert(ours, location, [{ name: 'one' }]);
  let hasRead = () => {};
  const read = new Promise<void>((resolve) => (hasRead = resolve));
  let release = () => {};
  let held: Promise<void> | undefined = new Promise((resolve) => (release = resolve));
  const derive = (version: string) =>
    ours.deriveText(
      'held',
      async () => {
        const names = (await ours.list(location)).map(({ name }) => name).join();
        hasRead();
        await held;
        return names;
      },
      version,
    );
  const [first, second] = [derive('1'), derive('1')];
  await read;
  await insert(ours, location, [{ name: 'two' }]);
  const third = derive('2');
  held = undefined;
  release();

  expect(await third).toBe('one,two');
  await Promise.all([first, second]);
});

const share = isPostgres ? 5 : 2;

/** Runs reads that each hold a connection until as many as may do so, and a little longer. Returns how many did so at once. */
async function peakOf(count: number): Promise<number> {
  let running = 0;
  let peak = 0;
  const reads = Array.from({ length: count }, () =>
    database.forWorkspace(numberOf('ours')).snapshot(async (run) => {
      running += 1;
      peak = Math.max(peak, running);
      try {
        for (let step = 0; step < 5 || (peak < share && step < 500); step += 1) await run('select 1');
      } finally {
        running -= 1;
      }
    }),
  );
  expect(await theirs.count(location)).toBe(0);
  await Promise.all(reads);
  return peak;
}

test('one workspace takes no more than half of the connections, while another workspace still gets one', async () => {
  expect(await peakOf(30)).toBe(share);
});

test('batches of more records than a statement takes are numbered and read like others', async () => {
  const store = storeOpener(database)('acme');
  const count = 5_001;
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

  const changes = await store.changes({ after: 0, limit: 3 * count, withBefore: false });
  expect(changes.map(({ number }) => number)).toEqual(Array.from({ length: 3 * count }, (_, n) => n + 1));
  expect(changes.slice(0, count).map(({ id }) => id)).toEqual(ids);
  const expected = ['created', 'deleted', 'updated'].flatMap((action) => ids.map((id) => `${action} ${id}`));
  expect(changes.map(({ action, id }) => `${action} ${id}`).toSorted()).toEqual(expected);
  const keys = ids.map((id) => ({ id, number: count }));
  expect(await store.versions(location, keys)).toEqual(created);
});

test('a version has all fields of its kind, also those that were added after it ended', async () => {
  const store = storeOpener(database)('acme');
  const [yard] = await insert(store, location, [{ name: 'North yard' }]);
  const { id = '' } = yard ?? {};
  await change(store, location, id, { name: 'South yard' });
  await database.run(
    `update changes set before = '{"id":"${id}","name":"North yard","gone":1}' where action = 'updated'`,
  );

  const [version] = await store.versions(location, [{ id, number: 1 }]);

  expect(Object.keys(version ?? {})).toEqual(Object.keys(yard ?? {}));
  expect(version).toMatchObject({ id, name: 'North yard', city: null });
});

const noteLength = 180_000;
const long = (count: number) => Array.from({ length: count }, () => ({ name: 'Crane', notes: 'x'.repeat(noteLength) }));
const idsOf = (records: readonly { id: string }[]) => records.map(({ id }) => id);

test('a transaction changes and deletes records with a limited amount of text, of whatever kinds', async () => {
  const store = storeOpener(database)('acme');
  const projects = idsOf(await insert(store, project, long(160)));
  const orders = idsOf(await insert(store, transportOrder, long(160)));

  await inSteps(dry(store), (steps) => steps.findToDelete(transportOrder, orders));
  const both = inSteps(dry(store), async (steps) => {
    await steps.findToUpdate(project, projects);
    await steps.findToDelete(transportOrder, orders);
  });

  await expect(both).rejects.toMatchObject({
    status: 413,
    message: expect.stringContaining('transport orders hold more than'),
  });
});
