/** The operations that exist only in GraphQL, through the client: updates, upserts, deletions, imports and changes. */

import { beforeEach, describe, expect, expectTypeOf, test } from 'vitest';
import {
  type Asset,
  type AssetPatch,
  type ChangePage,
  GraphqlError,
  type Project,
  type Upserted,
  type WorkOrder,
  type Yardgraph,
} from '../../client/index.ts';
import { recordKinds } from '../../src/records/index.ts';
import { clientOf, errorOf, methodsFor } from '../support/client.ts';
import { fullRecord, kinds } from '../support/records.ts';
import { useService, useSharedService } from '../support/service.ts';

const service = useService();
const closed = useSharedService({}, { closed: true });
let yardgraph: Yardgraph;

beforeEach(async () => {
  yardgraph = await clientOf(service);
});

describe.each(kinds)('$kind.plural', ({ kind }) => {
  const methods = () => methodsFor(yardgraph, kind);

  test('are updated, and returned as REST returns them', async () => {
    const [created] = await methods().create([fullRecord(kind)]);

    const [updated] = await methods().update([{ id: created.id, name: 'Renamed' }]);

    expect(updated).toEqual({ ...created, name: 'Renamed', updatedAt: updated.updatedAt });
  });

  test('have no fields without a value, or null, as over REST', async () => {
    const [created] = await methods().create([{ name: 'Crane' }]);

    expect(await methods().update([{ id: created.id }])).toEqual([created]);
  });

  test('are deleted, and returned as they were', async () => {
    const [first, second] = await methods().create([{ name: 'Crane' }, { name: 'Pump' }]);

    expect(await methods().delete([second.id, first.id])).toEqual([second, first]);
    expect(await methods().delete([])).toEqual([]);
  });

  test('have a history, page by page, the latest change first, also when they were deleted', async () => {
    const [{ id }] = await methods().create([{ name: 'Crane' }]);
    await methods().update([{ id, name: 'Tower crane' }]);
    await methods().delete([id]);

    const read = await pagesOf(methods().history(id, { pageSize: 1 }));

    expect(read.map(({ nodes }) => nodes.map(({ action, recordId }) => [action, recordId]))).toEqual([
      [['DELETED', id]],
      [['UPDATED', id]],
      [['CREATED', id]],
    ]);
    expect(read[1]?.nodes[0]?.fields).toEqual([{ field: 'name', before: 'Crane', after: 'Tower crane' }]);
  });
});

async function pagesOf(pages: AsyncIterable<ChangePage>): Promise<ChangePage[]> {
  const read: ChangePage[] = [];
  for await (const page of pages) read.push(page);
  return read;
}

describe('upsert', () => {
  test('creates, updates or leaves unchanged, and says which', async () => {
    const [crane, pump] = await yardgraph.assets.create([
      { name: 'Crane', uid: 'CR-1' },
      { name: 'Pump', uid: 'PU-1' },
    ]);

    const results = await yardgraph.assets.upsert({ field: 'UID' }, [
      { uid: 'CR-1', name: 'Tower crane' },
      { uid: 'PU-1', name: 'Pump' },
      { uid: 'EX-1', name: 'Excavator' },
    ]);

    expect(results.map(({ outcome }) => outcome)).toEqual(['UPDATED', 'UNCHANGED', 'CREATED']);
    expect(results[0].record).toEqual({ ...crane, name: 'Tower crane', updatedAt: results[0].record.updatedAt });
    expect(results[1].record).toEqual(pump);
    expectTypeOf(results[2]).toEqualTypeOf<Upserted<Asset>>();
  });

  test('finds records by an external ID, and links them by one', async () => {
    await yardgraph.projects.create([{ name: 'Harbour wall', externalIds: { erp: 'P-7' } }]);

    const [{ record }] = await yardgraph.workOrders.upsert({ externalId: 'erp' }, [
      { externalIds: { erp: '4711' }, name: 'Set up the crane', project: { externalId: { key: 'erp', value: 'P-7' } } },
    ]);

    expect(record.projectId).toMatch(/^project_/);
    expectTypeOf(record).toEqualTypeOf<WorkOrder>();
  });
});

test('importRecords creates records of several kinds with links between them, and returns all lists', async () => {
  const imported = await yardgraph.importRecords({
    locations: [{ ref: 'yard', name: 'North yard' }],
    projects: [{ ref: 'wall', name: 'Harbour wall', location: { ref: 'yard' } }],
    workOrders: [{ name: 'Set up the crane', project: { ref: 'wall' }, location: { ref: 'yard' } }],
  });

  const [location, project, workOrder] = [imported.locations[0], imported.projects[0], imported.workOrders[0]];
  expect(project?.locationId).toBe(location?.id);
  expect(workOrder).toMatchObject({ name: 'Set up the crane', projectId: project?.id, locationId: location?.id });
  expect(Object.keys(workOrder ?? {})).not.toContain('notes');
  expect(imported).toMatchObject({ assets: [], transportOrders: [], assetCategories: [] });
  const empty = await yardgraph.importRecords({});
  expect(Object.values(empty)).toEqual(recordKinds.map(() => []));
});

test('projects.update takes one ID with changes, as before, or a batch', async () => {
  const [project] = await yardgraph.projects.create([{ name: 'Harbour wall' }]);

  const one = await yardgraph.projects.update(project.id, { reference: 'HW-1' });
  const [many] = await yardgraph.projects.update([{ id: project.id, reference: 'HW-2' }]);

  expect([one.reference, many.reference]).toEqual(['HW-1', 'HW-2']);
  expectTypeOf(one).toEqualTypeOf<Project>();
  expectTypeOf(many).toEqualTypeOf<Project>();
});

test('dryRun returns what a write would do, and stores nothing', async () => {
  const [crane] = await yardgraph.assets.create([{ name: 'Crane', uid: 'CR-1' }]);
  const dryRun = true;

  const [updated] = await yardgraph.assets.update([{ id: crane.id, name: 'Tower crane' }], { dryRun });
  const [upserted] = await yardgraph.assets.upsert({ field: 'UID' }, [{ uid: 'PU-1', name: 'Pump' }], { dryRun });
  const [deleted] = await yardgraph.assets.delete([crane.id], { dryRun });
  const imported = await yardgraph.importRecords({ locations: [{ name: 'North yard' }] }, { dryRun });

  expect([updated.name, upserted.outcome, deleted?.id]).toEqual(['Tower crane', 'CREATED', crane.id]);
  expect(imported.locations).toMatchObject([{ name: 'North yard' }]);
  expect(await yardgraph.graphql('{ assets { nodes { name } } locations { totalCount } }')).toEqual({
    assets: { nodes: [{ name: 'Crane' }] },
    locations: { totalCount: 0 },
  });
});

test('delete with references: CLEAR deletes a record that others refer to', async () => {
  const [yard] = await yardgraph.locations.create([{ name: 'North yard' }]);
  const [project] = await yardgraph.projects.create([{ name: 'Harbour wall', locationId: yard.id }]);

  const error = await errorOf(GraphqlError, yardgraph.locations.delete([yard.id]));
  await yardgraph.locations.delete([yard.id], { references: 'CLEAR' });

  expect(error.items).toMatchObject([{ index: 0 }]);
  expect(error.message).toContain(project.id);
  expect((await yardgraph.projects.update([{ id: project.id }]))[0]).not.toHaveProperty('locationId');
});

describe('an invalid batch throws an error with the index, the field and the message of each item:', () => {
  test('an update', async () => {
    const [crane] = await yardgraph.assets.create([{ name: 'Crane' }]);
    const wrong: AssetPatch[] = [{ id: crane.id }, { id: crane.id, acquiredAt: 'soon' }];

    const error = await errorOf(GraphqlError, yardgraph.assets.update(wrong));

    expect(error.items).toContainEqual({
      index: 1,
      field: 'acquiredAt',
      message: 'expected a date such as 2026-03-01 or 2026-03-01T07:30:00Z, received "soon"',
    });
    expect(error.mayBeStored).toBe(false);
  });

  test('an import, with the name of the list', async () => {
    const error = await errorOf(
      GraphqlError,
      yardgraph.importRecords({ projects: [{ name: 'Harbour wall' }, { name: ' ' }] }),
    );

    expect(error.items).toMatchObject([{ list: 'projects', index: 1, field: 'name' }]);
    expect(error.mayBeStored).toBe(false);
  });
});

describe('changes', () => {
  test('returns every change once, in order, page by page, with before and after', async () => {
    const [crane] = await yardgraph.assets.create([{ name: 'Crane' }, { name: 'Pump' }]);
    await yardgraph.assets.update([{ id: crane.id, name: 'Tower crane' }]);
    await yardgraph.assets.delete([crane.id]);

    const read: ChangePage[] = [];
    for await (const page of yardgraph.changes({ pageSize: 1, follow: false })) {
      read.push(page);
      if (read.length > 4) break;
    }

    const all = read.flatMap(({ nodes }) => nodes);
    expect(all.map(({ cursor }) => cursor)).toEqual(['1', '2', '3', '4']);
    expect(all.map(({ action }) => action)).toEqual(['CREATED', 'CREATED', 'UPDATED', 'DELETED']);
    expect(all[2]?.fields).toEqual([{ field: 'name', before: 'Crane', after: 'Tower crane' }]);
    expect(await yardgraph.changeCursor()).toBe(read.at(-1)?.endCursor);
    expect(await pagesOf(yardgraph.changes({ after: read[2]?.endCursor, follow: false }))).toEqual([read[3]]);
  });

  test('waits for further changes, until the loop ends', async () => {
    const cursor = await yardgraph.changeCursor();
    const names: unknown[] = [];
    const following = (async () => {
      for await (const { nodes } of yardgraph.changes({ after: cursor, kinds: ['PROJECT'], interval: 10 })) {
        names.push(...nodes.map(({ fields }) => fields.find(({ field }) => field === 'name')?.after));
        if (names.length >= 3) break;
      }
    })();

    for (const name of ['one', 'two', 'three']) {
      await yardgraph.assets.create([{ name }]);
      await yardgraph.projects.create([{ name }]);
    }
    await following;

    expect(names).toEqual(['one', 'two', 'three']);
  });
});

test('an import that skips invalid records lists them', async () => {
  const imported = await yardgraph.importRecords(
    { locations: [{ name: 'North yard' }, { name: 'South yard', latitude: 91 }] },
    { onInvalid: 'SKIP' },
  );

  expect(imported.locations.map(({ name }) => name)).toEqual(['North yard']);
  expect(imported.rejected).toMatchObject([{ list: 'locations', index: 1, issues: [{ path: ['latitude'] }] }]);
});

test('a write may have a message, which its changes keep, and a key, with which it is stored once', async () => {
  const options = { changeMessage: 'nightly import', idempotencyKey: 'night 17' };
  const write = () => yardgraph.assets.upsert({ field: 'UID' }, [{ uid: 'CR-1', name: 'Crane' }], options);

  expect((await write())[0].outcome).toBe('CREATED');
  expect((await write())[0].outcome).toBe('CREATED');
  const [page] = await pagesOf(yardgraph.changes({ follow: false }));
  expect(page?.nodes.map(({ message }) => message)).toEqual(['nightly import']);
});

test('with a key, records have the user of the last change as text, as over REST', async () => {
  const withKey = await clientOf(closed, { apiKeyAuth: await closed.key() });
  const [created] = await withKey.projects.create([{ name: 'Harbour wall' }]);

  const [updated] = await withKey.projects.update([{ id: created.id }]);

  expect(updated).toEqual(created);
  expect(updated.updatedBy).toEqual(expect.any(String));
});

test('wrong arguments throw before anything is sent', async () => {
  const { assets, projects, importRecords, changes } = yardgraph;

  await expect(assets.update('asset_1' as never)).rejects.toThrow(
    new TypeError('update: expected an array of items, received a string'),
  );
  await expect(projects.update({} as never)).rejects.toThrow(
    new TypeError('update: expected the ID as a string, received an object'),
  );
  await expect(assets.delete([], { dryrun: true } as never)).rejects.toThrow(
    new TypeError('delete: unknown option dryrun'),
  );
  // REST and GraphQL have no dry runs that are options of the client: they would write.
  const dry = { dryRun: true } as never;
  for (const [method, written] of [
    ['create', assets.create([{ name: 'Crane' }], dry)],
    ['update', projects.update('project_1', {}, dry)],
    ['graphql', yardgraph.graphql('mutation { createAssets(input: []) { id } }', {}, dry)],
  ] as const) {
    await expect(written).rejects.toThrow(new TypeError(`${method}: unknown option dryRun`));
  }
  await expect(assets.upsert({ field: 'UID' }, {} as never)).rejects.toThrow(TypeError);
  await expect(assets.delete('asset_1' as never)).rejects.toThrow(TypeError);
  await expect(importRecords([] as never)).rejects.toThrow(TypeError);
  expect(() => assets.history(7 as never)).toThrow(TypeError);
  expect(() => changes({ interval: 0 })).toThrow(TypeError);
});

test('the types of items come from the schema: what does not fit does not compile', () => {
  const { assets, locations, importRecords, changes } = yardgraph;
  const wrong = [
    // @ts-expect-error: a misspelt field
    () => assets.update([{ id: 'asset_1', nmae: 'Crane' }]),
    // @ts-expect-error: the ID is required
    () => assets.update([{ name: 'Crane' }]),
    // @ts-expect-error: a link has either an external ID or a ref
    () => assets.update([{ id: 'asset_1', currentLocation: { ref: 'a', externalId: { key: 'erp', value: '1' } } }]),
    // @ts-expect-error: assets have no such key
    () => assets.upsert({ field: 'REFERENCE' }, []),
    // @ts-expect-error: locations have no key other than external IDs
    () => locations.upsert({ field: 'NAME' }, []),
    // @ts-expect-error: there is no such list
    () => importRecords({ cranes: [] }),
    // @ts-expect-error: there is no such kind
    () => changes({ kinds: ['CRANE'] }),
  ];
  expectTypeOf(wrong).toBeArray();
});
