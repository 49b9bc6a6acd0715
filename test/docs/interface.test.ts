/** The page on the REST interface can be pasted. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { recordKinds } from '../../src/records/index.ts';
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

test('the table of records has every field of every kind', () => {
  for (const { label, fields, storedFields } of recordKinds) {
    const row = new RegExp(`^\\| ${label} \\|(.*)\\|(.*)\\|$`, 'im').exec(readPage('docs/interface.md'));
    const [sent, set] = row?.slice(1).map((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name)) ?? [];

    expect(sent).toEqual(Object.keys(fields));
    expect([...(sent ?? []), ...(set ?? [])].toSorted()).toEqual(Object.keys(storedFields).toSorted());
    const required = Object.keys(fields).filter((name) => fields[name]?.required);
    expect([...(row?.[1] ?? '').matchAll(/`(\w+)` \(required\)/g)].map(([, name]) => name)).toEqual(required);
  }
});
