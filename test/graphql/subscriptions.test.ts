/** The feed as server-sent events: in the form that graphql-sse and a browser's EventSource read. */
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { unavailable } from '../../src/errors.ts';
import { asset as assetKind, project } from '../../src/records/index.ts';
import { plantCreations } from '../support/changes.ts';
import { openEvents } from '../support/event-stream.ts';
import { insert } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';
import { listen, startForTest, useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

const subscription = `subscription ($after: String, $kinds: [RecordKind!]) {
  changes(after: $after, kinds: $kinds) { nodes { cursor recordId } endCursor hasMore } }`;

type App = Pick<typeof service, 'app'> & Partial<Pick<typeof service, 'headers'>>;
type Options = Readonly<{ variables?: object; headers?: Record<string, string>; query?: string }>;

async function follow(
  { app, headers: own }: App,
  { variables = {}, headers = {}, query = subscription }: Options = {},
) {
  const events = await openEvents(app, query, { variables, headers: { ...own, ...headers } });
  return {
    ...events,
    async cursors() {
      const event = await events.next();
      return event?.data.data.changes.nodes.map(({ cursor }: { cursor: string }) => Number(cursor));
    },
  };
}

const names = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `Crane ${n}` }));
const upTo = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => first + n);

describe('a subscription', () => {
  test('sends the changes that are made from now on, not compressed or cached, each event with the cursor as its ID', async () => {
    await service.create('/locations', { name: 'North yard' });
    const events = await follow(service, { headers: { 'accept-encoding': 'gzip, br' } });
    expect(events).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'text/event-stream',
        'x-accel-buffering': 'no',
        'cache-control': expect.stringContaining('no-cache'),
      },
    });
    for (const name of ['content-encoding', 'content-length']) expect(events.headers).not.toHaveProperty(name);

    const [asset] = await service.create('/assets', { name: 'Crane' });

    const changes = { nodes: [{ cursor: '2', recordId: asset.id }], endCursor: '2', hasMore: false };
    expect(await events.next()).toEqual({ event: 'next', id: '2', data: { data: { changes } } });
    expect(events.text()).toMatch(/^:\n\nevent: next\nid: 2\ndata: \{.*\}\n\n$/);
    await service.patch('/projects/none', { name: 'x' });
    await service.create('/assets', { name: 'Pump' });
    expect(await events.cursors()).toEqual([3]);
  });

  test('begins after a cursor, and sends what there is in events of at most 50 changes', async () => {
    await service.create('/assets', ...names(120));
    const events = await follow(service, { variables: { after: '10' } });

    expect(await events.cursors()).toEqual(upTo(11, 60));
    expect(await events.cursors()).toEqual(upTo(61, 110));
    expect(await events.cursors()).toEqual(upTo(111, 120));
    await service.create('/assets', ...names(2));
    expect(await events.cursors()).toEqual([121, 122]);
  });

  test('of some kinds sends nothing of the others, and goes on behind them', async () => {
    const events = await follow(service, { variables: { kinds: ['LOCATION', 'PROJECT'] } });
    await plantCreations(service, assetKind, 110_000);
    await service.create('/locations', { name: 'North yard' });
    await service.create('/assets', ...names(3));
    await service.create('/projects', { name: 'Harbour wall' });

    const cursors: number[] = [];
    // They may come together or one by one.
    while (cursors.length < 2) cursors.push(...(await events.cursors()));

    expect(cursors).toEqual([110_001, 110_005]);
  });

  test('sends each event with what it selects of the records as they are then, read anew', async () => {
    const query = `subscription { changes { nodes { action fields { field before after } record { id
      ... on Project { name location { city } } } } } }`;
    const events = await follow(service, { query });
    const [yard] = await service.create('/locations', { city: 'Bremen' });
    await events.next();
    const [project] = await service.create('/projects', { name: 'Wall', locationId: yard.id });
    const created = await events.next();
    await service.patch(`/projects/${project.id}`, { name: 'Harbour wall' });
    const updated = await events.next();

    const record = { id: project.id, name: 'Wall', location: { city: 'Bremen' } };
    const fields = [{ field: 'name', before: 'Wall', after: 'Harbour wall' }];
    expect(created?.data.data.changes.nodes[0].record).toEqual(record);
    expect(updated?.data.data.changes.nodes).toEqual([
      { action: 'UPDATED', fields, record: { ...record, name: 'Harbour wall' } },
    ]);
  });
});

test('a subscription sends nothing of another workspace, whatever its cursor', async () => {
  const bolt = service.as(await service.key({ workspace: 'bolt' }));
  await bolt.create('/assets', ...names(5));
  const [fromNow, fromStart] = [await follow(service), await follow(service, { headers: { 'last-event-id': '0' } })];

  await bolt.create('/assets', ...names(5));
  const [asset] = await service.create('/assets', { name: 'Crane' });

  for (const events of [fromNow, fromStart]) {
    const event = await events.next();
    expect(event?.id).toBe('1');
    expect(event?.data.data.changes.nodes).toEqual([{ cursor: '1', recordId: asset.id }]);
  }
});

describe('what cannot be sent', () => {
  test('a subscription to a client that accepts no events is a 406', async () => {
    const { status, body } = await service.post('/graphql', { query: subscription }, { accept: 'application/json' });
    const message =
      'a subscription is sent as server-sent events: expected an Accept header that allows text/event-stream';
    expect([status, body]).toEqual([406, { errors: [{ message, extensions: { code: 'NOT_ACCEPTABLE' } }] }]);
  });

  test.each<[string, string, Record<string, string>?]>([
    [
      subscription,
      'Last-Event-ID: expected a cursor of a change, such as "4711", received "soon"',
      { 'last-event-id': 'soon' },
    ],
    ['subscription { changes { nope } }', 'Cannot query field "nope" on type "ChangePage"'],
    ['subscription { changes { endCursor } b: changes { endCursor } }', 'must select only one top level field'],
    [
      `subscription { changes { nodes { record { ... on Location { projects(first: 1000) { nodes { workOrders(first: 1000)
      { nodes { id } } } } } } } } }`,
      'the operation costs more than 500,000',
    ],
    ['subscription { changes @skip(if: true) { endCursor } }', 'a subscription must select a field'],
  ])('%s: the error is the only event', async (query, message, headers = {}) => {
    const events = await follow(service, { query, headers });
    const event = await events.next();

    expect(events.status).toBe(200);
    expect(event).toMatchObject({ event: 'next', id: undefined });
    expect(event?.data.errors[0].message).toContain(message);
    expect(event?.data.errors[0].message).not.toContain('unexpected');
    expect(await events.next()).toMatchObject({ event: 'complete' });
    expect(await events.next()).toBeUndefined();
  });

  test('changes that are together too long for an event have one each, and one that is too long by itself says so, as the last one', async () => {
    const strict = await startForTest({ MAX_RESPONSE_LENGTH: '20000' });
    const query = 'subscription { changes { nodes { a: fields { after } b: fields { after } } } }';
    const wall = { name: 'Wall', notes: 'a'.repeat(9_000) };
    const events = await follow(strict, { query });
    await strict.create('/projects', wall, wall);

    expect([(await events.next())?.id, (await events.next())?.id]).toEqual(['1', '2']);

    const [{ id }] = await strict.create('/projects', { ...wall, externalIds: { erp: 'x'.repeat(490) } });
    await events.next();
    await strict.patch(`/projects/${id}`, {
      notes: 'b'.repeat(9_000),
      externalIds: { erp: 'y', sap: 'z'.repeat(490) },
    });
    const longer = await follow(strict, {
      query: 'subscription { changes(after: "3") { nodes { a: fields { before after } b: fields { before after } } } }',
    });

    const event = await longer.next();
    expect(event?.data.errors[0].message).toBe(
      'an event may have 500,000 characters, and this one of one change has more: select fewer fields, or leave it out, with after: "4"',
    );
    // A client that connects again gets the same error, and misses nothing.
    expect(event?.id).toBeUndefined();
    expect(await longer.next()).toMatchObject({ event: 'complete' });
    expect(await longer.next()).toBeUndefined();
  });
});

test('a query and a mutation are sent as one event to a client that accepts only events', async () => {
  const query = await follow(service, { query: '{ locations { totalCount } }' });
  const mutation = await follow(service, {
    query: 'mutation { createLocations(input: [{ name: "North yard" }]) { name } }',
  });

  expect(await query.next()).toMatchObject({ event: 'next', data: { data: { locations: { totalCount: 0 } } } });
  expect(await query.next()).toEqual({ event: 'complete', id: undefined, data: undefined });
  expect((await mutation.next())?.data.data).toEqual({ createLocations: [{ name: 'North yard' }] });
  expect(await mutation.next()).toMatchObject({ event: 'complete' });
});

test('500 subscriptions may be open at a time; each that ends makes room for another', async () => {
  const full = await startForTest();
  const all: Awaited<ReturnType<typeof follow>>[] = [];
  // A busy machine would refuse some of 500 at once: each waits for a connection to the database.
  while (all.length < 500) all.push(...(await Promise.all(Array.from({ length: 20 }, () => follow(full)))));
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]));

  const refused = await follow(full);
  all[0]?.close();

  expect(refused.status).toBe(503);
  await expect.poll(async () => (await follow(full)).status).toBe(200);
  expect((await follow(full)).status).toBe(503);
});

test('an event that cannot be executed while the database is unavailable is executed again, and none is left out', async () => {
  const { database } = service;
  const open = database.forWorkspace.bind(database);
  let failed = 0;
  vi.spyOn(database, 'forWorkspace').mockImplementation((workspaceId) => {
    const statements = open(workspaceId);
    const read: typeof statements.read = async (sql, values) => {
      if (failed > 0 || !sql.includes('from assets')) return statements.read(sql, values);
      failed += 1;
      throw unavailable('the database is unavailable', 'test');
    };
    return { ...statements, read };
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const query = 'subscription { changes { nodes { cursor record { id ... on Asset { name } } } } }';
  const events = await follow(service, { query });

  await service.create('/assets', { name: 'Crane' });
  const event = await events.next();

  expect(event?.data.errors).toBeUndefined();
  expect(event?.data.data.changes.nodes[0].record.name).toBe('Crane');
  expect(failed).toBe(1);
});

test('a client that does not read makes the service read no further than it can send, and is disconnected', async () => {
  const slow = await startForTest({ REQUEST_TIMEOUT: '100', LOG_LEVEL: 'info' });
  const notes = 'x'.repeat(9_000);
  await insert(storeOpener(slow.database)('default'), project, Array(2_000).fill({ name: 'Wall', notes }));
  let pages = 0;
  slow.database.knex.on('query', ({ sql }: { sql: string }) => {
    if (/ from changes where .* and number <= /.test(sql)) pages += 1;
  });
  const { hostname, port, host } = new URL(await listen(slow.app));
  const query = encodeURIComponent('subscription { changes(after: "0") { nodes { fields { after } } } }');
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.pause();
  socket.write(`GET /graphql?query=${query} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/event-stream\r\n\r\n`);

  // 2,000 changes are 40 pages and 18 MB, more than all buffers of a connection hold.
  await expect.poll(() => slow.logs.filter((line) => line.includes('connection closed'))).toHaveLength(1);

  expect(pages).toBeGreaterThan(0);
  expect(pages).toBeLessThan(36);
  socket.destroy();
});
