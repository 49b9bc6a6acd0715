/** The interface through the client: every operation, with its results and errors, on a running service. */

import { beforeEach, describe, expect, expectTypeOf, test } from 'vitest';
import {
  type Asset,
  GraphqlError,
  type NewAsset,
  type Project,
  type ProjectChanges,
  ServiceError,
  type WorkOrder,
  type Yardgraph,
} from '../../client/index.ts';
import { project as projectKind } from '../../src/records/index.ts';
import { clientOf, errorOf, methodsFor } from '../support/client.ts';
import { fullRecord, kinds, unknownId } from '../support/records.ts';
import { useService } from '../support/service.ts';

const service = useService();
let client: Yardgraph;

beforeEach(async () => {
  client = await clientOf(service);
});

describe.each(kinds)('create $kind.plural', ({ kind, smallest }) => {
  const create = (records: readonly object[]): Promise<{ id: string; name?: string }[]> =>
    methodsFor(client, kind).create(records);

  test('stores the records and returns them in the order sent', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `record ${index}`);

    const created = await create(names.map((name) => ({ ...smallest, name })));

    expect(created.map(({ name }) => name)).toEqual(names);
    const { node } = await client.graphql<{ node: object }>('query ($id: ID!) { node(id: $id) { id } }', {
      id: created[7]?.id,
    });
    expect(node).toEqual({ id: created[7]?.id });
  });

  test('keeps every field as sent', async () => {
    const [record] = await create([fullRecord(kind)]);

    expect(record).toMatchObject(fullRecord(kind));
  });
});

test('the error for a batch lists every invalid field, including those that its message only counts', async () => {
  const batch = Array.from({ length: 13 }, (_, index) => ({ name: `asset ${index}`, acquiredAt: 'soon' }));

  const error = await errorOf(ServiceError, client.assets.create(batch));

  expect(error.status).toBe(400);
  expect(error.message).toMatch(
    /^\[0\]\.acquiredAt: expected a date such as 2026-03-01 or 2026-03-01T07:30:00Z, received "soon"; .*; and 3 more$/,
  );
  expect(error.items).toEqual(
    batch.map((_, index) => ({
      index,
      field: 'acquiredAt',
      message: 'expected a date such as 2026-03-01 or 2026-03-01T07:30:00Z, received "soon"',
    })),
  );
  expect([error.mayBeStored, error.requestId]).toEqual([false, expect.stringMatching(/^[\w-]{36}$/)]);
});

test('a uid that is taken throws a 409 error with the index and the uid', async () => {
  await client.assets.create([{ name: 'Excavator', uid: 'EX-1' }]);

  const error = await errorOf(ServiceError, client.assets.create([{ name: 'Crane' }, { name: 'Pump', uid: 'EX-1' }]));

  expect([error.status, error.items]).toEqual([
    409,
    [{ index: 1, field: 'uid', message: 'another asset has the uid "EX-1"' }],
  ]);
});

describe('projects.update', () => {
  const start: Required<ProjectChanges> = {
    name: 'Bridge',
    reference: 'B-1',
    startDate: '2026-03-01T00:00:00.000Z',
    endDate: null,
    notes: 'steel',
    statusId: 'status-1',
    companyId: null,
    locationId: null,
    externalIds: { erp: '1', crm: '2' },
  };
  let project: Project;

  beforeEach(async () => {
    [project] = await client.projects.create([{ ...start, name: 'Bridge' }]);
  });

  test('changes sent fields, leaves absent fields, clears fields that are null, replaces externalIds as a whole', async () => {
    const changed = await client.projects.update(project.id, {
      name: 'Tunnel',
      notes: null,
      externalIds: { erp: '3' },
    });

    const { notes: _, ...rest } = project;
    expect(changed).toEqual({ ...rest, name: 'Tunnel', externalIds: { erp: '3' }, updatedAt: changed.updatedAt });
  });

  test('throws a 404 error for an unknown ID, whatever its characters', async () => {
    for (const id of [unknownId(projectKind), `${project.id}?x`, `${project.id}#x`, 'a/b', '%00', '🏗']) {
      const error = await errorOf(ServiceError, client.projects.update(id, { name: 'Tunnel' }));
      expect(error.status, id).toBe(404);
    }
    // URLs have no form in which this is a name: it leads to the home page, which cannot be changed.
    expect(await errorOf(ServiceError, client.projects.update('..', { name: 'Tunnel' }))).toMatchObject({
      status: 405,
    });
  });

  test('with invalid fields throws a 400 error without indexes', async () => {
    const error = await errorOf(ServiceError, client.projects.update(project.id, { name: ' ', startDate: 'soon' }));

    expect([error.status, error.items]).toEqual([
      400,
      [
        { field: 'name', message: 'expected text with at least one character that is not white space, received " "' },
        { field: 'startDate', message: 'expected a date such as 2026-03-01 or 2026-03-01T07:30:00Z, received "soon"' },
      ],
    ]);
  });
});

test('assetCategories.list returns all asset categories, oldest first', async () => {
  expect(await client.assetCategories.list()).toEqual([]);

  const [first] = await client.assetCategories.create([{ name: 'Earthmoving' }]);
  const [second] = await client.assetCategories.create([{ name: 'Excavators', parentId: first.id }]);

  expect(await client.assetCategories.list()).toEqual([first, second]);
});

describe('graphql', () => {
  test('returns linked records', async () => {
    const [project] = await client.projects.create([{ name: 'Bridge' }]);
    await client.workOrders.create([{ name: 'Crane', projectId: project.id }]);

    const data = await client.graphql('query ($n: Int) { workOrders(first: $n) { nodes { name project { name } } } }', {
      n: 5,
    });

    expect(data).toEqual({ workOrders: { nodes: [{ name: 'Crane', project: { name: 'Bridge' } }] } });
  });

  test('throws if the document is invalid', async () => {
    const error = await errorOf(GraphqlError, client.graphql('{ wrokOrders { nodes { id } } }'));

    expect([error.status, error.data, error.mayBeStored]).toEqual([400, undefined, false]);
    expect(error.message).toMatch(/^Cannot query field "wrokOrders"/);
  });
});

test('NaN, which JSON cannot represent, is rejected before anything is sent, instead of being stored as null', async () => {
  await expect(client.locations.create([{ latitude: Number.NaN }])).rejects.toThrow(
    new TypeError('latitude: expected a finite number, received NaN'),
  );
});

test('the types define what is required, what may be null and what may be absent', () => {
  expectTypeOf<NewAsset['name']>().toEqualTypeOf<string>();
  expectTypeOf<NewAsset['acquiredAt']>().toEqualTypeOf<string | null | undefined>();
  expectTypeOf<NewAsset['externalIds']>().toEqualTypeOf<{ [key: string]: string } | null | undefined>();
  expectTypeOf<Asset['acquiredAt']>().toEqualTypeOf<string | null>();
  expectTypeOf<WorkOrder['projectId']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<ProjectChanges['name']>().toEqualTypeOf<string | undefined>();
  // @ts-expect-error: the name is required
  const missing: NewAsset = { uid: 'EX-1' };
  // @ts-expect-error: there is no such field
  const unknown: NewAsset = { name: 'Excavator', colour: 'red' };
  expect([missing, unknown]).toHaveLength(2);
});
