/** A write has at most 30,000 external IDs, of the records that are sent, and of those whose external IDs it replaces or deletes. */
import { describe, expect, test } from 'vitest';
import { location } from '../../src/records/index.ts';
import {
  createDocument,
  deleteDocument,
  importDocument,
  updateDocument,
  upsertDocument,
} from '../support/mutations.ts';
import { startService, useService } from '../support/service.ts';

const service = useService();

const long = '(one of more than 100 characters counts several times)';
const tooManySent = `expected at most 30,000 external IDs in a batch ${long}, received more: send them in several batches`;
const tooManyStored = `the locations hold more than 30,000 external IDs ${long}: change or delete fewer at a time`;

/** `erp` is different for each item. */
const externalIds = (size: number, item: number) => ({
  erp: `${item}`,
  ...Object.fromEntries(Array.from({ length: size - 1 }, (_, n) => [`system ${n}`, 'x'])),
});
const items = (count: number, size: number) =>
  Array.from({ length: count }, (_, item) => ({ externalIds: externalIds(size, item) }));
/** 30,001 external IDs. */
const tooMany = [...items(300, 100), { externalIds: { erp: 'one more' } }];

const messageOf = async (document: string, variables: object) =>
  (await service.graphql(document, variables)).body.errors?.[0].message;

test('more external IDs than the limit are refused before anything is looked up, however they are sent', async () => {
  const [yard] = await service.create('/locations', {});
  const patches = tooMany.map((item) => ({ id: yard.id, ...item }));
  const halves = {
    locations: tooMany.slice(0, 150),
    projects: tooMany.slice(150).map((item) => ({ name: 'P', ...item })),
  };

  const statements = await service.statements(async () => {
    const { status, body } = await service.post('/locations', tooMany);
    expect([status, body]).toEqual([413, { error: tooManySent, code: '413' }]);
    for (const dryRun of [false, true]) {
      expect(await messageOf(createDocument(location), { input: tooMany, dryRun })).toBe(tooManySent);
      expect(await messageOf(updateDocument(location), { input: patches, dryRun })).toBe(tooManySent);
      const upsert = { by: { externalId: 'erp' }, input: tooMany, dryRun };
      expect(await messageOf(upsertDocument(location), upsert)).toBe(tooManySent);
      expect(await messageOf(importDocument(), { input: halves, dryRun })).toBe(tooManySent);
    }
  });

  expect(statements).toEqual([]);
  const refused = await service.graphql(createDocument(location), { input: tooMany });
  expect([refused.status, refused.body.errors[0].extensions.code]).toEqual([413, 'BAD_USER_INPUT']);
});

test('three external IDs for each record of the largest batch are created, changed and deleted', async () => {
  const created = await service.create('/locations', ...items(10_000, 3));
  const ids = created.map(({ id }) => id);
  const changes = items(10_000, 3).map((item, n) => ({ ...item, name: `${n}`, id: ids[n] }));

  expect(await service.data(updateDocument(location, 'name'), { input: changes })).toMatchObject({
    result: { length: 10_000, 9999: { name: '9999' } },
  });
  expect((await service.data(deleteDocument(location), { ids })).result).toHaveLength(10_000);
});

describe('an external ID of more than 100 characters counts once for each 100 of its key and value', () => {
  /** 10 records that have 1,000 external IDs of so many characters each. */
  const long = (length: number) =>
    Array.from({ length: 10 }, (_, item) => ({
      externalIds: Object.fromEntries(
        Array.from({ length: 1_000 }, (_, n) => [`${item}-${n}`.padEnd(10), 'x'.repeat(length - 10)]),
      ),
    }));
  const settings = { MAX_EXTERNAL_IDS: '1000', MAX_RECORD_LENGTH: '1000000' };

  test('where it is sent', async () => {
    const generous = await startService(settings);
    const create = async (items: object[]) =>
      (await generous.graphql(createDocument(location), { input: items })).body.errors?.[0].message;
    const atMost = await create(long(300));
    const viaGraphql = await create(long(301));
    const viaRest = await generous.post('/locations', long(301));
    await generous.stop();

    expect([atMost, viaGraphql]).toEqual([undefined, tooManySent]);
    expect([viaRest.status, viaRest.body]).toEqual([413, { error: tooManySent, code: '413' }]);
  });

  test('where it is replaced or deleted', async () => {
    const generous = await startService(settings);
    const created = [
      ...(await generous.create('/locations', ...long(300))),
      ...(await generous.create('/locations', { externalIds: { erp: '1' } })),
    ];
    const ids = created.map(({ id }) => id);
    const remove = async (some: string[]) =>
      (await generous.graphql(deleteDocument(location), { ids: some })).body.errors?.[0].message;
    const messages = [await remove(ids), await remove(ids.slice(1))];
    await generous.stop();

    expect(messages).toEqual([tooManyStored, undefined]);
  });
});

describe('stored records with more external IDs than the limit', () => {
  async function manyStored(): Promise<string[]> {
    const created = [
      ...(await service.create('/locations', ...items(300, 100))),
      ...(await service.create('/locations', { externalIds: { erp: 'one more' } })),
    ];
    return created.map(({ id }) => id);
  }

  test('are not deleted together, nor have them all replaced', async () => {
    const ids = await manyStored();
    const patches = ids.map((id, item) => ({ id, externalIds: { erp: `${item}` } }));

    for (const dryRun of [true, false]) {
      expect(await messageOf(updateDocument(location), { input: patches, dryRun })).toBe(tooManyStored);
      expect(await messageOf(deleteDocument(location), { ids, dryRun })).toBe(tooManyStored);
    }
    expect(await messageOf(deleteDocument(location), { ids: ids.slice(1) })).toBeUndefined();
    expect(await service.data('{ locations { nodes { id } } }')).toEqual({ locations: { nodes: [{ id: ids[0] }] } });
  });

  test('may have other fields changed', async () => {
    const ids = await manyStored();
    const input = [...items(300, 1), { externalIds: { erp: 'one more' } }].map((item) => ({ ...item, name: 'Depot' }));

    const updated = { input: ids.map((id) => ({ id, name: 'Yard' })) };
    expect(await messageOf(updateDocument(location), updated)).toBeUndefined();
    expect(await messageOf(upsertDocument(location), { by: { externalId: 'erp' }, input })).toBeUndefined();

    const { locations } = await service.data('{ locations(where: { name: { eq: "Depot" } }) { totalCount } }');
    expect(locations.totalCount).toBe(301);
  });

  test('may have references cleared', async () => {
    const [yard] = await service.create('/locations', {});
    const orders = (count: number) =>
      service.create('/work-orders', ...items(count, 100).map((item) => ({ ...item, locationId: yard.id })));
    await orders(300);
    await orders(2);

    const clear = { ids: [yard.id], references: 'CLEAR' };
    expect(await messageOf(deleteDocument(location), clear)).toBeUndefined();
    expect(
      (await service.data('{ workOrders(where: { locationId: { isNull: true } }) { totalCount } }')).workOrders,
    ).toEqual({
      totalCount: 302,
    });
  });
});

describe('where a single record may exceed the limit', () => {
  const large = {
    MAX_EXTERNAL_IDS: '40000',
    MAX_RECORD_LENGTH: '1000000',
    MAX_QUERY_LENGTH: '1000000',
    MAX_QUERY_TOKENS: '100000',
  };

  test('it is stored, changed and deleted alone', async () => {
    const generous = await startService(large);
    const [{ id }] = await generous.create('/locations', { externalIds: externalIds(30_001, 1) });

    const changed = await generous.graphql(updateDocument(location, 'name'), {
      input: [{ id, externalIds: externalIds(30_001, 2), name: 'Yard' }],
    });
    const deleted = await generous.graphql(deleteDocument(location), { ids: [id] });
    await generous.stop();

    expect([changed.body.data, deleted.body.data]).toEqual([{ result: [{ name: 'Yard' }] }, { result: [{ id }] }]);
  });

  test('its external IDs are counted in a document, too', async () => {
    const generous = await startService(large);
    const entries = Array.from({ length: 15_001 }, (_, n) => `k${n}: ""`).join();

    const { body } = await generous.graphql(
      `mutation { createLocations(input: [{ externalIds: {${entries}} }, { externalIds: {${entries}} }]) { id } }`,
    );
    const list = await generous.data('{ locations { totalCount } }');
    await generous.stop();

    expect(body.errors[0].message).toBe(tooManySent);
    expect(list).toEqual({ locations: { totalCount: 0 } });
  });
});
