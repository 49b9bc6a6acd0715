/** `onInvalid: SKIP`: a batch stores its valid items, and returns the others with their issues. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asset, assetCategory } from '../../src/records/index.ts';
import { byEffort } from '../support/effort.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

const upsert = (kind: typeof asset | typeof assetCategory, input: object[], variables: object = {}) =>
  service.graphql(
    `mutation ($by: ${kind.name}Key!, $input: [Upsert${kind.name}Input!]!, $onInvalid: OnInvalid! = SKIP, $dryRun: Boolean! = false) {
      result: upsert${kind.plural}(by: $by, input: $input, onInvalid: $onInvalid, dryRun: $dryRun) {
        outcome record { name } issues { path message code other }
      } }`,
    { by: { field: kind === asset ? 'UID' : 'NAME' }, input, ...variables },
  );

const importAll = (input: object, onInvalid: 'SKIP' | 'FAIL' = 'SKIP') =>
  service.graphql(
    `mutation ($input: ImportInput!, $onInvalid: OnInvalid!) { result: importRecords(input: $input, onInvalid: $onInvalid) {
      locations { name } assetCategories { name parent { name } } projects { name location { name } } assets { name }
      rejected { list index issues { path message } }
    } }`,
    { input, onInvalid },
  );

type Sent = Readonly<{ path: string[]; message: string; code: string; other: string[] | null }>;

const tooLong = 'x'.repeat(10_001);

describe('an upsert that skips invalid items', () => {
  test('stores the valid ones, and returns the others in their places with their issues', async () => {
    await service.create('/assets', { name: 'Crane', uid: 'C-7' });

    const { status, body } = await upsert(asset, [
      { uid: 'C-7', name: 'Tower crane' },
      { uid: 'P-1', name: 'Pump', manufacturedAt: 'soon', acquiredAt: 5 },
      { name: 'No key' },
      { uid: 'E-1', name: 'Excavator' },
      { uid: 'C-7', name: 'Crane again' },
      { uid: 'D-1' },
    ]);

    expect(status).toBe(200);
    expect(body.errors).toBeUndefined();
    const rejected = (...issues: object[]) => ({ outcome: 'REJECTED', record: null, issues });
    const issue = (path: string, code: string, message: string, other: string[] | null = null) => ({
      path: [path],
      message: expect.stringContaining(message),
      code,
      other,
    });
    expect(body.data.result).toEqual([
      { outcome: 'UPDATED', record: { name: 'Tower crane' }, issues: [] },
      rejected(
        issue('manufacturedAt', 'invalid-date', 'expected a date'),
        issue('acquiredAt', 'wrong-type', 'expected a date'),
      ),
      rejected(issue('uid', 'key-required', 'required: records are found by the uid')),
      { outcome: 'CREATED', record: { name: 'Excavator' }, issues: [] },
      rejected(issue('uid', 'repeated', 'item [0] of this batch also has the uid "C-7"', ['0'])),
      rejected(issue('name', 'required', 'required: the name of the asset')),
    ]);
    const { assets } = await service.data('{ assets { nodes { name uid } } }');
    expect(assets.nodes).toEqual([
      { name: 'Tower crane', uid: 'C-7' },
      { name: 'Excavator', uid: 'E-1' },
    ]);
  });

  test('moves categories only as far as no cycle follows from what is left out', async () => {
    const [lifting] = await service.create('/asset-categories', { name: 'Lifting' });
    const [cranes] = await service.create('/asset-categories', { name: 'Cranes', parentId: lifting.id });
    const swap = (broken: object) => [
      { name: 'Lifting', parentId: cranes.id },
      { name: 'Cranes', parentId: null, ...broken },
    ];

    const { body } = await upsert(assetCategory, swap({ description: tooLong }));
    expect(body.data.result).toMatchObject([
      {
        outcome: 'REJECTED',
        issues: [{ path: ['parentId'], message: expect.stringContaining('nor one of its descendants') }],
      },
      { outcome: 'REJECTED', issues: [{ path: ['description'] }] },
    ]);
    expect((await upsert(assetCategory, swap({}))).body.data.result).toMatchObject([
      { outcome: 'UPDATED' },
      { outcome: 'UPDATED' },
    ]);
  });

  const item = fc.record(
    {
      uid: fc.constantFrom('A', 'B', 'C', 'D', 'taken', ''),
      name: fc.constantFrom('Crane', 'Pump', ' ', null),
      acquiredAt: fc.constantFrom('2026-03-01', 'soon', null),
      currentLocationId: fc.constantFrom('ERP-1', 'location_01h455vb4pex5vsknk084sn02q'),
    },
    { requiredKeys: ['name'] },
  );

  test('rejects just what the batch would fail for, and stores the others as a batch of their own would', async () => {
    const run = async (input: object[], onInvalid: string) => {
      const { body } = await upsert(asset, input, { onInvalid, dryRun: true });
      return { items: body.data.result, issues: body.errors?.[0].extensions.issues ?? [] };
    };
    await service.create('/assets', { name: 'Crane', uid: 'taken' });
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 8 }), async (input) => {
        const { items } = await run(input, 'SKIP');
        const { issues } = await run(input, 'FAIL');
        const listed = items.flatMap(({ issues }: { issues: Sent[] }, index: number) =>
          issues.map(({ path, other, ...issue }) => ({
            ...issue,
            path: ['input', index, ...path],
            ...(other && { other: ['input', ...other.map(Number)] }),
          })),
        );
        expect(listed).toEqual(issues);
        const isValid = (_: object, index: number) => items[index].outcome !== 'REJECTED';
        expect((await run(input.filter(isValid), 'FAIL')).items).toEqual(items.filter(isValid));
      }),
      { numRuns: byEffort({ small: 20, long: 300 }) },
    );
  });
});

describe('an import that skips invalid items', () => {
  test('leaves out what refers to them too, however far, and stores the others', async () => {
    await service.create('/assets', { name: 'Crane', uid: 'C-7' });
    const { body } = await importAll({
      locations: [
        { ref: 'yard', name: 'Yard', latitude: 91 },
        { ref: 'quay', name: 'Quay' },
      ],
      projects: [
        { ref: 'wall', name: 'Wall', location: { ref: 'yard' } },
        { name: 'Rails', location: { ref: 'quay' } },
      ],
      workOrders: [{ name: 'Dig', project: { ref: 'wall' }, location: { ref: 'yard' } }],
      assets: [{ name: 'Pump' }, { name: 'Another crane', uid: 'C-7' }, { name: 'Truck' }],
      assetCategories: [
        { name: 'Tower cranes', parent: { ref: 'cranes' } },
        { ref: 'cranes', name: 'Cranes', parent: { ref: 'lifting' } },
        { ref: 'lifting', name: 'Lifting' },
      ],
    });

    expect(body.errors).toBeUndefined();
    const { rejected, ...stored } = body.data.result;
    expect(stored).toEqual({
      locations: [{ name: 'Quay' }],
      projects: [{ name: 'Rails', location: { name: 'Quay' } }],
      assets: [{ name: 'Pump' }, { name: 'Truck' }],
      assetCategories: [
        { name: 'Tower cranes', parent: { name: 'Cranes' } },
        { name: 'Cranes', parent: { name: 'Lifting' } },
        { name: 'Lifting', parent: null },
      ],
    });
    const because = (name: string, ref: string) => ({
      path: [name, 'ref'],
      message: `the record with the ref "${ref}" was rejected`,
    });
    expect(rejected).toEqual([
      { list: 'assets', index: 1, issues: [{ path: ['uid'], message: 'another asset has the uid "C-7"' }] },
      {
        list: 'workOrders',
        index: 0,
        issues: expect.arrayContaining([because('project', 'wall'), because('location', 'yard')]),
      },
      { list: 'projects', index: 0, issues: [because('location', 'yard')] },
      { list: 'locations', index: 0, issues: [{ path: ['latitude'], message: expect.any(String) }] },
    ]);
    const { changes } = await service.data('{ changes(after: "1") { nodes { kind } } }');
    expect(changes.nodes).toHaveLength(7);
  });
});
