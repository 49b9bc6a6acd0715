/** `revertChanges`: records get the state back that they had before a range of changes, by changes of their own. */
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { byEffort } from '../support/effort.ts';
import { useSharedService, useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

afterEach(() => {
  vi.useRealTimers();
});

const document = `mutation ($after: String!, $upTo: String!, $dryRun: Boolean) {
  result: revertChanges(after: $after, upTo: $upTo, dryRun: $dryRun) {
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

  test('leaves records whose references lead nowhere now, and whose unique values are taken', async () => {
    const [yard] = await service.create('/locations', { name: 'North yard' });
    const [crane, lift] = await service.create(
      '/assets',
      { name: 'Crane', uid: 'X-1' },
      { name: 'Lift', currentLocationId: yard.id },
    );
    const after = await cursor();
    await service.data('mutation ($ids: [ID!]) { deleteAssets(ids: $ids) { id } }', { ids: [crane.id, lift.id] });
    const upTo = await cursor();
    await service.data('mutation ($ids: [ID!]) { deleteLocations(ids: $ids) { id } }', { ids: [yard.id] });
    await service.create('/assets', { name: 'Other crane', uid: 'X-1' });

    const { notReversed, ...counts } = await revert(after, upTo);

    expect(counts).toEqual({ reversed: 0, kept: 0, failed: 2 });
    expect(notReversed.map(({ message }: { message: string }) => message)).toEqual([
      'another asset has the uid "X-1"',
      `there is no location with the ID "${yard.id}" in this workspace`,
    ]);
  });

  test('leaves a category that would become its own ancestor', async () => {
    const [top, below] = await service.create('/asset-categories', { name: 'Top' }, { name: 'Below' });
    const move = (id: string, parentId: string | null) =>
      service.data('mutation ($input: [AssetCategoryPatch!]!) { updateAssetCategories(input: $input) { id } }', {
        input: [{ id, parentId }],
      });
    await move(below.id, top.id);
    const after = await cursor();
    await move(below.id, null);
    const upTo = await cursor();
    await move(top.id, below.id);

    const { notReversed, ...counts } = await revert(after, upTo);

    expect(counts).toEqual({ reversed: 0, kept: 0, failed: 1 });
    expect(notReversed[0].message).toBe(
      'this asset category would be its own ancestor, because others have been moved since',
    );
  });
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
    `there is no asset category with the ID "${top.id}" in this workspace`,
    `there is no asset category with the ID "${lifting.id}" in this workspace`,
    `this location is still referenced by the asset ${pump.id}`,
    'another asset has the uid "X-1"',
    `this asset has changed since, last by change ${last}`,
  ]);
  expect(await cursor()).toBe(last);
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

  test('beyond the last change are rejected', async () => {
    const last = await cursor();
    const beyond = String(Number(last) + 1);
    expect(await message(last, beyond)).toBe(
      `there is no change with the cursor "${beyond}" yet: the last one is "${last}"`,
    );
  });
});

interface Step {
  readonly action: 'create' | 'update' | 'delete';
  readonly kind: 'Asset' | 'AssetCategory' | 'Location' | 'Project';
  readonly which: number;
  readonly other: number;
  readonly uid: string | null;
}

const plural = { Asset: 'Assets', AssetCategory: 'AssetCategories', Location: 'Locations', Project: 'Projects' };
const prefix = { Asset: 'asset', AssetCategory: 'category', Location: 'location', Project: 'project' };

const steps = fc.array(
  fc.record<Step>({
    action: fc.constantFrom('create', 'create', 'update', 'update', 'delete'),
    kind: fc.constantFrom('Asset', 'AssetCategory', 'Location', 'Project'),
    which: fc.nat(7),
    other: fc.nat(7),
    uid: fc.constantFrom(null, 'a', 'b', 'c'),
  }),
  { minLength: 5, maxLength: 30 },
);

describe('random changes', () => {
  const records = useSharedService();

  /** Carries out a step, which may be rejected. */
  async function carryOut({ action, kind, which, other, uid }: Step, ids: string[]): Promise<void> {
    const ofKind = (name: Step['kind']) => ids.filter((id) => id.startsWith(`${prefix[name]}_`));
    const pick = (name: Step['kind'], index: number) => ofKind(name)[index % Math.max(1, ofKind(name).length)] ?? null;
    const fields = {
      name: `${kind} ${which}`,
      ...(kind === 'Asset' && { uid, currentLocationId: pick('Location', other), externalIds: { erp: `${other}` } }),
      ...(kind === 'AssetCategory' && { parentId: pick('AssetCategory', other) }),
      ...(kind === 'Project' && { locationId: pick('Location', other) }),
    };
    const id = pick(kind, which);
    const name = plural[kind];
    if (action === 'create') {
      const { body } = await records.graphql(
        `mutation ($input: [Create${kind}Input!]!) { result: create${name}(input: $input) { id } }`,
        { input: [fields] },
      );
      if (body.data?.result) ids.push(body.data.result[0].id);
    } else if (action === 'update' && id) {
      await records.graphql(`mutation ($input: [${kind}Patch!]!) { update${name}(input: $input) { id } }`, {
        input: [{ id, ...fields }],
      });
    } else if (id) {
      await records.graphql(
        `mutation ($ids: [ID!], $references: ReferenceHandling!) { delete${name}(ids: $ids, references: $references) { id } }`,
        { ids: [id], references: other % 2 ? 'CLEAR' : 'REFUSE' },
      );
    }
  }

  test('are reversed to the state before them, and their reversal to the one after them', async () => {
    const reverses = fc.asyncProperty(steps, fc.nat(30), async (made, half) => {
      const last = async (): Promise<string> => (await records.data('{ changeCursor }')).changeCursor;
      const reverted = async (after: string, upTo: string) => (await records.data(document, { after, upTo })).result;
      const ids: string[] = [];
      for (const step of made.slice(0, half)) await carryOut(step, ids);
      const [before, after] = [await records.data(all), await last()];
      for (const step of made.slice(half)) await carryOut(step, ids);
      const [later, upTo] = [await records.data(all), await last()];

      expect(await reverted(after, upTo)).toMatchObject({ kept: 0, failed: 0, reversed: Number(upTo) - Number(after) });
      expect(await records.data(all)).toEqual(before);
      const end = await last();
      expect(await reverted(upTo, end)).toMatchObject({ kept: 0, failed: 0 });
      expect(await records.data(all)).toEqual(later);
      // For the next run.
      await reverted('0', await last());
    });
    await fc.assert(reverses, { numRuns: byEffort({ small: 8, long: 100 }) });
  });
});
