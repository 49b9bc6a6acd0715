/** Keys that may write some kinds only, and streams of keys that end. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { revokeKey } from '../../src/auth/keys.ts';
import { listField } from '../../src/model/labels.ts';
import { location, recordKinds, transportOrder, workOrder } from '../../src/records/index.ts';
import { createKeyStore } from '../../src/store/admin/api-keys.ts';
import { passTime } from '../support/clock.ts';
import { openEvents } from '../support/event-stream.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

const lists = recordKinds.map((kind) => `${listField(kind)} { nodes { id updatedAt } }`).join(' ');

/** A yard with a work order and an asset, a project, and keys for some kinds. */
async function setUp() {
  const [yard] = await service.create('/locations', { name: 'Yard' });
  const [crane] = await service.create('/assets', { name: 'Crane', currentLocationId: yard.id, uid: 'C-1' });
  const [quay] = await service.create('/projects', { name: 'Quay', reference: 'Q-1' });
  const [order] = await service.create('/work-orders', { name: 'Lift', locationId: yard.id });
  const office = service.as(await service.key({ user: 'office', write: [workOrder, transportOrder] }));
  const surveyor = service.as(await service.key({ user: 'surveyor', write: [location] }));
  return { yard, crane, quay, order, office, surveyor };
}

const refusal = (kinds: string) => `this API key may not write ${kinds}`;

test('a key for some kinds may create, change, import, delete and undo them, and read all', async () => {
  const { order, yard, office } = await setUp();
  const [created] = await office.create('/work-orders', { name: 'Inspect', locationId: yard.id });
  expect(await office.create('/transport-orders', { name: 'Haul' }, { name: 'Fetch' })).toHaveLength(2);
  await office.patch(`/work-orders/${created.id}`, { name: 'Inspect the crane' });
  const done = await office.data(`mutation {
    upsertWorkOrders(by: { field: REFERENCE }, input: [{ reference: "W-1", location: { name: "Yard" } }]) { outcome }
    importRecords(input: { workOrders: [{ ref: "w", name: "Load" }], transportOrders: [{ name: "Go" }] }) { workOrders { id } }
    revertChanges(after: "7", upTo: "8") { reversed }
    deleteWorkOrders(ids: ["${order.id}"]) { createdBy { id } }
  }`);
  expect(done).toMatchObject({ revertChanges: { reversed: 1 }, deleteWorkOrders: [{ createdBy: { id: 'erp-sync' } }] });
  expect((await office.data('{ assets { nodes { name } } }')).assets.nodes).toEqual([{ name: 'Crane' }]);
});

test('a write that would change another kind is a 403 that names the kind, and stores nothing; so is its dry run', async () => {
  const { yard, crane, quay, order, office, surveyor } = await setUp();
  const stored = `{ changes { endCursor } ${lists} }`;
  const before = await service.data(stored);

  for (const [path, kinds] of [
    ['/assets', 'assets'],
    ['/asset-categories', 'asset categories'],
  ] as const)
    expect((await office.post(path, [{ name: 'X' }])).body).toEqual({ error: refusal(kinds), code: '403' });
  expect((await office.patch(`/projects/${quay.id}`, { name: 'Pier' })).body.error).toBe(refusal('projects'));
  const tied = 'workOrders: [{ ref: "w", name: "X", location: { ref: "l" } }], locations: [{ ref: "l", name: "X" }]';
  for (const [client, kinds, mutation] of [
    [office, 'assets', 'createAssets(input: [{ name: "X" }])'],
    [office, 'assets', 'createAssets(input: [{ name: "" }])'],
    [office, 'assets', `createAssets(input: [{ name: "X", currentLocation: { name: "Yard" } }])`],
    [office, 'assets', `updateAssets(input: [{ id: "${crane.id}", name: "X" }])`],
    [office, 'assets', `upsertAssets(by: { field: UID }, input: [{ uid: "C-1", name: "X" }], onInvalid: SKIP)`],
    [office, 'projects', `updateProject(id: "${quay.id}", input: { name: "X" })`],
    [office, 'projects', `deleteProjects(ids: ["${quay.id}"])`],
    [office, 'locations', `importRecords(input: { ${tied} }, onInvalid: SKIP)`],
    [office, 'assets, projects', 'importRecords(input: { assets: [{ name: "X" }], projects: [{ name: "X" }] })'],
    [office, 'locations, assets', `revertChanges(after: "0", upTo: "2")`],
    [surveyor, 'assets, work orders', `deleteLocations(ids: ["${yard.id}"], references: CLEAR)`],
    [surveyor, 'work orders', `deleteWorkOrders(ids: ["${order.id}"], references: CLEAR)`],
  ] as const) {
    for (const dryRun of mutation.startsWith('updateProject(') ? [''] : ['', ', dryRun: true']) {
      const sent = `mutation { ${mutation.slice(0, -1)}${dryRun}) { __typename } }`;
      const { status, body } = await client.graphql(sent);
      expect([sent, status, body.errors?.[0].message]).toEqual([sent, 403, refusal(kinds)]);
    }
  }
  expect(await service.data(stored)).toEqual(before);
});

test('a repeat of a keyed request of another key is refused, too', async () => {
  const { office } = await setUp();
  const headers = { 'idempotency-key': 'once' };
  expect((await service.post('/assets', [{ name: 'Pump' }], headers)).status).toBe(201);
  expect((await office.post('/assets', [{ name: 'Pump' }], headers)).status).toBe(403);
  const orders = [{ name: 'Pump out' }];
  for (const client of [office, office, service]) {
    const { status, body } = await client.post('/work-orders', orders, headers);
    expect([status, body[0].createdBy]).toEqual([201, 'office']);
  }
});

test.each(['revoked', 'expired'])('a stream ends within five seconds after its key is %s', async (end) => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const key = await service.key({ expires: 60_000 });
  const events = await openEvents(service.app, {
    method: 'POST',
    url: '/graphql',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${key}` },
    payload: { query: 'subscription { changes { endCursor } }' },
  });
  onTestFinished(events.close);
  await service.create('/assets', { name: 'Crane' });
  expect((await events.next())?.data.data).toEqual({ changes: { endCursor: '1' } });

  if (end === 'revoked') await revokeKey(createKeyStore(service.database), key.slice(0, -44));
  else vi.setSystemTime(Date.now() + 60_001);
  await passTime(2_001);
  vi.advanceTimersByTime(2_500);

  expect(await events.next()).toBeUndefined();
  expect(events.text()).not.toContain('complete');
});
