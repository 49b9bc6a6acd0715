/** Labels: the names and colours of what is kept in other systems. */
import { describe, expect, test } from 'vitest';
import { foreignTypes } from '../../src/model/fields.ts';
import { label, labelKey, labelledTypes } from '../../src/records/index.ts';
import { upsertDocument } from '../support/mutations.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

type Service = Pick<typeof service, 'data'>;

const setLabels = (to: Service, ...input: object[]) =>
  to.data(upsertDocument(label, 'outcome'), { by: { field: 'KEY' }, input });

test('all types but workspaces have labels', () => {
  expect([...labelledTypes, 'Workspace'].toSorted()).toEqual(Object.keys(foreignTypes).toSorted());
  for (const type of [...labelledTypes, 'Workspace'])
    expect(label.fields.key.form.pattern.test(labelKey(type, '7'))).toBe(type !== 'Workspace');
});

test('a label that is renamed or deleted shows at once, also where the response was cached', async () => {
  const read = async () => (await service.data('{ status(id: "status-7") { name } }')).status.name;
  const rename = (name: string) => setLabels(service, { key: 'STATUS:status-7', name });

  expect(await read()).toBeNull();
  expect(await rename('In use')).toEqual({ result: [{ outcome: 'CREATED' }] });
  for (const _attempt of [1, 2, 3]) expect(await read()).toBe('In use');
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
    ['key', 'STATUS: \n', types],
    ['color', 'green', 'a colour such as #2e7d32'],
    ['color', '#2e7d32\n', 'a colour such as #2e7d32'],
  ])('%s %j', async (field, value, expected) => {
    const { status, body } = await service.post('/labels', [{ [field]: value }]);
    expect(status).toBe(400);
    expect(body.error).toMatch(`[0].${field}: expected ${expected}, received "`);
  });
});
