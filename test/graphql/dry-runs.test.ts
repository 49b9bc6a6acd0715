/** `dryRun: true`: the response of the write, without the write. */
import { describe, expect, test } from 'vitest';
import { asset, assetCategory, location } from '../../src/records/index.ts';
import { createDocument, deleteDocument, updateDocument } from '../support/mutations.ts';
import { fullRecord, kinds } from '../support/records.ts';
import { useService } from '../support/service.ts';

const service = useService();

/** Everything that is stored, the log of changes included. */
async function stored(): Promise<unknown> {
  const tables = [...kinds.map(({ kind }) => kind.table), 'changes', 'change_numbers'];
  const { knex } = service.database;
  return Promise.all(tables.map(async (table) => [table, await knex(table).select().orderByRaw('1, 2')]));
}

const dry = (document: string, variables: object) => service.graphql(document, { ...variables, dryRun: true });

describe.each(kinds)('a dry run with $kind.label records', ({ kind, path, smallest }) => {
  const fields = `createdAt updatedAt ${Object.keys(kind.fields).join(' ')}`;
  const plain = (records: Record<string, unknown>[]) =>
    records.map(({ createdAt: _c, updatedAt: _u, ...rest }) => rest);

  test('of a create, a change and a deletion returns what each would return, and stores nothing', async () => {
    const [first, second] = await service.create(path, smallest, smallest);
    const writes: [string, object][] = [
      [createDocument(kind, fields), { input: [fullRecord(kind), smallest] }],
      [updateDocument(kind, `id ${fields}`), { input: [{ id: first.id, name: 'Other' }, { id: second.id }] }],
      [deleteDocument(kind, `id ${fields}`), { ids: [second.id, first.id] }],
    ];

    for (const [document, variables] of writes) {
      const before = await stored();
      const { body } = await dry(document, variables);

      expect(await stored()).toEqual(before);
      const { result } = await service.data(document, variables);
      expect(plain(body.data.result)).toEqual(plain(result));
    }
  });
});

test('a dry run has the errors of the write', async () => {
  const [yard] = await service.create('/locations', { name: 'North yard' });
  const [crane] = await service.create('/assets', { name: 'Crane', uid: 'C-7', currentLocationId: yard.id });
  const writes: [string, object][] = [
    [createDocument(asset), { input: [{ name: 'Pump', uid: 'C-7' }, { name: ' ' }] }],
    [createDocument(asset), { input: [{ name: 'Pump', uid: 'C-7' }] }],
    [updateDocument(asset), { input: [{ id: crane.id, name: null }, { id: yard.id }] }],
    [deleteDocument(location), { ids: [yard.id, crane.id] }],
  ];

  for (const [document, variables] of writes) {
    const tried = await dry(document, variables);
    const { body } = await service.graphql(document, variables);

    expect(tried.body.errors).toHaveLength(1);
    expect(tried.body.errors).toEqual(body.errors);
  }
});

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
