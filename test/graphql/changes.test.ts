/** The feed of a workspace: every change once, in order, with what it did. */
import { describe, expect, test } from 'vitest';
import { assetCategory, project as projectKind } from '../../src/records/index.ts';
import { deleteRecords, plantCreations } from '../support/changes.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

type Node = Readonly<Record<string, unknown>>;
type FieldChange = Readonly<{ field: string; before: unknown; after: unknown }>;

/** A project that was created at a location, then renamed, then moved away. */
async function changedProject() {
  const [yard] = await service.create('/locations', { name: 'North yard', city: 'Bremen' });
  const [project] = await service.create('/projects', { name: 'Wall', startDate: '2026-03-01', locationId: yard.id });
  await service.patch(`/projects/${project.id}`, { name: 'Harbour wall' });
  await service.patch(`/projects/${project.id}`, { locationId: null, externalIds: { erp: 'P-7' } });
  return { yard, project };
}

const fields = '{ changes { nodes { fields { field before after } } } }';

/** The fields of each change of the workspace. */
const fieldChanges = async (): Promise<FieldChange[][]> =>
  (await service.data(fields)).changes.nodes.map((node: { fields: FieldChange[] }) => node.fields);

/** All changes, read in pages of this size. */
async function allChanges(first: number, kinds?: string[]) {
  const nodes: Node[] = [];
  let pages = 0;
  for (let after = '0'; ; ) {
    const { changes } = await service.data(
      `query ($first: Int, $after: String, $kinds: [RecordKind!]) {
        changes(first: $first, after: $after, kinds: $kinds) { nodes { cursor kind recordId action } endCursor hasMore } }`,
      { first, after, kinds },
    );
    nodes.push(...changes.nodes);
    pages += 1;
    after = changes.endCursor;
    if (!changes.hasMore) return { nodes, pages, after };
  }
}

test('changes returns every change of the workspace, in the order in which they were made', async () => {
  const { yard, project } = await changedProject();

  const { changes } = await service.data(
    '{ changes { nodes { cursor action kind recordId at user { id } message } endCursor hasMore } }',
  );

  expect(changes).toMatchObject({
    nodes: [
      {
        cursor: '1',
        action: 'CREATED',
        kind: 'LOCATION',
        recordId: yard.id,
        at: yard.createdAt,
        message: null,
      },
      { cursor: '2', action: 'CREATED', kind: 'PROJECT', recordId: project.id, at: project.createdAt },
      { cursor: '3', action: 'UPDATED', kind: 'PROJECT', recordId: project.id },
      { cursor: '4', action: 'UPDATED', kind: 'PROJECT', recordId: project.id },
    ],
    endCursor: '4',
    hasMore: false,
  });
});

describe('the changed fields', () => {
  test('of a deletion are those that had a value', async () => {
    const { project } = await changedProject();
    await deleteRecords(service, projectKind, [project.id]);

    const { changes } = await service.data(
      '{ changes(after: "4") { nodes { action message user { id } fields { field before after } record { id } } } }',
    );

    expect(changes.nodes).toEqual([
      {
        action: 'DELETED',
        message: 'sold',
        user: { id: 'operator' },
        record: null,
        fields: [
          { field: 'name', before: 'Harbour wall', after: null },
          { field: 'startDate', before: '2026-03-01T00:00:00.000Z', after: null },
          { field: 'externalIds', before: { erp: 'P-7' }, after: null },
        ],
      },
    ]);
    // The changes before have not changed with it.
    expect((await fieldChanges())[2]).toEqual([{ field: 'name', before: 'Wall', after: 'Harbour wall' }]);
  });
});

test('a change has the record as it is now, with its links; null if it was deleted since', async () => {
  const { yard, project } = await changedProject();
  const [order] = await service.create('/work-orders', { name: 'Set up the crane', projectId: project.id });
  await deleteRecords(service, projectKind, [project.id]);

  const { changes } = await service.data(
    '{ changes { nodes { recordId record { id ... on Location { city } ... on WorkOrder { name project { name } } } } } }',
  );

  expect(changes.nodes.map(({ record }: Node) => record)).toEqual([
    { id: yard.id, city: 'Bremen' },
    null,
    null,
    null,
    { id: order.id, name: 'Set up the crane', project: null },
    { id: order.id, name: 'Set up the crane', project: null },
    null,
  ]);
});

describe('pages', () => {
  test('after a cursor beyond the last change are refused, so that consumers notice when a backup was restored', async () => {
    await service.create('/locations', { name: 'North yard' });

    const { body } = await service.graphql('{ changes(after: "2") { endCursor } }');

    expect(body.errors[0]).toMatchObject({
      message:
        'the cursor "2" is beyond the last change, which is "1"; after restoring a backup, consumers must start over',
      extensions: { code: 'BAD_USER_INPUT' },
    });
  });

  test('of some kinds have the changes of these, and a cursor behind those of the others', async () => {
    await changedProject();
    await service.create('/locations', { name: 'South yard' });

    const projects = await allChanges(2, ['PROJECT', 'PROJECT', 'ASSET']);
    const locations = await allChanges(2, ['LOCATION']);
    const none = await allChanges(2, ['ASSET']);

    expect(projects.nodes.map(({ cursor }) => cursor)).toEqual(['2', '3', '4']);
    expect(locations.nodes.map(({ cursor }) => cursor)).toEqual(['1', '5']);
    expect(none.nodes).toEqual([]);
    expect([projects.after, locations.after, none.after]).toEqual(['5', '5', '5']);
  });

  test('of kinds whose changes are far apart are empty in between, and read at most 100,000 rows each', async () => {
    await service.create('/locations', { name: 'North yard' });
    await plantCreations(service, assetCategory, 110_000);
    await service.create('/locations', { name: 'South yard' });
    await plantCreations(service, assetCategory, 10);

    const { nodes, pages, after } = await allChanges(5, ['LOCATION']);

    expect(nodes.map(({ cursor }) => cursor)).toEqual(['1', '110002']);
    expect(pages).toBeGreaterThan(1);
    expect(after).toBe('110012');
  });
});

test.each([
  ['changes(after: "soon")', 'after: expected a cursor of a change, such as "4711", received "soon"'],
  ['changes(first: 0)', 'first: expected a whole number from 1 to 1000, received 0'],
  ['changes(kinds: [])', 'kinds: expected at least one value, received none'],
])('%s is rejected', async (field, message) => {
  const { status, body } = await service.graphql(`{ ${field} { endCursor } }`);

  expect(status).toBe(200);
  expect(body.errors[0].message).toContain(message);
  expect(body.errors[0].message.length).toBeLessThan(250);
  expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
});
