/** The log of changes: long batches, and versions of records. What random writes log, test/services/write-model.test.ts checks. */
import { expect, test } from 'vitest';
import { location } from '../../src/records/index.ts';
import { change, inSteps, insert } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';
import { useDatabase } from '../support/own-database.ts';

const database = useDatabase();

test('batches of more records than a statement takes are numbered and read like others', async () => {
  const store = storeOpener(database)('acme');
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

  const changes = await store.changes({ after: 0, limit: 3 * count, withBefore: false });
  expect(changes.map(({ number }) => number)).toEqual(Array.from({ length: 3 * count }, (_, n) => n + 1));
  expect(changes.slice(0, count).map(({ id }) => id)).toEqual(ids);
  for (const [place, action] of ['created', 'updated', 'deleted'].entries()) {
    const ofAction = changes.slice(place * count, (place + 1) * count);
    expect(new Set(ofAction.map((change) => change.action))).toEqual(new Set([action]));
    expect(new Set(ofAction.map(({ id }) => id))).toEqual(new Set(ids));
  }
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
