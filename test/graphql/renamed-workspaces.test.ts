/** The feed while its workspace is renamed: consumers get every change, with its record. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { recordKinds } from '../../src/records/index.ts';
import { createWorkspaces } from '../../src/store/admin/workspaces.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

test.each([
  ['the page', /from changes where/, 'cursor'],
  ['its records', /from assets/, 'record { id }'],
  ['what changes led to', /from assets/, 'fields { field after }'],
])('%s can be read meanwhile', async (_, statement, selection) => {
  await service.create('/assets', { name: 'Crane' });
  const { database } = service;
  const open = database.forWorkspace.bind(database);
  let isRenamed = false;
  vi.spyOn(database, 'forWorkspace').mockImplementation((workspaceId, signal) => {
    const statements = open(workspaceId, signal);
    const read: typeof statements.read = async (sql, values) => {
      if (statement.test(sql) && !isRenamed) {
        isRenamed = true;
        await createWorkspaces(database, recordKinds).rename(service.workspace, `harbour-${service.workspace}`);
      }
      return statements.read(sql, values);
    };
    return { ...statements, read };
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const ask = () => service.graphql(`{ changes { nodes { ${selection} } endCursor } }`);

  const { body } = await ask();

  expect(isRenamed).toBe(true);
  expect(body.errors).toBeUndefined();
  expect(body.data.changes.nodes).toHaveLength(1);
  if (selection === 'record { id }') expect(body.data.changes.nodes[0].record).not.toBeNull();
  expect((await ask()).body).toEqual(body);
});
