/** The feed while its workspace is renamed: consumers get every change, with its record. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { recordKinds } from '../../src/records/index.ts';
import { createWorkspaces } from '../../src/store/admin/workspaces.ts';
import { useService } from '../support/service.ts';

const service = useService({}, { closed: true });

test.each([
  ['the page', /from changes where/, 'cursor'],
  ['its records', /from assets/, 'record { id }'],
  ['what changes led to', /from assets/, 'fields { field after }'],
])('%s can be read meanwhile', async (_, statement, selection) => {
  const headers = { authorization: await service.key() };
  const created = await service.inject({
    ...{ method: 'POST', url: '/assets', headers: { ...headers, 'content-type': 'application/json' } },
    payload: JSON.stringify([{ name: 'Crane' }]),
  });
  expect(created.status).toBe(201);
  const { database } = service;
  const open = database.forWorkspace.bind(database);
  let isRenamed = false;
  vi.spyOn(database, 'forWorkspace').mockImplementation((workspaceId, signal) => {
    const statements = open(workspaceId, signal);
    const read: typeof statements.read = async (sql, values) => {
      if (statement.test(sql) && !isRenamed) {
        isRenamed = true;
        await createWorkspaces(database, recordKinds).rename('acme', 'harbour');
      }
      return statements.read(sql, values);
    };
    return { ...statements, read };
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const ask = () => {
    const query = `{ changes { nodes { ${selection} } endCursor } }`;
    return service.inject({
      ...{ method: 'POST', url: '/graphql', headers: { ...headers, 'content-type': 'application/json' } },
      payload: JSON.stringify({ query }),
    });
  };

  const { body } = await ask();

  expect(isRenamed).toBe(true);
  expect(body.errors).toBeUndefined();
  expect(body.data.changes.nodes).toHaveLength(1);
  if (selection === 'record { id }') expect(body.data.changes.nodes[0].record).not.toBeNull();
  expect((await ask()).body).toEqual(body);
});
