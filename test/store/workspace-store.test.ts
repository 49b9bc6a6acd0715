/** The workspace store: bound to one workspace, all or nothing, and without SQL in its errors. */
import { beforeEach, expect, test } from 'vitest';
import { location } from '../../src/records/index.ts';
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
