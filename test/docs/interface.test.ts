/** The page on the REST interface can be pasted. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pastePage, readPage } from '../support/docs.ts';
import { useProcesses } from '../support/process.ts';
import { listen, useSharedService } from '../support/service.ts';

const service = useSharedService();
const processes = useProcesses();

test('the examples of the REST interface return what the page shows', async () => {
  const address = await listen(service.app);

  await pastePage('docs/interface.md', processes.folder, address);
});

test('the table of codes has every code with its first example', () => {
  const printed = readFileSync('test/model/issues.txt', 'utf8');
  const rows = [...printed.matchAll(/^([\w-]+) \((\d+)\)\n {2}(.*)$/gm)].map(
    ([, code, status, message]) => `| \`${code}\` | ${status} | ${message} |`,
  );

  expect(readPage('docs/interface.md')).toContain(
    `| Code | Status | Message, for example |\n|---|---|---|\n${rows.join('\n')}\n\n`,
  );
  expect(rows.length).toBeGreaterThan(30);
});
