/** A write has at most 30,000 external IDs, of the records that are sent, and of those whose external IDs it replaces or deletes. */
import { expect, test } from 'vitest';
import { location } from '../../src/records/index.ts';
import {
  createDocument,
  deleteDocument,
  importDocument,
  updateDocument,
  upsertDocument,
} from '../support/mutations.ts';
import { startService, useSharedService } from '../support/service.ts';

const service = useSharedService();

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

test('an external ID of more than 100 characters counts once for each 100 of its key and value', async () => {
  const generous = await startService({ MAX_EXTERNAL_IDS: '1000', MAX_RECORD_LENGTH: '1000000' });
  /** 10 records that have 1,000 external IDs of so many characters each. */
  const records = (length: number) =>
    Array.from({ length: 10 }, (_, item) => ({
      externalIds: Object.fromEntries(
        Array.from({ length: 1_000 }, (_, n) => [`${item}-${n}`.padEnd(10), 'x'.repeat(length - 10)]),
      ),
    }));
  const viaRest = await generous.post('/locations', records(301));
  const created = await generous.create('/locations', ...records(300));
  const one = await generous.create('/locations', { externalIds: { erp: '1' } });
  const remove = async (some: { id: string }[]) =>
    (await generous.graphql(deleteDocument(location), { ids: some.map(({ id }) => id) })).body.errors?.[0].message;
  const removed = [await remove([...created, ...one]), await remove(created)];
  await generous.stop();

  expect([viaRest.status, viaRest.body]).toEqual([413, { error: tooManySent, code: '413' }]);
  expect(removed).toEqual([tooManyStored, undefined]);
});

test('stored records with more external IDs than the limit are not deleted together, nor have them all replaced', async () => {
  const created = [
    ...(await service.create('/locations', ...items(300, 100))),
    ...(await service.create('/locations', { externalIds: { erp: 'one more' } })),
  ];
  const ids = created.map(({ id }) => id);
  const patches = ids.map((id, item) => ({ id, externalIds: { erp: `${item}` } }));

  for (const dryRun of [true, false]) {
    expect(await messageOf(updateDocument(location), { input: patches, dryRun })).toBe(tooManyStored);
    expect(await messageOf(deleteDocument(location), { ids, dryRun })).toBe(tooManyStored);
  }
  const renamed = ids.map((id) => ({ id, name: 'Yard' }));
  expect(await messageOf(updateDocument(location), { input: renamed })).toBeUndefined();
  expect(await messageOf(deleteDocument(location), { ids: ids.slice(1) })).toBeUndefined();
});
