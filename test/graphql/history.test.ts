/** The history of single records, and records as they were. */
import { beforeEach, describe, expect, test } from 'vitest';
import { project as projectKind } from '../../src/records/index.ts';
import { deleteRecords } from '../support/changes.ts';
import { unknownId } from '../support/records.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

/** A project with so many names one after the other. */
async function renamedProject(names: readonly string[]) {
  const [first, ...others] = names;
  const [project] = await service.create('/projects', { name: first });
  for (const name of others) await service.patch(`/projects/${project.id}`, { name });
  return project;
}

describe('history', () => {
  test('of any record is found by its ID alone, also after it was deleted', async () => {
    const { id } = await renamedProject(['Wall', 'Harbour wall']);
    const [yard] = await service.create('/locations', { name: 'North yard' });
    await deleteRecords(service, projectKind, [id]);
    const query = `query ($id: ID!, $yard: ID!, $unknown: ID!) {
      project(id: $id) { id }
      deleted: history(id: $id) { nodes { action recordId record { id } fields { before after } } endCursor hasMore }
      firstOfDeleted: history(id: $id, after: "2") { nodes { cursor } }
      stored: history(id: $yard, first: 1) { nodes { action kind record { id } } hasMore }
      none: history(id: $unknown) { nodes { cursor } endCursor hasMore }
      noId: history(id: "x", after: "7") { nodes { cursor } endCursor hasMore }
    }`;

    const data = await service.data(query, { id, yard: yard.id, unknown: unknownId(projectKind) });

    const ofDeleted = { recordId: id, record: null };
    expect(data).toEqual({
      project: null,
      deleted: {
        nodes: [
          { ...ofDeleted, action: 'DELETED', fields: [{ before: 'Harbour wall', after: null }] },
          { ...ofDeleted, action: 'UPDATED', fields: [{ before: 'Wall', after: 'Harbour wall' }] },
          { ...ofDeleted, action: 'CREATED', fields: [{ before: null, after: 'Wall' }] },
        ],
        endCursor: '1',
        hasMore: false,
      },
      firstOfDeleted: { nodes: [{ cursor: '1' }] },
      stored: { nodes: [{ action: 'CREATED', kind: 'LOCATION', record: { id: yard.id } }], hasMore: false },
      none: { nodes: [], endCursor: '0', hasMore: false },
      noId: { nodes: [], endCursor: '7', hasMore: false },
    });
  });

  test('has a change without fields if all were sent with the values they had, external IDs in whatever order', async () => {
    const [{ id }] = await service.create('/projects', { name: 'Harbour wall', externalIds: { erp: '1', sap: '2' } });
    await service.patch(`/projects/${id}`, { name: 'Harbour wall', externalIds: { sap: '2', erp: '1' } });

    const { project } = await service.data(
      `{ project(id: "${id}") { history { nodes { action fields { field } } } } }`,
    );

    expect(project.history.nodes[0]).toEqual({ action: 'UPDATED', fields: [] });
  });
});

describe('asOf', () => {
  let id: string;
  /** The times from which on the project had each name. */
  let times: string[];

  const nameAt = async (time: string) =>
    (await service.data('query ($id: ID!, $time: DateTime) { project(id: $id, asOf: $time) { name } }', { id, time }))
      .project?.name ?? null;

  const later = (time: string, milliseconds: number) => new Date(Date.parse(time) + milliseconds).toISOString();

  beforeEach(async () => {
    const [project] = await service.create('/projects', { name: 'Wall' });
    id = project.id;
    const [pier, harbourWall] = [
      await service.patch(`/projects/${id}`, { name: 'Pier' }),
      await service.patch(`/projects/${id}`, { name: 'Harbour wall' }),
    ];
    times = [project.createdAt, pier.body.updatedAt, harbourWall.body.updatedAt];
  });

  test('returns the record as it was at each time', async () => {
    const [created = '', pier = '', harbourWall = ''] = times;

    expect(await nameAt(later(created, -1))).toBeNull();
    expect(await nameAt(created)).toBe('Wall');
    expect(await nameAt(later(pier, -1))).toBe('Wall');
    expect(await nameAt(pier)).toBe('Pier');
    expect(await nameAt(later(harbourWall, -1))).toBe('Pier');
    expect(await nameAt(harbourWall)).toBe('Harbour wall');
    expect(await nameAt('2100-01-01')).toBe('Harbour wall');
  });

  test('returns several versions in one query, with all fields, and links to what is stored now', async () => {
    const [yard] = await service.create('/locations', { name: 'North yard' });
    const { body: moved } = await service.patch(`/projects/${id}`, {
      locationId: yard.id,
      externalIds: { erp: 'P-7' },
    });
    await service.patch(`/projects/${id}`, { locationId: null, externalIds: null });

    const data = await service.data(
      `query ($id: ID!, $time: DateTime) {
        now: project(id: $id) { locationId updatedAt }
        then: project(id: $id, asOf: $time) { id name locationId externalIds updatedAt location { name } history(first: 1) { endCursor } }
        null: project(id: $id, asOf: null) { locationId }
      }`,
      { id, time: moved.updatedAt },
    );

    expect(data.now.locationId).toBeNull();
    expect(data.null).toEqual({ locationId: null });
    expect(data.then).toEqual({
      id,
      name: 'Harbour wall',
      locationId: yard.id,
      externalIds: { erp: 'P-7' },
      updatedAt: moved.updatedAt,
      location: { name: 'North yard' },
      history: { endCursor: '6' },
    });
  });
});
