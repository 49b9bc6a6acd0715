/** Several processes on one database: they start at once, write at once, and return the same. */
import { expect, test } from 'vitest';
import { migrationNames } from '../../../src/store/schema/migrations.ts';
import { createDatabase } from '../../support/database.ts';
import { byEffort } from '../../support/effort.ts';
import { query } from '../../support/postgres.ts';
import { ask, post, useProcesses } from '../../support/process.ts';

const processes = useProcesses();

const starting = byEffort({ small: 5, long: 10 });

test(`${starting} that start at once on an empty database leave one clean schema`, async () => {
  const database = await createDatabase({ empty: true });
  const nodes = Array.from({ length: starting }, () => processes.start({ DATABASE_URL: database.url }));

  const addresses = await Promise.all(nodes.map(({ ready }) => ready()));

  for (const address of addresses) expect(await ask(address, '{ assets { totalCount } }')).toBeDefined();
  const applied = await query(database.url, 'select name from knex_migrations');
  expect(applied.map(({ name }) => name)).toEqual(migrationNames);
  await Promise.all(
    nodes.map(({ child, exited }) => {
      child.kill('SIGTERM');
      return exited;
    }),
  );
  await database.remove();
});

test('three write linked records at once, and each reads the same graph', async () => {
  const database = await createDatabase({ empty: true });
  const nodes = Array.from({ length: 3 }, () => processes.start({ DATABASE_URL: database.url }));
  const addresses = await Promise.all(nodes.map(({ ready }) => ready()));
  const node = (index: number) => addresses[index % 3] ?? '';
  const create = async (index: number, path: string, ...records: object[]) => {
    const response = await post(`${node(index)}${path}`, records);
    expect(response.status).toBe(201);
    return response.json();
  };

  // Each record refers to one that another node has acknowledged.
  await Promise.all(
    Array.from({ length: 30 }, async (_, index) => {
      const [{ id: locationId }] = await create(index, '/locations', { name: `location ${index}` });
      const [{ id: projectId }] = await create(index + 1, '/projects', { name: `project ${index}`, locationId });
      await create(index + 2, '/work-orders', ...Array.from({ length: 20 }, () => ({ projectId, locationId })));
      await create(index + 1, '/assets', { name: 'Crane', uid: `crane ${index}`, currentLocationId: locationId });
    }),
  );

  const graph = `{
    workOrders(first: 1000) {
      totalCount
      nodes { id project { id name location { id name } } location { id name createdAt } }
      pageInfo { endCursor }
    }
    assets(first: 1000) { nodes { id uid currentLocation { id name } } }
  }`;
  const [first, ...others] = await Promise.all(addresses.map((address) => ask(address, graph)));
  expect(first.workOrders.totalCount).toBe(600);
  expect(new Set(first.workOrders.nodes.map((order: { project: { name: string } }) => order.project.name)).size).toBe(
    30,
  );
  for (const other of others) expect(other).toEqual(first);
  for (const { child } of nodes) child.kill('SIGKILL');
  await Promise.all(nodes.map(({ exited }) => exited));
  await database.remove();
});
