/** PATCH /projects/{id}. Interface: "Endpoints", rule 3. test/client/records.test.ts has what it changes, and what it returns. */

import { afterEach, describe, expect, test, vi } from 'vitest';
import { project } from '../../src/records/index.ts';
import { deleteDocument } from '../support/mutations.ts';
import { unknownId } from '../support/records.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();
const kind = project;

afterEach(() => void vi.useRealTimers());

const setClock = (time: string) => vi.useFakeTimers({ toFake: ['Date'], now: new Date(time) });

const noOther = 'IDs of this service start with project_';

test.each([
  [unknownId(kind), `"${unknownId(kind)}" in this workspace`],
  ['project_4711', '"project_4711": it starts like an ID of this service, but has another form'],
  ['\0', `"\\u0000": ${noOther}`],
  ['x'.repeat(2_000), `"${'x'.repeat(100)}"…: ${noOther}`],
])('a project with an unknown ID is 404, which says why: %j', async (id, why) => {
  const { status, body } = await service.patch(`/projects/${encodeURIComponent(id)}`, { name: 'Tunnel' });
  const { body: graphql } = await service.graphql('mutation ($id: ID!) { updateProject(id: $id, input: {}) { id } }', {
    id,
  });

  const error = `there is no project with the ID ${why}`;
  expect([status, body]).toEqual([404, { error, code: '404' }]);
  expect(graphql.errors).toMatchObject([{ message: error, extensions: { code: 'NOT_FOUND' } }]);
});

test('the time of a change or deletion is always later than the one before, even if the clock goes back', async () => {
  setClock('2026-03-01T12:00:00.000Z');
  const [{ id }] = await service.create('/projects', { name: 'Bridge' });
  const change = async (clock: string) => {
    setClock(clock);
    return (await service.patch(`/projects/${id}`, { name: clock })).body.updatedAt;
  };

  expect(await change('2026-03-01T11:00:00.000Z')).toBe('2026-03-01T12:00:00.001Z');
  expect(await change('2026-03-01T13:00:00.000Z')).toBe('2026-03-01T13:00:00.000Z');
  expect(await change('2026-03-01T12:30:00.000Z')).toBe('2026-03-01T13:00:00.001Z');
  await service.data(deleteDocument(kind), { ids: [id] });
  const { history } = await service.data(`{ history(id: "${id}", first: 1) { nodes { action at } } }`);
  expect(history.nodes).toEqual([{ action: 'DELETED', at: '2026-03-01T13:00:00.002Z' }]);
});

describe('with Content-Type: application/merge-patch+json', () => {
  const type = { 'content-type': 'application/merge-patch+json' };

  test('external IDs are merged, null removes one, and other fields are as in application/json', async () => {
    const sent = { name: 'Bridge', notes: 'x', externalIds: { erp: '1', crm: '2' } };
    const [{ id }] = await service.create('/projects', sent);
    const patch = (body: object, headers: object = type) => service.patch(`/projects/${id}`, body, headers);

    const { status, body } = await patch({ notes: null, externalIds: { crm: null, sap: '3' } });
    expect([status, body.externalIds, 'notes' in body]).toEqual([200, { erp: '1', sap: '3' }, false]);
    const { body: renamed } = await patch({ name: 'Tunnel' });
    expect(renamed.externalIds).toEqual({ erp: '1', sap: '3' });
    for (const headers of [type, {}]) expect((await patch({}, headers)).body).toEqual(renamed);
    expect((await patch({ externalIds: { sap: '4' } }, {})).body.externalIds).toEqual({ sap: '4' });
    expect((await patch({ externalIds: { sap: null } }, {})).status).toBe(400);
    expect((await patch({ externalIds: null })).body).not.toHaveProperty('externalIds');
  });

  test('what is invalid is reported where it is', async () => {
    const [{ id }] = await service.create('/projects', { name: 'Bridge' });

    const { status, body } = await service.patch(`/projects/${id}`, { name: null, externalIds: { erp: 1 } }, type);

    expect([status, body.error]).toEqual([
      400,
      'externalIds.erp: expected text or null, received 1; name: expected text, received null',
    ]);
    expect((await service.patch(`/projects/${id}`, { mergeExternalIds: {} }, type)).body.error).toMatch(
      /unknown field/,
    );
  });

  test('a create is 415', async () => {
    expect((await service.post('/projects', [], type)).status).toBe(415);
  });
});
