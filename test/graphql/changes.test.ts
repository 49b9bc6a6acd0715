/** The feed of a workspace, the histories of its records, and records as they were. */
import { describe, expect, test } from 'vitest';
import { createSessionOpener } from '../../src/auth/authenticate.ts';
import { asset, location, recordKinds } from '../../src/records/index.ts';
import { deleteRecords } from '../support/insert.ts';
import { useService } from '../support/service.ts';

const service = useService();
const closed = useService({}, { closed: true });

const page = 'nodes { cursor action kind recordId at user { id } message } endCursor hasMore';
const fields = 'fields { field before after }';

/** A project that was created with its location, and then renamed, and cleared of its location. */
async function changedProject() {
  const [yard] = await service.create('/locations', { name: 'North yard', city: 'Bremen' });
  const [project] = await service.create('/projects', { name: 'Wall', locationId: yard.id, startDate: '2026-03-01' });
  await service.patch(
    `/projects/${project.id}`,
    { name: 'Harbour wall' },
    { 'x-change-message': 'as in the contract' },
  );
  await service.patch(`/projects/${project.id}`, { locationId: null, externalIds: { erp: 'P-7' } });
  return { yard, project };
}

const remove = (kind: (typeof recordKinds)[number], ...ids: string[]) => {
  const author = { userId: 'operator', requestId: 'r-1', message: null };
  const identity = { workspaceId: 'default', userId: 'operator', mayWrite: true, keyPrefix: null };
  const { store } = createSessionOpener(service.database)(identity, { author, usage: { statements: 0 } });
  return deleteRecords(store, kind, ids);
};

describe('changes', () => {
  test('returns every change of the workspace in order, with what it did, when, and why', async () => {
    const { yard, project } = await changedProject();

    const { changes } = await service.data(`{ changes { ${page} } }`);

    expect(changes.nodes).toMatchObject([
      {
        cursor: '1',
        action: 'CREATED',
        kind: 'LOCATION',
        recordId: yard.id,
        at: yard.createdAt,
        user: null,
        message: null,
      },
      { cursor: '2', action: 'CREATED', kind: 'PROJECT', recordId: project.id },
      { cursor: '3', action: 'UPDATED', kind: 'PROJECT', recordId: project.id, message: 'as in the contract' },
      { cursor: '4', action: 'UPDATED', kind: 'PROJECT', recordId: project.id, message: null },
    ]);
    expect(changes).toMatchObject({ endCursor: '4', hasMore: false });
  });

  test('names the fields that clients may set, with their values before and after', async () => {
    await changedProject();

    const { changes } = await service.data(`{ changes(after: "1") { nodes { ${fields} } } }`);

    const [created, renamed, cleared] = changes.nodes.map((change: { fields: object[] }) => change.fields);
    expect(created).toEqual(
      [
        { field: 'name', before: null, after: 'Wall' },
        { field: 'locationId', before: null, after: expect.stringMatching(/^location_/) },
        { field: 'startDate', before: null, after: '2026-03-01T00:00:00.000Z' },
      ].toSorted((a, b) => orderOf(a.field) - orderOf(b.field)),
    );
    expect(renamed).toEqual([{ field: 'name', before: 'Wall', after: 'Harbour wall' }]);
    expect(cleared).toEqual(
      expect.arrayContaining([
        {
          field: 'locationId',
          before: created.find((it: { field: string }) => it.field === 'locationId').after,
          after: null,
        },
        { field: 'externalIds', before: null, after: { erp: 'P-7' } },
      ]),
    );
    expect(cleared).toHaveLength(2);
  });
});

const orderOf = (field: string) => Object.keys(recordKinds[2]?.fields ?? {}).indexOf(field);
void asset;
void location;
void closed;
void remove;
