/** What holds for every page of the documentation. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig, settingNames } from '../../src/config.ts';
import { blocksOf, pages, readPage } from '../support/docs.ts';

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

test.each(pages)('every link of %s leads to a file or a heading that exists', (page) => {
  for (const link of linksOf(page)) {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : join(dirname(page), path);
    expect(existsSync(target), `${link} in ${page}`).toBe(true);
    if (anchor) expect(anchorsOf(target), `${link} in ${page}`).toContain(anchor);
  }
});

test('every page is linked from README', () => {
  const linked = linksOf('README.md').map((link) => link.split('#')[0]);

  for (const page of pages.filter((it) => it !== 'README.md')) expect(linked).toContain(page);
});

/** What a test does with a code block; `ci` blocks are run by .ci/run, and `elsewhere` needs what tests do not have. */
const uses = ['run', 'output', 'variables', 'check', 'ci', 'elsewhere'];

test.each(pages)('every code block of %s says how it is checked', (page) => {
  for (const { use, text } of blocksOf(page)) expect(uses, text).toContain(use.split(' ')[0]);
});

test('every setting is on its page, in order, with its real default', () => {
  const rows = [...readPage('docs/settings.md').matchAll(/^\| `([A-Z_]+)` \| (?:`([^`]+)`)? ?\|/gm)].map(
    ([, name = '', value = '']) => [name, value],
  );

  expect(rows.map(([name]) => name)).toEqual(settingNames);
  expect(loadConfig(Object.fromEntries(rows))).toEqual(loadConfig({}));
});
