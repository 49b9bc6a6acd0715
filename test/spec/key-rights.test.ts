/** Keys that may write some kinds only, and streams of keys that end. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { revokeKey } from '../../src/auth/keys.ts';
import { location, transportOrder, workOrder } from '../../src/records/index.ts';
import { createKeyStore } from '../../src/store/admin/api-keys.ts';
import { passTime } from '../support/clock.ts';
import { openEvents } from '../support/event-stream.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

test('a key for some kinds may create, change, import, delete and undo them; what would change another is a 403 and stores nothing', async () => {
  const [yard] = await service.create('/locations', { name: 'Yard' });
  const [crane] = await service.create('/assets', { name: 'Crane', currentLocationId: yard.id, uid: 'C-1' });
  const [quay] = await service.create('/projects', { name: 'Quay' });
  const [order] = await service.create('/work-orders', { name: 'Lift', locationId: yard.id });
  const office = service.as(await service.key({ write: [workOrder, transportOrder] }));
  const surveyor = service.as(await service.key({ write: [location] }));
  const tied = 'workOrders: [{ ref: "w", name: "X", location: { ref: "l" } }], locations: [{ ref: "l", name: "X" }]';

  for (const [client, kinds, mutation] of [
    [office, 'assets', 'createAssets(input: [{ name: "X" }])'],
    [office, 'assets', 'createAssets(input: [{ name: "" }])'],
    [office, 'assets', `updateAssets(input: [{ id: "${crane.id}", name: "X" }])`],
    [office, 'assets', 'upsertAssets(by: { field: UID }, input: [{ uid: "C-1", name: "X" }], onInvalid: SKIP)'],
    [office, 'projects', `deleteProjects(ids: ["${quay.id}"])`],
    [office, 'locations', `importRecords(input: { ${tied} }, onInvalid: SKIP)`],
    [office, 'assets, projects', 'importRecords(input: { assets: [{ name: "X" }], projects: [{ name: "X" }] })'],
    [office, 'locations, assets', 'revertChanges(after: "0", upTo: "2")'],
    [surveyor, 'assets, work orders', `deleteLocations(ids: ["${yard.id}"], references: CLEAR)`],
    [surveyor, 'work orders', `deleteWorkOrders(ids: ["${order.id}"], references: CLEAR)`],
  ] as const) {
    for (const dryRun of ['', ', dryRun: true']) {
      const sent = `mutation { ${mutation.slice(0, -1)}${dryRun}) { __typename } }`;
      const { status, body } = await client.graphql(sent);
      expect([sent, status, body.errors?.[0].message]).toEqual([sent, 403, `this API key may not write ${kinds}`]);
    }
  }
  expect((await office.patch(`/projects/${quay.id}`, {})).status).toBe(403);
  const once = { 'idempotency-key': 'once' };
  expect((await service.post('/assets', [{ name: 'Pump' }], once)).status).toBe(201);
  for (const client of [office, service.as(await service.key({ readOnly: true }))])
    expect((await client.post('/assets', [{ name: 'Pump' }], once)).status).toBe(403);
  expect((await office.data('{ changeCursor }')).changeCursor).toBe('5');

  const [created] = await office.create('/work-orders', { name: 'Inspect', locationId: yard.id }, { name: 'Load' });
  await office.data(`mutation {
    updateWorkOrders(input: [{ id: "${created.id}", name: "Inspect the crane" }]) { id }
    importRecords(input: { workOrders: [{ name: "Load" }], transportOrders: [{ name: "Go" }] }) { __typename }
    revertChanges(after: "5", upTo: "6") { reversed }
    deleteWorkOrders(ids: ["${order.id}"], references: CLEAR) { id }
  }`);
});

test.each(['revoked', 'expired'])('a stream ends within five seconds after its key is %s', async (end) => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const key = await service.key({ expires: 60_000 });
  const query = 'subscription { changes { endCursor } }';
  const events = await openEvents(service.app, query, { headers: { authorization: key } });
  await service.create('/assets', { name: 'Crane' });
  expect((await events.next())?.data.data).toEqual({ changes: { endCursor: '1' } });

  if (end === 'revoked') await revokeKey(createKeyStore(service.database), key.slice(0, -44));
  else vi.setSystemTime(Date.now() + 60_001);
  await passTime(2_001);
  vi.advanceTimersByTime(2_500);

  expect(await events.next()).toBeUndefined();
  expect(events.text()).not.toContain('complete');
});
