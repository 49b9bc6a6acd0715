/** Records with long texts, of which a batch names many in a few bytes: what they take at a time is limited. */
import { expect, test } from 'vitest';
import { project, transportOrder } from '../../src/records/index.ts';
import { dry, inSteps, insert } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';
import { useDatabase } from '../support/own-database.ts';

const database = useDatabase();

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
