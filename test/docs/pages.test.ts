/** What holds for every page of the documentation. Its links are followed by test/pages/pages.test.ts. */
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig, settingNames } from '../../src/config.ts';
import { blocksOf, isPath, pages, readPage } from '../support/docs.ts';

test('every page is linked from README', () => {
  const targets = [...readPage('README.md').matchAll(/\]\(([^)\s#]+)/g)].map(([, target]) => target);
  for (const page of [...pages.slice(1), 'client/README.md']) expect(targets).toContain(page);
});

/** What a test does with a code block; `ci` blocks are run by .ci/run, and `elsewhere` needs what tests do not have. */
const uses = ['run', 'output', 'variables', 'check', 'ci', 'elsewhere'];

test.each(pages)('every code block of %s says how it is checked', (page) => {
  for (const { use, text } of blocksOf(page)) expect(uses, text).toContain(use.split(' ')[0]);
});

test.each(pages)('every block of %s that is to be checked is read by a test', (page) => {
  const test = testOf(page);

  for (const { use, text } of blocksOf(page)) {
    const [first, name = ''] = use.split(' ');
    if (first !== 'check') continue;
    expect(name, text).not.toBe('');
    expect(test, text).toContain(isPath(name) ? 'isPath(' : `checkedBlock(page, '${name}')`);
  }
});

/** The source of the page's test, or of the test of several pages. */
function testOf(page: string): string {
  const file = `test/docs/${basename(page, '.md')}.test.ts`;
  return readFileSync(existsSync(file) ? file : 'test/docs/pasted.test.ts', 'utf8');
}

test('every setting is on its page, in order, with its real default', () => {
  const rows = [...readPage('docs/settings.md').matchAll(/^\| `([A-Z_]+)` \| (?:`([^`]+)`)? ?\|/gm)].map(
    ([, name = '', value = '']) => [name, value],
  );
  expect(rows.map(([name]) => name)).toEqual(settingNames);
  expect(loadConfig(Object.fromEntries(rows))).toEqual(loadConfig({}));
});
