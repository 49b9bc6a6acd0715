/** `dryRun: true`: the response of the write, without the write. */
import { expect, test } from 'vitest';
import { assetCategory } from '../../src/records/index.ts';
import { deleteDocument, updateDocument } from '../support/mutations.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

const dry = (document: string, variables: object) => service.graphql(document, { ...variables, dryRun: true });

test('links between the records of a dry run lead to what they would be', async () => {
  const [root, child] = await service.create('/asset-categories', { name: 'Lifting' }, { name: 'Cranes' });

  const moved = await dry(updateDocument(assetCategory, 'name parent { name }'), {
    input: [
      { id: child.id, parentId: root.id },
      { id: root.id, name: 'Hoisting' },
    ],
  });
  await service.data(updateDocument(assetCategory), { input: [{ id: child.id, parentId: root.id }] });
  const deleted = await dry(deleteDocument(assetCategory, 'name parent { name }'), { ids: [root.id, child.id] });

  expect(moved.body.data.result).toEqual([
    { name: 'Cranes', parent: { name: 'Hoisting' } },
    { name: 'Hoisting', parent: null },
  ]);
  expect(deleted.body.data.result[1]).toEqual({ name: 'Cranes', parent: null });
});

test('what follows a dry run in the same request reads what is stored', async () => {
  const [wall] = await service.create('/projects', { name: 'Harbour wall' });
  const [order] = await service.create('/work-orders', { name: 'Set up the crane', projectId: wall.id });

  const data = await service.data(`mutation {
    updateProjects(input: [{ id: "${wall.id}", name: "Quay" }], dryRun: true) { name }
    deleteProjects(ids: ["${wall.id}"], references: CLEAR, dryRun: true) { name }
    updateWorkOrders(input: [{ id: "${order.id}", notes: "x" }]) { project { name } }
  }`);

  expect(data).toEqual({
    updateProjects: [{ name: 'Quay' }],
    deleteProjects: [{ name: 'Harbour wall' }],
    updateWorkOrders: [{ project: { name: 'Harbour wall' } }],
  });
});
