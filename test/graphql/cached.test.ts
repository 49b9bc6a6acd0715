/** A query that is sent again gets the same text without a read of records, until something is written. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { workOrder } from '../../src/records/index.ts';
import { isPostgres } from '../support/database.ts';
import { startOn, stopServices, useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

const names = 'query ($first: Int) { locations(first: $first) { totalCount nodes { name } } }';

const namesIn = async () =>
  (await service.data(names, { first: 10 })).locations.nodes.map(({ name }: { name: string }) => name);

const readsOf = async (work: () => Promise<unknown>) => (await service.statements(work)).length;

test('a query that was sent twice needs no read of records, and gets the same response', async () => {
  await service.create('/locations', { name: 'North yard' });
  const first = await service.graphql(names, { first: 10 });

  const again = () =>
    readsOf(async () => {
      expect((await service.graphql(names, { first: 10 })).text).toBe(first.text);
    });

  // On Postgres, a write to any database of the server counts, such as those of other tests at the same time.
  await expect.poll(again).toBe(0);
});

test('after it was cached, a query returns what this process or another one has written since', async () => {
  const theirs = (await startOn(service.url)).as(await service.key());
  await service.create('/locations', { name: 'North yard' });
  for (const _attempt of [1, 2, 3]) expect(await namesIn()).toEqual(['North yard']);

  await theirs.create('/locations', { name: 'South yard' });
  for (const _attempt of [1, 2, 3]) expect(await namesIn()).toEqual(['North yard', 'South yard']);
  await service.create('/locations', { name: 'West yard' });
  expect(await namesIn()).toEqual(['North yard', 'South yard', 'West yard']);
  await stopServices();
});

test('another operation of a document has a text of its own', async () => {
  await service.create('/locations', { name: 'North yard' }, { name: 'South yard' });
  const both =
    'query One { locations(first: 1) { nodes { name } } } query Two { locations(first: 2) { nodes { name } } }';
  const operation = async (operationName: string) =>
    (await service.post('/graphql', { query: both, operationName })).body.data.locations.nodes.length;

  for (const _attempt of [1, 2, 3]) {
    expect(await operation('One')).toBe(1);
    expect(await operation('Two')).toBe(2);
  }
});

test('the viewer is the user of the key, also when another of the workspace has just asked the same', async () => {
  const query = '{ viewer { workspace { id } user { id } mayWrite writableKinds } }';
  const [writer, reader, part, other] = await Promise.all([
    service.key({ user: 'anna' }),
    service.key({ user: 'anna', readOnly: true }),
    service.key({ user: 'anna', write: [workOrder] }),
    service.key({ user: 'ben' }),
  ]);
  const ask = async (key: string) => (await service.as(key).data(query)).viewer;
  for (let round = 0; round < 3; round += 1) {
    const anna = { workspace: { id: service.workspace }, user: { id: 'anna' }, mayWrite: true };
    expect(await ask(writer)).toEqual({ ...anna, writableKinds: expect.arrayContaining(['LABEL', 'ASSET']) });
    expect(await ask(part)).toEqual({ ...anna, writableKinds: ['WORK_ORDER'] });
    expect(await ask(reader)).toMatchObject({ user: { id: 'anna' }, mayWrite: false, writableKinds: [] });
    expect(await ask(other)).toMatchObject({ user: { id: 'ben' }, mayWrite: true });
  }
});

test('a query that takes too long is not run again for each request that waits for its text, and its error is not cached', async () => {
  const { driver } = service.database;
  const query = driver.query.bind(driver);
  let runs = 0;
  const slow = vi.spyOn(driver, 'query').mockImplementation(async (connection, sql, values, setUp) => {
    if (!sql.includes('locations')) return query(connection, sql, values, setUp);
    runs += 1;
    await pause(100);
    throw Object.assign(new Error('cancelled'), { code: isPostgres ? '57014' : 'SQLITE_INTERRUPT' });
  });
  await service.graphql('{ locations { nodes { name } } }');
  const before = runs;
  const responses = await Promise.all([1, 2, 3, 4].map(() => service.graphql('{ locations { nodes { name } } }')));
  slow.mockRestore();

  expect((await service.graphql('{ locations { nodes { name } } }')).body).toEqual({
    data: { locations: { nodes: [] } },
  });
  expect(responses.map(({ body }) => body.errors[0].extensions.code)).toEqual(Array(4).fill('SERVICE_UNAVAILABLE'));
  expect(runs - before).toBe(1);
});
