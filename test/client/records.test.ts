/** The client's methods on a running service: what they store, what they return, and what they throw. */
import { beforeEach, describe, expect, test } from 'vitest';
import { type ChangePage, ServiceError, type Yardgraph } from '../../client/index.ts';
import { project as projectKind, recordKinds } from '../../src/records/index.ts';
import { clientOf, errorOf, methodsFor } from '../support/client.ts';
import { fullRecord, namedKinds, unknownId } from '../support/records.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces({ MAX_BATCH: '30' });
let yardgraph: Yardgraph;

beforeEach(async () => {
  yardgraph = await clientOf(service, { apiKeyAuth: await service.key() });
});

const named = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `record ${index}` }));
const notADate = 'expected a date such as 2026-03-01 or 2026-03-01T07:30:00Z, received "soon"';

async function pagesOf(pages: AsyncIterable<ChangePage>): Promise<ChangePage[]> {
  const read: ChangePage[] = [];
  for await (const page of pages) read.push(page);
  return read;
}

test.each(namedKinds)(
  '$kind.plural are created and returned in the order sent, updated, deleted, and have a history',
  async ({ kind }) => {
    const methods = methodsFor(yardgraph, kind);

    const [full, ...others] = await methods.create([fullRecord(kind), ...named(20)]);
    expect(full).toMatchObject(fullRecord(kind));
    expect(others.map(({ name }) => ({ name }))).toEqual(named(20));

    // Over GraphQL, fields without a value are absent or null as over REST, and users are texts.
    const [small] = others;
    expect(await methods.update([{ id: small?.id ?? '' }])).toEqual([small]);
    const [updated] = await methods.update([{ id: full.id, name: 'Renamed' }]);
    expect(updated).toEqual({ ...full, name: 'Renamed', updatedAt: updated.updatedAt });

    expect(await methods.delete([small?.id ?? '', full.id])).toEqual([small, updated]);
    expect(await methods.delete([])).toEqual([]);
    const pages = await pagesOf(methods.history(full.id, { pageSize: 1 }));
    expect(pages.map(({ nodes }) => nodes.map(({ action, recordId }) => [action, recordId]))).toEqual([
      [['DELETED', full.id]],
      [['UPDATED', full.id]],
      [['CREATED', full.id]],
    ]);
    expect(pages[1]?.nodes[0]?.fields).toEqual([{ field: 'name', before: fullRecord(kind).name, after: 'Renamed' }]);
  },
);

test('projects.update takes an ID with changes, of which null clears a field and externalIds are replaced, or a batch', async () => {
  const externalIds = { erp: '1', crm: '2' };
  const [project] = await yardgraph.projects.create([
    { name: 'Bridge', notes: 'steel', reference: 'B-1', externalIds },
  ]);

  const changes = { name: 'Tunnel', notes: null, externalIds: { erp: '3' } };
  const one = await yardgraph.projects.update(project.id, changes);
  const [many] = await yardgraph.projects.update([{ id: project.id, reference: 'B-2' }]);

  const { notes: _, ...rest } = project;
  expect(rest).toMatchObject({ createdBy: 'erp-sync', updatedBy: 'erp-sync' });
  expect(one).toEqual({ ...rest, name: 'Tunnel', externalIds: { erp: '3' }, updatedAt: one.updatedAt });
  expect(many.reference).toBe('B-2');
});

test('upsert creates, updates or leaves unchanged, and says which, and what was before; links may be external IDs', async () => {
  await yardgraph.locations.create([{ name: 'North yard', externalIds: { erp: 'L-7' } }]);
  const [crane, pump] = await yardgraph.assets.create([
    { name: 'Crane', uid: 'CR-1' },
    { name: 'Pump', uid: 'PU-1' },
  ]);

  const results = await yardgraph.assets.upsert(
    { field: 'UID' },
    [
      { uid: 'CR-1', name: 'Tower crane' },
      { uid: 'PU-1', name: 'Pump' },
      { uid: 'EX-1', name: 'Excavator', currentLocation: { externalId: { key: 'erp', value: 'L-7' } } },
    ],
    { returning: 'change' },
  );
  const [byErp] = await yardgraph.locations.upsert({ externalId: 'erp' }, [
    { externalIds: { erp: 'L-7' }, city: 'Emden' },
  ]);

  expect(results.map(({ outcome }) => outcome)).toEqual(['UPDATED', 'UNCHANGED', 'CREATED']);
  expect(results[0].record).toEqual({ ...crane, name: 'Tower crane', updatedAt: results[0].record.updatedAt });
  expect(results[1].record).toEqual(pump);
  expect(results.map(({ before }) => before)).toEqual([crane, pump, null]);
  expect(byErp).toMatchObject({ outcome: 'UPDATED', record: { name: 'North yard', city: 'Emden' } });
  expect(results[2].record.currentLocationId).toBe(byErp.record.id);
});

test('importRecords creates records of several kinds with links between them, and lists what it has skipped', async () => {
  const imported = await yardgraph.importRecords(
    {
      locations: [{ ref: 'yard', name: 'North yard' }, { latitude: 91 }],
      projects: [{ ref: 'wall', name: 'Harbour wall', location: { ref: 'yard' } }],
      workOrders: [{ name: 'Set up the crane', project: { ref: 'wall' }, location: { ref: 'yard' } }],
    },
    { onInvalid: 'SKIP' },
  );

  const [location, project, workOrder] = [imported.locations[0], imported.projects[0], imported.workOrders[0]];
  expect(project?.locationId).toBe(location?.id);
  expect(workOrder).toMatchObject({ name: 'Set up the crane', projectId: project?.id, locationId: location?.id });
  expect(Object.keys(workOrder ?? {})).not.toContain('notes');
  expect(imported).toMatchObject({ assets: [], transportOrders: [], assetCategories: [] });
  expect(imported.rejected).toMatchObject([{ list: 'locations', index: 1, issues: [{ path: ['latitude'] }] }]);
  expect(Object.values(await yardgraph.importRecords({}))).toEqual(recordKinds.map(() => []));
});

test('dryRun returns what a write would do, and stores nothing', async () => {
  const [crane] = await yardgraph.assets.create([{ name: 'Crane', uid: 'CR-1' }]);
  const dryRun = true;

  const [updated] = await yardgraph.assets.update([{ id: crane.id, name: 'Tower crane' }], { dryRun });
  const [upserted] = await yardgraph.assets.upsert({ field: 'UID' }, [{ uid: 'PU-1', name: 'Pump' }], { dryRun });
  const [deleted] = await yardgraph.assets.delete([crane.id], { dryRun });
  const imported = await yardgraph.importRecords({ locations: [{ name: 'North yard' }] }, { dryRun });
  const { reversed } = await yardgraph.revertChanges({ after: '0', upTo: '1' }, { dryRun });

  expect([updated.name, upserted.outcome, deleted?.id, reversed]).toEqual(['Tower crane', 'CREATED', crane.id, 1]);
  expect(imported.locations).toMatchObject([{ name: 'North yard' }]);
  expect(await yardgraph.changeCursor()).toBe('1');
});

test('changes returns every change once, in order, page by page, from a cursor on, until the loop ends', async () => {
  const [crane] = await yardgraph.assets.create([{ name: 'Crane' }, { name: 'Pump' }]);
  await yardgraph.assets.update([{ id: crane.id, name: 'Tower crane' }]);
  const read = await pagesOf(yardgraph.changes({ pageSize: 1, follow: false }));
  const all = read.flatMap(({ nodes }) => nodes);

  expect(all.map(({ cursor, action }) => [cursor, action])).toEqual([
    ['1', 'CREATED'],
    ['2', 'CREATED'],
    ['3', 'UPDATED'],
  ]);
  expect(all[2]?.fields).toEqual([{ field: 'name', before: 'Crane', after: 'Tower crane' }]);
  expect(await yardgraph.changeCursor()).toBe(read.at(-1)?.endCursor);

  const names: unknown[] = [];
  const following = (async () => {
    for await (const { nodes } of yardgraph.changes({ after: '3', kinds: ['PROJECT'], interval: 10 })) {
      names.push(...nodes.map(({ fields }) => fields.find(({ field }) => field === 'name')?.after));
      if (names.length >= 2) break;
    }
  })();
  for (const name of ['one', 'two']) {
    await yardgraph.assets.create([{ name }]);
    await yardgraph.projects.create([{ name }]);
  }
  await following;
  expect(names).toEqual(['one', 'two']);
});

describe('an error of the service', () => {
  test('lists every invalid field of a batch, including those that its message only counts', async () => {
    const batch = named(13).map((asset) => ({ ...asset, acquiredAt: 'soon' }));

    const error = await errorOf(ServiceError, yardgraph.assets.create(batch));

    expect(error.message.replace(notADate, '…')).toMatch(/^\[0\]\.acquiredAt: …; .*; and 3 more$/);
    expect(error.items).toEqual(
      batch.map((_, index) => ({ index, field: 'acquiredAt', message: notADate, code: 'invalid-date' })),
    );
    expect([error.status, error.mayBeStored]).toEqual([400, false]);
    expect(error.requestId).toMatch(/^[\w-]{36}$/);
  });

  test.each<[string, (client: Yardgraph, id: string) => Promise<unknown>, object]>([
    [
      'a taken uid',
      ({ assets }) => assets.create([{ name: 'Crane' }, { name: 'Pump', uid: 'EX-1' }]),
      { status: 409, items: [{ index: 1, field: 'uid', message: 'another asset has the uid "EX-1"' }] },
    ],
    [
      'fields of one project',
      ({ projects }, id) => projects.update(id, { startDate: 'soon' }),
      { status: 400, items: [{ field: 'startDate', message: notADate }] },
    ],
    ['an unknown ID', ({ projects }) => projects.update(unknownId(projectKind), {}), { status: 404 }],
    ['characters of a URL in an ID', ({ projects }, id) => projects.update(`${id}?x#y/%00🏗`, {}), { status: 404 }],
    [
      'an import',
      ({ importRecords }) => importRecords({ projects: [{ name: 'Wall' }, { name: ' ' }] }),
      { name: 'GraphqlError', items: [expect.objectContaining({ list: 'projects', index: 1, field: 'name' })] },
    ],
    [
      'a document',
      ({ graphql }) => graphql('{ wrokOrders { nodes { id } } }'),
      { name: 'GraphqlError', status: 400, message: expect.stringMatching(/^Cannot query field "wrokOrders"/) },
    ],
  ])('is thrown for %s', async (_, call, expected) => {
    await yardgraph.assets.create([{ name: 'Excavator', uid: 'EX-1' }]);
    const [{ id }] = await yardgraph.projects.create([{ name: 'Bridge' }]);
    const error = await errorOf(ServiceError, call(yardgraph, id));
    expect(error).toMatchObject({ mayBeStored: false, ...expected });
    expect(await yardgraph.changeCursor()).toBe('2');
  });
});

describe('with partSize', () => {
  const keyed = (size: number) => named(size).map((item, index) => ({ ...item, uid: `U-${index}` }));

  test('writes are sent in parts, return a result for each item in the order sent, and say how far they are', async () => {
    const progress: string[] = [];
    const options = { partSize: 10, onProgress: (stored: number, size: number) => progress.push(`${stored}/${size}`) };
    const { assets } = yardgraph;

    const created = await assets.create(named(35), options);
    const upserted = await assets.upsert({ field: 'UID' }, keyed(15), options);
    const updated = await assets.update(
      upserted.map(({ record }) => ({ id: record.id, name: 'renamed' })),
      options,
    );
    const deleted = await assets.delete({ by: { field: 'UID' }, keys: keyed(15).map(({ uid }) => uid) }, options);

    expect(created.map(({ name }) => ({ name }))).toEqual(named(35));
    expect(upserted.map(({ record }) => ({ name: record.name }))).toEqual(named(15));
    expect(updated.map(({ id }) => id)).toEqual(upserted.map(({ record }) => record.id));
    expect(deleted).toEqual(updated);
    const two = ['10/15', '15/15'];
    expect(progress).toEqual(['10/35', '20/35', '30/35', '35/35', ...two, ...two, ...two]);
  });

  test('invalid items are skipped, and only IDs and outcomes returned, if that is asked for', async () => {
    const items = keyed(14).map((item, index) => (index === 12 ? { ...item, name: ' ' } : item));
    const options = { partSize: 10, onInvalid: 'SKIP', returning: 'outcome' } as const;

    const results = await yardgraph.assets.upsert({ field: 'UID' }, items, options);

    const created = { outcome: 'CREATED', record: { id: expect.stringMatching(/^asset_/) } };
    const rejected = { outcome: 'REJECTED', record: null, issues: [expect.objectContaining({ path: ['name'] })] };
    expect(results).toEqual(items.map((_, index) => (index === 12 ? rejected : created)));
    const id = results[0]?.record?.id ?? '';
    expect(await yardgraph.assets.delete([id], { returning: 'outcome' })).toEqual([{ id }]);
  });
});
