/** A write stores and removes at most 30,000 external IDs, whatever it is: on SQLite, each is a row for which other writes wait. */
import { expect, test } from 'vitest';
import { location } from '../../src/records/index.ts';
import {
  createDocument,
  deleteDocument,
  importDocument,
  updateDocument,
  upsertDocument,
} from '../support/mutations.ts';
import { startForTest, useSharedService } from '../support/service.ts';

const service = useSharedService();

const tooMany =
  'the records have more than 30,000 external IDs (one of more than 100 characters counts several times): send, change or delete fewer at a time';

/** `erp` is different for each item. */
const externalIds = (size: number, item: number) => ({
  erp: `${item}`,
  ...Object.fromEntries(Array.from({ length: size - 1 }, (_, n) => [`system ${n}`, 'x'])),
});
/** 30,001 external IDs. */
const items = [
  ...Array.from({ length: 300 }, (_, item) => ({ externalIds: externalIds(100, item) })),
  { externalIds: { erp: 'one more' } },
];

const messageOf = async (document: string, variables: object) =>
  (await service.graphql(document, variables)).body.errors?.[0].message;

test('a write of more is refused, however they are sent, and so is one that replaces or deletes more', async () => {
  const parts = {
    locations: items.slice(0, 150),
    projects: items.slice(150).map((item) => ({ name: 'P', ...item })),
  };
  const upsert = { by: { externalId: 'erp' }, input: items };
  const { status, body } = await service.post('/locations', items);
  expect([status, body]).toEqual([413, { error: tooMany, code: '413' }]);
  expect(await messageOf(createDocument(location), { input: items, dryRun: true })).toBe(tooMany);
  expect(await messageOf(upsertDocument(location), upsert)).toBe(tooMany);
  expect(await messageOf(importDocument(), { input: parts })).toBe(tooMany);
  const refused = await service.graphql(createDocument(location), { input: items });
  expect([refused.status, refused.body.errors[0].extensions.code]).toEqual([200, 'BAD_USER_INPUT']);
  expect((await service.data('{ locations { totalCount } }')).locations.totalCount).toBe(0);

  const created = [
    ...(await service.create('/locations', ...items.slice(0, 300))),
    ...(await service.create('/locations', ...items.slice(300))),
  ];
  const ids = created.map(({ id }) => id);
  const patches = ids.map((id, item) => ({ id, externalIds: { erp: `${item}` } }));
  expect(await messageOf(updateDocument(location), { input: patches })).toBe(tooMany);
  expect(await messageOf(deleteDocument(location), { ids })).toBe(tooMany);
  const renamed = ids.map((id) => ({ id, name: 'Yard' }));
  expect(await messageOf(updateDocument(location), { input: renamed })).toBeUndefined();
  expect(await messageOf(deleteDocument(location), { ids: ids.slice(1) })).toBeUndefined();
});

test('an external ID of more than 100 characters counts once for each 100 of its key and value', async () => {
  const generous = await startForTest({ MAX_EXTERNAL_IDS: '1000', MAX_RECORD_LENGTH: '1000000' });
  /** 10 records that have 1,000 external IDs of so many characters each. */
  const records = (length: number) =>
    Array.from({ length: 10 }, (_, item) => ({
      externalIds: Object.fromEntries(
        Array.from({ length: 1_000 }, (_, n) => [`${item}-${n}`.padEnd(10), 'x'.repeat(length - 10)]),
      ),
    }));
  const statuses = [];
  for (const length of [301, 300]) statuses.push((await generous.post('/locations', records(length))).status);

  expect(statuses).toEqual([413, 201]);
});
