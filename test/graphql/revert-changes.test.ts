/** `revertChanges`: records get the state back that they had before a range of changes, by changes of their own. */
import { describe, expect, test } from 'vitest';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

const document = `mutation ($after: String!, $upTo: String!, $message: String, $dryRun: Boolean) {
  result: revertChanges(after: $after, upTo: $upTo, message: $message, dryRun: $dryRun) {
    reversed kept failed notReversed { cursor kind recordId outcome message }
  }
}`;

const cursor = async (): Promise<string> => (await service.data('{ changeCursor }')).changeCursor;
const revert = async (after: string, upTo: string, options = {}) =>
  (await service.data(document, { after, upTo, ...options })).result;

const all = `{
  assets { nodes { id name uid currentLocationId ownerId externalIds createdAt } }
  assetCategories { nodes { id name parentId createdAt } }
  locations { nodes { id name createdAt } }
  projects { nodes { id name locationId createdAt createdBy { id } } }
}`;

const withNothingReversed = { reversed: 0, kept: 0, failed: 0, notReversed: [] };

describe('a range of changes', () => {
  test('is reversed by changes that the feed and histories show', async () => {
    const [yard] = await service.create('/locations', { name: 'North yard' });
    const [kept] = await service.create('/assets', { name: 'Crane', currentLocationId: yard.id, uid: 'CR-1' });
    const before = await service.data(all);
    const after = await cursor();
    const [created] = await service.create('/locations', { name: 'South yard' });
    await service.data(`mutation ($input: [AssetPatch!]!) { updateAssets(input: $input) { id } }`, {
      input: [{ id: kept.id, name: 'Old crane', currentLocationId: created.id, uid: 'CR-2' }],
    });
    await service.data('mutation ($ids: [ID!]) { deleteLocations(ids: $ids) { id } }', { ids: [yard.id] });
    const upTo = await cursor();

    expect(await revert(after, upTo, { dryRun: true })).toEqual({ ...withNothingReversed, reversed: 3 });
    expect(await cursor()).toBe(upTo);
    expect(await revert(after, upTo)).toEqual({ ...withNothingReversed, reversed: 3 });

    expect(await service.data(all)).toEqual(before);
    const { changes } = await service.data(
      'query ($after: String) { changes(after: $after) { nodes { action recordId fields { field before after } } } }',
      { after: upTo },
    );
    expect(changes.nodes).toEqual([
      { action: 'CREATED', recordId: yard.id, fields: [{ field: 'name', before: null, after: 'North yard' }] },
      {
        action: 'UPDATED',
        recordId: kept.id,
        fields: [
          { field: 'name', before: 'Old crane', after: 'Crane' },
          { field: 'uid', before: 'CR-2', after: 'CR-1' },
          { field: 'currentLocationId', before: created.id, after: yard.id },
        ],
      },
      { action: 'DELETED', recordId: created.id, fields: [{ field: 'name', before: 'South yard', after: null }] },
    ]);
  });
});

test('of a range, only the changes with a message are reversed, and of these not those of records that others changed in between', async () => {
  const own = { 'x-change-message': 'import' };
  const { body } = await service.post('/projects', [{ name: 'North' }, { name: 'South' }], own);
  await service.post('/projects', [{ name: 'West' }], { 'x-change-message': 'other' });
  await service.patch(`/projects/${body[1].id}`, { notes: 'by hand' });
  await service.patch(`/projects/${body[1].id}`, { name: 'South yard' }, own);
  const [other] = await service.create('/projects', { name: 'Own' });
  await service.patch(`/projects/${other.id}`, { name: 'Theirs' }, own);
  const upTo = await cursor();

  const result = await revert('0', upTo, { message: 'import' });

  const message = 'this project has changed since, last by change 4';
  expect(result).toMatchObject({ reversed: 2, kept: 2, failed: 0 });
  expect(result.notReversed).toMatchObject(['2', '5'].map((number) => ({ cursor: number, outcome: 'KEPT', message })));
  const { projects } = await service.data('{ projects { nodes { name notes } } }');
  expect(projects.nodes).toEqual(
    expect.arrayContaining([
      { name: 'West', notes: null },
      { name: 'South yard', notes: 'by hand' },
      { name: 'Own', notes: null },
    ]),
  );
  expect(projects.nodes).toHaveLength(3);
  expect(await revert('0', upTo, { message: 'nothing' })).toEqual(withNothingReversed);
});

test('what depends on a change that is not reversed is not reversed either', async () => {
  const patch = (kind: string, list: string, input: object) =>
    service.data(`mutation ($input: [${kind}Patch!]!) { update${list}(input: $input) { id } }`, { input: [input] });
  const remove = (ids: string[]) =>
    service.data('mutation ($ids: [ID!]) { deleteAssetCategories(ids: $ids) { id } }', { ids });
  const [top] = await service.create('/asset-categories', { name: 'Machines' });
  const [lifting] = await service.create('/asset-categories', { name: 'Lifting', parentId: top.id });
  const [cranes] = await service.create('/asset-categories', { name: 'Cranes', parentId: lifting.id });
  const [crane, pump] = await service.create('/assets', { name: 'Crane', uid: 'X-1' }, { name: 'Pump' });
  const after = await cursor();
  await remove([lifting.id, cranes.id]);
  const [yard] = await service.create('/locations', { name: 'North yard' });
  await patch('Asset', 'Assets', { id: crane.id, uid: null });
  await patch('Asset', 'Assets', { id: pump.id, uid: 'X-1', currentLocationId: yard.id });
  const upTo = await cursor();
  await remove([top.id]);
  await patch('Asset', 'Assets', { id: pump.id, name: 'Old pump' });
  const last = await cursor();

  const { notReversed, ...counts } = await revert(after, upTo);

  expect(counts).toEqual({ reversed: 0, kept: 1, failed: 4 });
  expect(notReversed.map(({ message }: { message: string }) => message)).toEqual([
    `there is no asset category with the ID "${lifting.id}" in this workspace`,
    `there is no asset category with the ID "${top.id}" in this workspace`,
    `this location is still referenced by the asset ${pump.id}`,
    'another asset has the uid "X-1"',
    `this asset has changed since, last by change ${last}`,
  ]);
  expect(await cursor()).toBe(last);
});

test('a record that was deleted in the range, and again after a reversal, is stored again', async () => {
  const [yard] = await service.create('/locations', { name: 'North yard' });
  const remove = () => service.data('mutation ($ids: [ID!]) { deleteLocations(ids: $ids) { id } }', { ids: [yard.id] });
  await remove();

  for (let time = 0; time < 2; time += 1) {
    expect(await revert('1', '2')).toEqual({ ...withNothingReversed, reversed: 1 });
    expect(await service.data('{ locations { nodes { id } } }')).toEqual({ locations: { nodes: [{ id: yard.id }] } });
    await remove();
  }
});

test('records are deleted before those that they refer to, as a copy with foreign keys needs', async () => {
  const after = await cursor();
  const [yard] = await service.create('/locations', { name: 'North yard' });
  const [wall] = await service.create('/projects', { name: 'Harbour wall', locationId: yard.id });
  const [lifting] = await service.create('/asset-categories', { name: 'Lifting' });
  const [cranes] = await service.create('/asset-categories', { name: 'Cranes', parentId: lifting.id });
  const upTo = await cursor();
  await revert(after, upTo);
  const end = await cursor();
  await revert(upTo, end);

  const { changes } = await service.data(
    'query ($after: String) { changes(after: $after) { nodes { action recordId } } }',
    { after: upTo },
  );
  expect(changes.nodes).toEqual([
    { action: 'DELETED', recordId: cranes.id },
    { action: 'DELETED', recordId: lifting.id },
    { action: 'DELETED', recordId: wall.id },
    { action: 'DELETED', recordId: yard.id },
    { action: 'CREATED', recordId: yard.id },
    { action: 'CREATED', recordId: wall.id },
    { action: 'CREATED', recordId: lifting.id },
    { action: 'CREATED', recordId: cranes.id },
  ]);
});

describe('cursors', () => {
  const message = async (after: string, upTo: string): Promise<string> => {
    const { body } = await service.graphql(document, { after, upTo });
    return body.errors[0].message;
  };

  test.each([
    [
      'x',
      'y',
      'after: expected a cursor of a change, such as "4711", received "x"; upTo: expected a cursor of a change, such as "4711", received "y"',
    ],
    ['7', '5', 'upTo: expected a cursor that is not before after, "7", received "5"'],
    ['0', '10001', 'expected at most 10,000 changes, received 10,001: reverse them in several parts, the latest first'],
  ])('after %s up to %s are rejected', async (after, upTo, expected) => {
    expect(await message(after, upTo)).toBe(expected);
  });

  test('that are invalid are issues with a code', async () => {
    const { body } = await service.graphql(document, { after: 'x', upTo: '1' });

    const message = 'expected a cursor of a change, such as "4711", received "x"';
    expect(body.errors[0].extensions.issues).toEqual([{ path: ['after'], message, code: 'invalid-cursor' }]);
  });

  test('beyond the last change are rejected', async () => {
    const last = await cursor();
    const beyond = String(Number(last) + 1);
    expect(await message(last, beyond)).toBe(
      `there is no change with the cursor "${beyond}" yet: the last one is "${last}"`,
    );
  });
});
