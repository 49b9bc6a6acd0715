/** Mutations: the same services, rules and messages as REST. */

import { describe, expect, test } from 'vitest';
import { project } from '../../src/records/index.ts';
import { unknownId } from '../support/records.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

describe('updateProject', () => {
  const update = `mutation ($id: ID!, $input: UpdateProjectInput!) {
    updateProject(id: $id, input: $input) { name notes reference externalIds location { name } updatedAt }
  }`;

  test('of an unknown project is NOT_FOUND', async () => {
    const { body } = await service.graphql(update, { id: unknownId(project), input: {} });

    expect(body.errors).toMatchObject([
      {
        message: `there is no project with the ID "${unknownId(project)}" in this workspace`,
        path: ['updateProject'],
        extensions: { code: 'NOT_FOUND' },
      },
    ]);
  });
});

test('what is read after a write in the same request is what was written', async () => {
  const [{ id }] = await service.create('/projects', { name: 'Bridge' });
  await service.create('/work-orders', { projectId: id });
  const [{ id: orderId }] = await service.create('/work-orders', { projectId: id });

  const change = (name: string) => `updateProject(id: "${id}", input: { name: "${name}" }) { name }`;
  const order = `createWorkOrders(input: [{ projectId: "${id}" }]) { project { name } }`;
  const data = await service.data(`mutation { a: ${change('A')} b: ${order} c: ${change('C')} d: ${order} }`);

  expect(data).toEqual({
    a: { name: 'A' },
    b: [{ project: { name: 'A' } }],
    c: { name: 'C' },
    d: [{ project: { name: 'C' } }],
  });
  expect((await service.data(`{ workOrder(id: "${orderId}") { project { name } } }`)).workOrder.project.name).toBe('C');
});

test('an unexpected error is masked', async () => {
  const { knex } = service.database;
  await knex.schema.renameTable('projects', 'gone');
  const { text } = await service.graphql(
    `mutation { updateProject(id: "${unknownId(project)}", input: { name: "secret" }) { id } }`,
  );
  await knex.schema.renameTable('gone', 'projects');

  expect(JSON.parse(text).errors).toMatchObject([
    {
      message: expect.stringMatching(/^unexpected error, request [\w-]{36}$/),
      path: ['updateProject'],
      extensions: { code: 'INTERNAL_SERVER_ERROR' },
    },
  ]);
  expect(text).not.toMatch(/secret|select|SQLITE|projects where/);
});
