/** Labels: the names and colours of what is kept in other systems. */
import { describe, expect, test } from 'vitest';
import { foreignTypes } from '../../src/model/fields.ts';
import { label, labelKey, labelledTypes } from '../../src/records/index.ts';
import { updateDocument, upsertDocument } from '../support/mutations.ts';
import { useSharedService, useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

type Service = Pick<typeof service, 'data'>;

const setLabels = (to: Service, ...input: object[]) =>
  to.data(upsertDocument(label, 'outcome'), { by: { field: 'KEY' }, input });

test.each(labelledTypes)('a key may be that of %s', (type) => {
  expect(labelKey(type, '7')).toMatch(label.fields.key.form.pattern);
  expect(label.fields.key.form.called).toContain(labelKey(type, '').slice(0, -1));
});

test('all types but workspaces have labels', () => {
  expect([...labelledTypes, 'Workspace'].toSorted()).toEqual(Object.keys(foreignTypes).toSorted());
  expect(labelKey('Workspace', '7')).not.toMatch(label.fields.key.form.pattern);
});

test('what is kept in another system has the name and the colour of its label, wherever it is, or null', async () => {
  await setLabels(
    service,
    { key: 'STATUS:status-7', name: 'In use', color: '#2e7d32' },
    { key: 'ASSET_TYPE:status-7', name: 'Of another type' },
    { key: 'USER:erp-sync', name: 'The ERP' },
  );
  await service.create('/assets', { name: 'Crane', statusId: 'status-7', assetTypeId: 'type-1', ownerId: 'status-7' });
  await service.create('/work-orders', { name: 'Set up', statusId: 'status-7' });

  const query = `{
    assets { nodes { status { id name color } assetType { name color } owner { name } manufacturer { name } } }
    workOrdersSummary(groupBy: [STATUS]) { groups { status { name } } }
    status(id: "status-7") { name color }
    company(id: "unknown") { name color }
    changes { nodes { user { name } } }
    viewer { user { name } }
  }`;
  const expected = {
    assets: {
      nodes: [
        {
          status: { id: 'status-7', name: 'In use', color: '#2e7d32' },
          assetType: { name: null, color: null },
          owner: { name: null },
          manufacturer: null,
        },
      ],
    },
    workOrdersSummary: { groups: [{ status: { name: 'In use' } }] },
    status: { name: 'In use', color: '#2e7d32' },
    company: { name: null, color: null },
    changes: { nodes: Array.from({ length: 5 }, () => ({ user: { name: 'The ERP' } })) },
    viewer: { user: { name: 'The ERP' } },
  };
  // The first time by graphql-js, then by graphql-jit, with a space for a text that is not cached.
  for (const text of [query, query, `${query} `, `${query} `]) expect(await service.data(text)).toEqual(expected);
});

test('a label that is renamed or deleted shows at once, also where the response was cached', async () => {
  const read = async () => (await service.data('{ status(id: "status-7") { name } }')).status.name;
  const rename = (name: string) => setLabels(service, { key: 'STATUS:status-7', name });

  expect(await read()).toBeNull();
  expect(await rename('In use')).toEqual({ result: [{ outcome: 'CREATED' }] });
  expect(await read()).toBe('In use');
  expect(await rename('Rented')).toEqual({ result: [{ outcome: 'UPDATED' }] });
  expect(await read()).toBe('Rented');

  const { labels } = await service.data(
    '{ labels { nodes { id history { nodes { fields { field before after } } } } } }',
  );
  expect(labels.nodes[0].history.nodes[0].fields).toEqual([{ field: 'name', before: 'In use', after: 'Rented' }]);
  await service.data('mutation { deleteLabels(by: { field: KEY }, keys: ["STATUS:status-7"]) { id } }');
  expect(await read()).toBeNull();
});

test('a mutation returns the names as they are after it', async () => {
  const { setUp, create } = await service.data(`mutation {
    create: createAssets(input: [{ name: "Crane", statusId: "status-7" }]) { status { name } }
    upsertLabels(by: { field: KEY }, input: [{ key: "STATUS:status-7", name: "In use" }]) { outcome }
    setUp: createAssets(input: [{ name: "Pump", statusId: "status-7" }]) { status { name } }
  }`);

  expect([create, setUp]).toEqual([[{ status: { name: null } }], [{ status: { name: 'In use' } }]]);
});

describe('what is no label is refused:', () => {
  const types =
    'ALLOCATION_ORDER, ASSET_TYPE, COMPANY, PURCHASE_ORDER, STATUS, USER or WORK_ORDER_TYPE, a colon and an ID, such as STATUS:status-7';

  test.each([
    ['key', 'status-7', types],
    ['key', 'STATUS:', types],
    ['key', 'status:status-7', types],
    ['key', 'VENDOR:7', types],
    ['key', `STATUS:${'x'.repeat(256)}`, types],
    ['color', 'green', 'a colour such as #2e7d32'],
    ['color', '#2e7d3', 'a colour such as #2e7d32'],
    ['color', '#2e7d32 ', 'a colour such as #2e7d32'],
    ['color', '#2e7d32\n', 'a colour such as #2e7d32'],
  ])('%s %j', async (field, value, expected) => {
    const { status, body } = await service.post('/labels', [{ [field]: value }]);

    expect(status).toBe(400);
    expect(body.error).toMatch(`[0].${field}: expected ${expected}, received "`);
  });

  test('a key of another label', async () => {
    await service.create('/labels', { key: 'STATUS:7' });

    expect((await service.post('/labels', [{ key: 'STATUS:7' }])).body).toEqual({
      error: '[0].key: another label has the key "STATUS:7"',
      code: '409',
    });
  });
});

test('any ID that records may have can be labelled', async () => {
  const id = ` :\n𝄞"${'𝄞'.repeat(250)}`;
  await setLabels(service, { key: `STATUS:${id}`, name: 'Odd' });
  await service.create('/assets', { name: 'Crane', statusId: id });

  expect(await service.data('{ assets { nodes { status { name } } } }')).toEqual({
    assets: { nodes: [{ status: { name: 'Odd' } }] },
  });
});

test('keys that are exchanged are exchanged back', async () => {
  const created = await service.create('/labels', { key: 'STATUS:a', name: 'A' }, { key: 'STATUS:b', name: 'B' });
  const [a, b] = created.map(({ id }) => id);
  const rekey = (...input: object[]) => service.data(updateDocument(label), { input });
  await rekey({ id: a, key: 'STATUS:c' });
  await rekey({ id: b, key: 'STATUS:a' });

  const { revertChanges } = await service.data('mutation { revertChanges(after: "2", upTo: "4") { reversed failed } }');

  expect(revertChanges).toEqual({ reversed: 2, failed: 0 });
  expect(await service.data('{ status(id: "a") { name } }')).toEqual({ status: { name: 'A' } });
});

describe('statements', () => {
  const open = useSharedService();

  test('labels of all types are one for a step, and none if no name is selected', async () => {
    await setLabels(open, { key: 'STATUS:status-1', name: 'In use' }, { key: 'COMPANY:company-1', name: 'Hafenbau' });
    const ids = (index: number) => ({
      statusId: `status-${index % 7}`,
      companyId: `company-${index % 5}`,
    });
    await open.create('/projects', ...Array.from({ length: 100 }, (_, index) => ({ name: `${index}`, ...ids(index) })));
    const count = async (fields: string) =>
      (await open.statements(() => open.data(`{ projects(first: 100) { nodes { ${fields} } } }`))).length;

    const without = await count('status { id } company { id }');

    expect(without).toBe(1);
    for (const time of ['', ' ', '  ']) {
      expect(await count(`status { id name color } company { name ${time} }`)).toBe(without + 1);
    }
  });

  test('a name costs as much as a link', async () => {
    const costOf = async (query: string) => Number((await open.graphql(query)).headers['query-cost']);

    const [id, name, both] = await Promise.all(
      ['id', 'name', 'name color'].map((fields) =>
        costOf(`{ projects(first: 10) { nodes { status { ${fields} } } } }`),
      ),
    );

    expect([name, both]).toEqual([Number(id) + 10 * 4, Number(id) + 10 * 9]);
  });
});
