/** The process and its database: what it says at its start, what it finds there, and what it has stored at its end. */
import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { version } from '../../package.json';
import { isPostgres, useTestDatabase } from '../support/database.ts';
import { ask, largeBatch, post, postAround, useProcesses } from '../support/process.ts';
import { startOn, stopServices } from '../support/service.ts';

const processes = useProcesses();
const database = useTestDatabase();

test.runIf(!isPostgres)(
  'a start says that it is in data/yardgraph.db; SIGTERM finishes what is in flight, however many keep sending, and the next start finds it',
  async () => {
    const service = processes.start({ LOG_LEVEL: 'info' });
    const address = await service.ready();
    const health = await (await fetch(`${address}/healthz`)).json();
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
    let acknowledged = 0;
    let failed = 0;
    const client = async () => {
      for (;;) {
        const records = Array.from({ length: 100 }, () => ({ name: 'secret-name' }));
        const response = await post(`${address}/locations`, records).catch(() => undefined);
        if (!response) return;
        const created = await response.json().catch(() => undefined);
        if (response.status === 201 && created) acknowledged += created.length;
        else failed += 1;
      }
    };
    const clients = Array.from({ length: 4 }, client);
    while (acknowledged < 400) await pause(5);

    const large = await postAround(`${address}/assets`, largeBatch, () => service.child.kill('SIGTERM'));
    const code = await service.exited;
    await Promise.all(clients);

    expect([large.status, code, failed]).toEqual([201, 0, 0]);
    expect(large.body).toHaveLength(largeBatch.length);
    expect(health).toMatchObject({ status: 'ok', version, schema: expect.stringMatching(/^\d{4}_\w+$/) });
    const location = `${processes.folder}/data/yardgraph.db`;
    const { pid } = service.child;
    expect(JSON.parse(service.said.out)).toMatchObject({
      level: 40,
      msg: 'started, open to everybody on this machine until there is an API key',
      database: 'SQLite',
      ...{ version, node: process.version, address, location, isOpen: true, pid },
    });
    const lines = service.said.err.trim().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ msg: 'stopped', signal: 'SIGTERM', pid });
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ msg: 'request completed', route: '/locations', status: 201 });
    expect(service.said.err).not.toMatch(/secret|healthz|readyz/);
    // No log of SQLite is left beside it.
    expect(readdirSync(`${processes.folder}/data`)).toEqual(['yardgraph.db']);
    const again = await startOn(`sqlite:${location}`);
    const { locations, assets } = await again.data('{ locations { totalCount } assets { totalCount } }');
    await stopServices();
    expect([locations.totalCount, assets.totalCount]).toEqual([acknowledged, largeBatch.length]);
  },
);

test('the demo is filled once, also when two start at once, with linked records of all kinds', async () => {
  const start = () => processes.start({ DATABASE_URL: database.url }, 'demo').ready();
  const addresses = await Promise.all([start(), start()]);
  const query = `{
    assets(first: 1000) { nodes { id effectiveLocation { id } } }
    assetCategories(first: 1000) { nodes { id parentId parent { id } } }
    locations(first: 1000) { nodes { id } }
    projects(first: 1000) { nodes { id } }
    transportOrders(first: 1000) { nodes { id project { id } } }
    workOrders(first: 1000) { nodes { id project { location { id } } location { id } } }
  }`;
  const [one, other] = await Promise.all(addresses.map((address) => ask(address, query)));

  expect(one).toEqual(other);
  expect(one.locations.nodes).toHaveLength(16);
  for (const { nodes } of Object.values<{ nodes: object[] }>(one)) expect(nodes.length).toBeGreaterThan(10);
  for (const { effectiveLocation } of one.assets.nodes) expect(effectiveLocation).not.toBeNull();
  for (const { project, location } of one.workOrders.nodes) expect(project.location && location).not.toBeNull();
  for (const { project } of one.transportOrders.nodes) expect(project).not.toBeNull();
  for (const { parentId, parent } of one.assetCategories.nodes) expect(parent?.id).toBe(parentId ?? undefined);
});
