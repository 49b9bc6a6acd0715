/** Labels in running text. */
import { expect, test } from 'vitest';
import { withArticle } from '../../src/model/article.ts';

test.each([
  ['asset', 'an asset'],
  ['asset category', 'an asset category'],
  ['work order', 'a work order'],
])('%s is written "%s"', (label, text) => {
  expect(withArticle(label)).toBe(text);
});
