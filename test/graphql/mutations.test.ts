/** Mutations: the same services, rules and messages as REST. */

import { describe, expect, test } from 'vitest';
import { asset, project } from '../../src/records/index.ts';
import { fullRecord, kinds, unknownId } from '../support/records.ts';
import { useService } from '../support/service.ts';

const service = useService();

const mutation = (kind: { name: string; plural: string }) => `create${kind.plural}`;

const createWith = (kind: { name: string; plural: string }, fields = 'id') =>
  `mutation ($input: [Create${kind.name}Input!]!) { ${mutation(kind)}(input: $input) { ${fields} } }`;

describe.each(kinds)('creating $kind.label records', ({ kind, smallest }) => {
  test('returns them in the order given, every field as sent', async () => {
    const sent = fullRecord(kind);

    const data = await service.data(createWith(kind, Object.keys(kind.fields).join(' ')), { input: [sent, smallest] });

    expect(data[mutation(kind)][0]).toMatchObject(sent);
    expect(data[mutation(kind)]).toHaveLength(2);
  });
});

test('taken uids alone are a CONFLICT', async () => {
  const input = [
    { name: 'a', uid: 'EX-1' },
    { name: 'b', uid: 'EX-1' },
  ];

  const { body } = await service.graphql(createWith(asset), { input });

  expect(body.errors[0].extensions).toEqual({
    code: 'CONFLICT',
    issues: [{ path: ['input', 1, 'uid'], message: 'item [0] of this batch also has the uid "EX-1"' }],
  });
});

test('external ids may be written into the document, __proto__ included', async () => {
  const { createLocations } = await service.data(
    'mutation { createLocations(input: [{ externalIds: { __proto__: "a", erp: "b" } }]) { id externalIds } }',
  );

  expect(JSON.stringify(createLocations[0].externalIds)).toBe('{"__proto__":"a","erp":"b"}');
});

describe('updateProject', () => {
  const update = `mutation ($id: ID!, $input: UpdateProjectInput!) {
    updateProject(id: $id, input: $input) { name notes reference externalIds location { name } updatedAt }
  }`;

  test('changes what is sent, clears what is null, leaves what is absent', async () => {
    const [{ id: locationId }] = await service.create('/locations', { name: 'Yard' });
    const [{ id }] = await service.create('/projects', {
      name: 'Bridge',
      notes: 'x',
      reference: 'r',
      externalIds: { a: '1' },
    });

    const input = { notes: null, locationId, externalIds: { b: '2' } };
    const { updateProject } = await service.data(update, { id, input });

    expect(updateProject).toMatchObject({
      name: 'Bridge',
      notes: null,
      reference: 'r',
      externalIds: { b: '2' },
      location: { name: 'Yard' },
    });
  });

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

test('a failing mutation does not undo or stop the others of the request', async () => {
  const { body } = await service.graphql(
    'mutation { a: createLocations(input: [{ name: "a" }]) { name } b: createAssets(input: [{ name: " " }]) { id } }',
  );

  expect(body.errors).toHaveLength(1);
  expect(body.data).toEqual({ a: [{ name: 'a' }], b: null });
  expect((await service.data('{ locations { totalCount } }')).locations.totalCount).toBe(1);
});

test('an unexpected error is masked', async () => {
  await service.database.knex.schema.renameTable('locations', 'gone');

  const { text } = await service.graphql('mutation { createLocations(input: [{ name: "secret" }]) { id } }');

  expect(JSON.parse(text).errors).toMatchObject([
    {
      message: expect.stringMatching(/^unexpected error, request [\w-]{36}$/),
      path: ['createLocations'],
      extensions: { code: 'INTERNAL_SERVER_ERROR' },
    },
  ]);
  expect(text).not.toMatch(/secret|insert|SQLITE|locations\b.*values/);
});
