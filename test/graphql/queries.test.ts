/** Records by ID, with the records that they link to. */

import { expect, test } from 'vitest';
import { asset } from '../../src/records/index.ts';
import { createLinkedRecords } from '../support/linked-records.ts';
import { unknownId } from '../support/records.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

test('work orders return their project, its location, and their own location', async () => {
  const { workOrders, projects, locations } = await createLinkedRecords(service, { workOrders: 20 });
  const nameById = new Map([...projects, ...locations].map(({ id, name }) => [id, name]));

  const data = await service.data(
    '{ workOrders { nodes { name projectId project { id name location { name } company { id } } location { name city } } } }',
  );

  expect(data.workOrders.nodes).toEqual(
    workOrders.map(({ name, projectId, locationId }) => {
      const project = projects.find(({ id }) => id === projectId);
      const location = locations.find(({ id }) => id === locationId);
      return {
        name,
        projectId,
        project: {
          id: projectId,
          name: project.name,
          location: { name: nameById.get(project.locationId) },
          company: { id: project.companyId },
        },
        location: { name: location.name, city: location.city },
      };
    }),
  );
});

test('a link to a record of another system is an object with its ID', async () => {
  const [{ id }] = await service.create('/assets', { name: 'a', ownerId: 'company-7', statusId: 'status-1' });

  const { asset } = await service.data(
    'query ($id: ID!) { asset(id: $id) { ownerId owner { id __typename } status { id } assetType { id } workspace { id } } }',
    { id },
  );

  expect(asset).toEqual({
    ownerId: 'company-7',
    owner: { id: 'company-7', __typename: 'Company' },
    status: { id: 'status-1' },
    assetType: null,
    workspace: { id: service.workspace },
  });
});

test('a link whose identifier is foreign or absent is null, without an error', async () => {
  await service.create('/assets', { name: 'a', currentLocationId: 'ERP-7' }, { name: 'b' });

  const { assets } = await service.data('{ assets { nodes { currentLocationId currentLocation { id } } } }');

  expect(assets.nodes).toEqual([
    { currentLocationId: 'ERP-7', currentLocation: null },
    { currentLocationId: null, currentLocation: null },
  ]);
});

test('an id that is unknown, foreign or of another kind finds nothing', async () => {
  const [{ id }] = await service.create('/locations', {});

  for (const unknown of [unknownId(asset), 'foreign', '', '\0', id, 'a_'.repeat(3_000_000)]) {
    expect(await service.data('query ($id: ID!) { asset(id: $id) { id } }', { id: unknown })).toEqual({ asset: null });
  }
});
