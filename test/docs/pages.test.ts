/** What holds for every page of the documentation. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig, settingNames } from '../../src/config.ts';
import { blocksOf, isPath, pages, readPage } from '../support/docs.ts';

const linksOf = (page: string) =>
  [...readPage(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target = '']) => target);

/** As GitHub makes them of headings. */
const anchorsOf = (page: string) =>
  [...readPage(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

/** The client's page is tested with its package. */
const linked = [...pages, 'client/README.md'];

test.each(linked)('every link of %s leads to a file or a heading that exists', (page) => {
  for (const link of linksOf(page)) {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : join(dirname(page), path);
    expect(existsSync(target), `${link} in ${page}`).toBe(true);
    if (anchor) expect(anchorsOf(target), `${link} in ${page}`).toContain(anchor);
  }
});

test('every page is linked from README', () => {
  const targets = linksOf('README.md').map((link) => link.split('#')[0]);
  for (const page of linked.filter((it) => it !== 'README.md')) expect(targets).toContain(page);
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
