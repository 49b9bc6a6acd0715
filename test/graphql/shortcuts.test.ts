/** One record by its unique reference, or by its ID in another system. */
import { beforeAll, expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const client = useSharedService();

beforeAll(async () => {
  await client.create(
    '/assets',
    { name: 'Crane', uid: 'A-1', externalIds: { erp: '4711' } },
    { name: 'Pump', uid: 'A-2', externalIds: { erp: '4712', crm: '4711' } },
    { name: 'Saw', externalIds: { erp: 'twice' } },
    { name: 'Axe', externalIds: { erp: 'twice' } },
  );
});

test.each([
  ['A-1', { name: 'Crane' }],
  ['a-1', null],
  ['A-3', null],
])('assetByUid finds the asset with the uid %j, or null: %j', async (uid, asset) => {
  expect(await client.data('query ($uid: String!) { assetByUid(uid: $uid) { name } }', { uid })).toEqual({
    assetByUid: asset,
  });
});

test.each([
  ['erp', '4711', { name: 'Crane' }],
  ['crm', '4711', { name: 'Pump' }],
  ['crm', '4712', null],
  ['', '4711', null],
  ['er"p', "' or 1=1", null],
])('assetByExternalId finds the asset with the external ID %j: %j, or null: %j', async (key, value, asset) => {
  const query = 'query ($key: String!, $value: String!) { assetByExternalId(key: $key, value: $value) { name } }';

  expect(await client.data(query, { key, value })).toEqual({ assetByExternalId: asset });
});

test('an empty value, and one that no record can have, are rejected', async () => {
  await client.create('/assets', { name: 'a', externalIds: { erp: '' } });

  const byUid = await client.graphql('{ assetByUid(uid: "") { name } }');
  const byExternalId = await client.graphql('{ assetByExternalId(key: "erp", value: " ") { name } }');

  const byNul = await client.graphql('{ assetByUid(uid: "a\\u0000") { id } }');

  expect([byUid, byExternalId, byNul].map(({ body }) => body.errors[0])).toMatchObject([
    { message: 'uid: expected a value to find the asset by, received ""', extensions: { code: 'BAD_USER_INPUT' } },
    { message: 'value: expected a value to find the asset by, received " "', extensions: { code: 'BAD_USER_INPUT' } },
    {
      message: 'uid: expected text without the character NUL, received "a\\u0000"',
      extensions: { code: 'BAD_USER_INPUT' },
    },
  ]);
});

test('several records with the same external ID are an error', async () => {
  const { status, body } = await client.graphql('{ assetByExternalId(key: "erp", value: "twice") { name } }');

  expect([status, body.data]).toEqual([200, { assetByExternalId: null }]);
  expect(body.errors).toMatchObject([
    {
      message:
        'several assets have the external ID "twice" of "erp": list them with where: { externalIds: { key: …, value: … } }',
      path: ['assetByExternalId'],
      extensions: { code: 'CONFLICT' },
    },
  ]);
});
