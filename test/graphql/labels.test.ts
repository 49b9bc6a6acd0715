/** Labels: the names and colours of what is kept in other systems. query-model.test.ts has filters and orders by them. */
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
