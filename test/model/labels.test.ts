/** Labels in running text, and names derived from them. */
import { expect, test } from 'vitest';
import { capitalized, counted, listField, uncapitalized, withArticle } from '../../src/model/labels.ts';
import { assetCategory, workOrder } from '../../src/records/index.ts';

test.each([
  ['asset', 'an asset'],
  ['asset category', 'an asset category'],
  ['work order', 'a work order'],
])('%s is written "%s"', (label, text) => {
  expect(withArticle(label)).toBe(text);
});

test.each([
  [0, '0 asset categories'],
  [1, '1 asset category'],
  [2, '2 asset categories'],
  [1_000, '1,000 asset categories'],
])('%i is counted as "%s"', (n, text) => {
  expect(counted(n, assetCategory)).toBe(text);
});

test('only the first letter changes between running text and a title', () => {
  expect([capitalized('asset categories'), uncapitalized('WorkOrders')]).toEqual(['Asset categories', 'workOrders']);
});

test('the list of work orders is the field workOrders', () => {
  expect(listField(workOrder)).toBe('workOrders');
});
