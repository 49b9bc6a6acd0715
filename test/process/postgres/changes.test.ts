/** Several processes write to one database at once: their changes are numbered in one sequence, in the order of their commits. */
import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/store/database.ts';
import type { Change } from '../../../src/store/log/read-changes.ts';
import { createDatabase } from '../../support/database.ts';
import { byEffort } from '../../support/effort.ts';
import { storeOpener } from '../../support/open-store.ts';
import { post, useProcesses } from '../../support/process.ts';

const processes = useProcesses();

/** The writes of each client: projects, and changes of them through another process. */
const rounds = byEffort({ small: 8, long: 50 });

test('a follower of three processes reads every change once, without gaps, and a creation before its change', async () => {
  const target = await createDatabase();
  const database = await openDatabase(target.url);
  const store = storeOpener(database)('default');
  const nodes = Array.from({ length: 3 }, () => processes.start({ DATABASE_URL: target.url }));
  const addresses = await Promise.all(nodes.map(({ ready }) => ready()));
  const created: string[] = [];
  const changed: string[] = [];

  const client = async (_: unknown, index: number) => {
    const [own = '', other = ''] = [addresses[index % 3], addresses[(index + 1) % 3]];
    for (let round = 0; round < rounds; round += 1) {
      const response = await post(`${own}/projects`, [{ name: `${index} ${round}` }, { name: 'second' }]);
      expect(response.status).toBe(201);
      const records: { id: string }[] = await response.json();
      created.push(...records.map(({ id }) => id));
      const [{ id }] = records as [{ id: string }];
      const { status } = await fetch(`${other}/projects/${id}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ notes: 'changed' }),
      });
      expect(status).toBe(200);
      changed.push(id);
    }
  };
  let isOver = false;
  const writing = Promise.all(Array.from({ length: 9 }, client)).finally(() => {
    isOver = true;
  });
  const read: Change[] = [];
  for (let isLast = false; !isLast; ) {
    isLast = isOver;
    const after = read.at(-1)?.number ?? 0;
    for (let length = 50; length === 50; ) {
      const page = await store.changes({ after: read.at(-1)?.number ?? after, limit: 50, withBefore: false });
      read.push(...page);
      length = page.length;
    }
  }
  await writing;

  expect(read.map(({ number }) => number)).toEqual(read.map((_, place) => place + 1));
  const ids = (action: string) => read.filter((change) => change.action === action).map(({ id }) => id);
  expect(ids('created').toSorted()).toEqual(created.toSorted());
  expect(ids('updated').toSorted()).toEqual(changed.toSorted());
  const places = new Map(read.map(({ id, action }, place) => [`${action} ${id}`, place]));
  for (const id of changed) {
    expect(places.get(`created ${id}`)).toBeLessThan(places.get(`updated ${id}`) ?? Number.NaN);
  }
  for (const { child } of nodes) child.kill('SIGKILL');
  await Promise.all(nodes.map(({ exited }) => exited));
  await database.close();
  await target.remove();
});
