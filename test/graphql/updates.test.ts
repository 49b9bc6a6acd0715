/** `updateAssets` and its like: batches of changes, which are stored completely or not at all. */
import { expect, test } from 'vitest';
import { asset, location } from '../../src/records/index.ts';
import { updateDocument } from '../support/mutations.ts';
import { unknownId } from '../support/records.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

const issuesOf = async (document: string, variables: object) => {
  const { body } = await service.graphql(document, variables);
  expect(body.data).toEqual({ result: null });
  return body.errors[0].extensions;
};

test('every failing item is listed, with its position and the reason, and nothing is stored', async () => {
  const [crane, pump] = await service.create('/assets', { name: 'Crane', uid: 'C-7' }, { name: 'Pump' });
  const [yard] = await service.create('/locations', { name: 'North yard' });
  const missing = unknownId(asset);
  const nowhere = unknownId(location);
  const input = [
    { id: crane.id, name: 'Other' },
    { id: pump.id, name: ' ', uid: 'C-7', acquiredAt: 'soon', ifUpdatedAt: 'yesterday' },
    { id: missing, currentLocationId: nowhere },
    { id: yard.id },
    { id: 'ERP-1' },
    { id: crane.id },
  ];

  const { code, issues } = await issuesOf(updateDocument(asset), { input });

  expect(code).toBe('BAD_USER_INPUT');
  expect(issues).toEqual([
    {
      path: ['input', 1, 'ifUpdatedAt'],
      message: 'expected a date such as 2026-03-01 or 2026-03-01T07:30:00Z, received "yesterday"',
    },
    {
      path: ['input', 1, 'name'],
      message: 'expected text with at least one character that is not white space, received " "',
    },
    {
      path: ['input', 1, 'acquiredAt'],
      message: 'expected a date such as 2026-03-01 or 2026-03-01T07:30:00Z, received "soon"',
    },
    { path: ['input', 1, 'uid'], message: 'another asset has the uid "C-7"' },
    { path: ['input', 2, 'id'], message: `there is no asset with the ID "${missing}" in this workspace` },
    {
      path: ['input', 2, 'currentLocationId'],
      message: `there is no location with the ID "${nowhere}" in this workspace`,
    },
    {
      path: ['input', 3, 'id'],
      message: `there is no asset with the ID "${yard.id}": this is the ID of a location`,
    },
    {
      path: ['input', 4, 'id'],
      message: 'there is no asset with the ID "ERP-1": IDs of this service start with asset_',
    },
    { path: ['input', 5, 'id'], message: `item [0] of this batch also has the ID "${crane.id}"` },
  ]);
  expect((await service.data(`{ asset(id: "${crane.id}") { name updatedAt } }`)).asset).toEqual({
    name: 'Crane',
    updatedAt: crane.updatedAt,
  });
});

test('an item is refused as a CONFLICT if the record was changed since the client has read it', async () => {
  const [crane, pump] = await service.create('/assets', { name: 'Crane' }, { name: 'Pump' });
  const change = (name: string) =>
    service.graphql(updateDocument(asset, 'name updatedAt'), {
      input: [
        { id: pump.id, name: `${name} pump` },
        { id: crane.id, name, ifUpdatedAt: crane.updatedAt },
      ],
    });

  const first = await change('First');
  const second = await change('Second');

  const [, { updatedAt }] = first.body.data.result;
  expect(second.body.errors[0]).toMatchObject({
    message: `[1].ifUpdatedAt: expected the updatedAt of the stored asset, "${updatedAt}", received "${crane.updatedAt}"`,
    extensions: { code: 'CONFLICT', issues: [{ path: ['input', 1, 'ifUpdatedAt'] }] },
  });
  const names = (await service.data('{ assets { nodes { name } } }')).assets.nodes;
  expect(names).toEqual([{ name: 'First' }, { name: 'First pump' }]);
});
