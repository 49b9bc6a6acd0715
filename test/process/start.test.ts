/** The process and its database: what it says of it at its start, what it finds there, and what it has stored at its end. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { version } from '../../package.json';
import { createDatabase } from '../support/database.ts';
import { largeBatch, post, postAround, useProcesses } from '../support/process.ts';

const processes = useProcesses();
let database: Awaited<ReturnType<typeof createDatabase>>;

beforeEach(async () => {
  database = await createDatabase();
});

afterEach(() => database.remove());

const run = (settings: Record<string, string> = {}, command = 'serve') =>
  processes.start({ DATABASE_URL: database.url, ...settings }, command);

describe('a start', () => {
  test('says in one line of JSON where it is, where its data are, and that it is open', async () => {
    const service = run({ LOG_LEVEL: 'silent' });
    const address = await service.ready();

    expect(JSON.parse(service.said.out)).toMatchObject({
      level: 40,
      msg: 'started, open to everybody on this machine until there is an API key',
      version,
      address,
      location: database.url.replace(/sqlite:|\w+:\w+@/, ''),
      isOpen: true,
      pid: service.child.pid,
    });
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
  });

  test('and its end are one line each, with the version and the address, and with the signal', async () => {
    const service = run({ LOG_LEVEL: 'info' });
    const address = await service.ready();
    service.child.kill('SIGINT');
    await service.exited;

    const lines = [service.said.out, ...service.said.err.trim().split('\n')].map((line) => JSON.parse(line));
    const kind = database.url.startsWith('sqlite') ? 'SQLite' : 'Postgres';
    const { pid } = service.child;
    expect(lines.filter(({ version }) => version)).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      ...{ version, node: process.version, database: kind, address, pid },
    });
    expect(lines.at(-1)).toMatchObject({ msg: 'stopped', signal: 'SIGINT', uptimeSeconds: expect.any(Number), pid });
  });
});

test('SIGTERM finishes what is in flight, closes the database and ends with 0', async () => {
  const service = run();
  const address = await service.ready();

  const response = await postAround(`${address}/locations`, largeBatch, () => service.child.kill('SIGTERM'));

  expect(response.status).toBe(201);
  expect(response.body).toHaveLength(largeBatch.length);
  expect(await service.exited).toBe(0);
});

describe('an end', () => {
  test('does not wait for clients that keep sending, and loses nothing it has acknowledged', async () => {
    const service = run();
    const address = await service.ready();
    let acknowledged = 0;
    let failed = 0;
    const client = async () => {
      for (;;) {
        const response = await post(
          `${address}/locations`,
          Array.from({ length: 100 }, () => ({})),
        ).catch(() => undefined);
        if (!response) return;
        const created = await response.json().catch(() => undefined);
        if (response.status === 201 && created) acknowledged += created.length;
        else failed += 1;
      }
    };
    const clients = Array.from({ length: 4 }, client);
    while (acknowledged < 1_000) await pause(5);

    // Otherwise this would never end.
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
    await Promise.all(clients);

    const again = run();
    const query = { query: '{ locations { totalCount } }' };
    const { data } = await (await post(`${await again.ready()}/graphql`, query)).json();
    expect([data.locations.totalCount, failed]).toEqual([acknowledged, 0]);
    expect(acknowledged).toBeGreaterThan(0);
  });
});

test('the demo is filled once, with some hundred records of all six kinds, also when two start at once', async () => {
  const kinds = ['assets', 'assetCategories', 'locations', 'projects', 'workOrders', 'transportOrders'];
  const counts = async ({ ready }: ReturnType<typeof run>) => {
    const query = `{ ${kinds.map((kind) => `${kind} { totalCount }`).join(' ')} }`;
    const { data } = await (await post(`${await ready()}/graphql`, { query })).json();
    return kinds.map((kind) => data[kind].totalCount as number);
  };
  const filled = await Promise.all([run({}, 'demo'), run({}, 'demo')].map(counts));

  expect([...filled, await counts(run({}, 'demo'))]).toEqual(Array(3).fill([57, 28, 14, 12, 43, 24]));
});
