/** Records with long texts, of which a batch names many in a few bytes: what they take at a time is limited. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { project, transportOrder } from '../../src/records/index.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';
import { createDatabase } from '../support/database.ts';
import { dry, inSteps, insert, type Steps } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';

let database: Database;
let store: WorkspaceStore;
let remove: () => Promise<void>;

beforeEach(async () => {
  const created = await createDatabase();
  remove = created.remove;
  database = await openDatabase(created.url);
  store = storeOpener(database)('acme');
});

afterEach(async () => {
  await database.close();
  await remove();
});

const noteLength = 180_000;
const long = (count: number) => Array.from({ length: count }, () => ({ name: 'Crane', notes: 'x'.repeat(noteLength) }));
const idsOf = (records: readonly { id: string }[]) => records.map(({ id }) => id);

/** The longest of the texts that are sent to the database in some work. */
async function longestSent(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  const measure = ({ sql, bindings }: { sql: string; bindings: readonly unknown[] }) => {
    for (const text of [sql, ...bindings]) if (typeof text === 'string') longest = Math.max(longest, text.length);
  };
  database.knex.on('query', measure);
  await work();
  database.knex.removeListener('query', measure);
  return longest;
}

async function changeAll(steps: Steps, ids: readonly string[], name: string): Promise<void> {
  const found = await steps.findToUpdate(project, ids);
  const replacements = found.map((before) => ({
    before,
    after: { ...before, name, notes: `${name}${before.notes}`, updatedAt: '2026-03-02T00:00:00.000Z' },
  }));
  await steps.update(project, replacements);
}

test('creating, changing and deleting many long rows takes statements of limited length, and so does logging it', async () => {
  let ids: string[] = [];
  const create = () => insert(store, project, long(50)).then((records) => (ids = idsOf(records)));
  const update = () => inSteps(store, (steps) => changeAll(steps, ids, 'Quay'));
  const deleteAll = () =>
    inSteps(store, async (steps) =>
      steps.delete(project, await steps.findToDelete(project, ids), '2026-03-03T00:00:00.000Z'),
    );

  for (const work of [create, update, deleteAll]) expect(await longestSent(work)).toBeLessThan(5_000_000);

  const versions = await store.versions(
    project,
    ids.map((id) => ({ id, number: 100 })),
  );
  expect(versions.map((version) => version?.notes?.length)).toEqual(Array(50).fill(noteLength + 4));
});

test('a transaction changes and deletes records with a limited amount of text, of whatever kinds', async () => {
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
