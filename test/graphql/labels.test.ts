/** Labels: the names and colours of what is kept in other systems. */
import { expect, test } from 'vitest';
import { foreignTypes } from '../../src/model/fields.ts';
import { label, labelKey, labelledTypes } from '../../src/records/index.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

test('all types but workspaces have labels', () => {
  expect([...labelledTypes, 'Workspace'].toSorted()).toEqual(Object.keys(foreignTypes).toSorted());
  for (const type of [...labelledTypes, 'Workspace'])
    expect(label.fields.key.form.pattern.test(labelKey(type, '7'))).toBe(type !== 'Workspace');
});

test('what is no label is refused', async () => {
  const types =
    'ALLOCATION_ORDER, ASSET_TYPE, COMPANY, PURCHASE_ORDER, STATUS, USER or WORK_ORDER_TYPE, a colon and an ID, such as STATUS:status-7';
  const colour = 'a colour such as #2e7d32';
  const keys = ['status-7', 'STATUS:', 'STATUS: \n'].map((key) => [{ key }, `key: expected ${types}`] as const);
  const colours = ['green', '#2e7d32\n'].map((color) => [{ color }, `color: expected ${colour}`] as const);
  for (const [label, issue] of [...keys, ...colours]) {
    const { status, body } = await service.post('/labels', [label]);
    expect([status, body.error]).toEqual([400, expect.stringContaining(`[0].${issue}, received "`)]);
  }
});

test('records are ordered and found by the names of their labels, page by page', async () => {
  const labels = { s1: 'Stufe 10', s2: 'Stufe 9', s3: 'stufe 2' };
  await service.create('/labels', ...Object.entries(labels).map(([id, name]) => ({ key: `STATUS:${id}`, name })));
  await service.create('/labels', { key: 'COMPANY:s4', name: 'Stufe 1' });
  await service.create('/work-orders', ...['s1', null, 's2', 's4', 's3', 's1'].map((statusId) => ({ statusId })));
  const order = 'orderBy: [{ status: { name: DESC } }]';
  type Page = { nodes: { statusId: string | null }[]; pageInfo: { hasNextPage: boolean; endCursor: string } };
  const pages: (string | null)[] = [];
  for (let after: string | null = null, hasMore = true; hasMore; ) {
    const query = `query ($after: String) { workOrders(first: 2, after: $after, ${order}) { nodes { statusId } pageInfo { hasNextPage endCursor } } }`;
    const { nodes, pageInfo }: Page = (await service.data(query, { after })).workOrders;
    pages.push(...nodes.map(({ statusId }) => statusId));
    [after, hasMore] = [pageInfo.endCursor, pageInfo.hasNextPage];
  }
  expect(pages).toEqual(['s1', 's1', 's2', 's3', 's4', null]);
  const where = 'where: { status: { name: { startsAlike: "STUFE 1" } } }';
  const { workOrders } = await service.data(`{ workOrders(${where}) { totalCount nodes { statusId } } }`);
  expect(workOrders).toEqual({ totalCount: 2, nodes: [{ statusId: 's1' }, { statusId: 's1' }] });
});
