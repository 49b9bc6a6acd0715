/** Pages that can be pasted from top to bottom, and their tables, which have everything. */
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { version } from '../../package.json';
import { fillDemo } from '../../src/demo/fill.ts';
import { passTime } from '../support/clock.ts';
import { runCommand } from '../support/command.ts';
import { checkedBlock, pastePage, pasteText, readPage, stepsOf } from '../support/docs.ts';
import { useProcesses } from '../support/process.ts';
import { listen, startOn, stopServices, useService } from '../support/service.ts';

const processes = useProcesses();
const service = useService();
afterEach(stopServices);

/** A service on the database that the commands of a page use. */
function startHere() {
  mkdirSync(`${processes.folder}/data`);
  return startOn(`sqlite:${processes.folder}/data/yardgraph.db`);
}

test('the demo returns the linked records that README shows, and the examples of the GraphQL guide what the guide shows', async () => {
  await fillDemo(service.database);
  const address = await listen(service.app);
  const page = 'README.md';
  const query = checkedBlock(page, 'demo-query').replace('http://127.0.0.1:4000', address);
  const response = await pasteText(query, processes.folder);
  expect(JSON.parse(response)).toEqual(JSON.parse(checkedBlock(page, 'demo-response')));
  await pastePage('docs/graphql.md', processes.folder, address);
});

test('the tour and the commands on keys in README can be pasted, in this order', async () => {
  const { app, get } = await startHere();
  const outputs = await pastePage('README.md', processes.folder, await listen(app));
  const keys = stepsOf('README.md').findIndex(({ text }) => text.includes('keys create'));
  expect(outputs[keys]).toMatch(/\[\]$/);
  await passTime(2_001);
  expect((await get('/asset-categories')).status).toBe(401);
});

test('README is shorter than 10 KB, and names the version', () => {
  expect(statSync('README.md').size).toBeLessThan(10_240);
  expect(readPage('README.md')).toContain(`this is version ${version.split('.').slice(0, 2).join('.')}.`);
});

test('the commands on imports and exports, and the examples of the REST interface, return what the pages show', async () => {
  for (const page of ['docs/import-and-export.md', 'docs/interface.md'])
    await pastePage(page, processes.folder, await listen(service.app));
});

test('the commands on keys and workspaces print what the page shows', async () => {
  await (await startHere()).create('/locations', { name: 'North yard' });
  await stopServices();
  await pastePage('docs/commands.md', processes.folder, await listen(service.app));
});

test('every command is in the table', async () => {
  const { out } = await runCommand({}, '--help');
  const commands = [...out.matchAll(/^ {2}(\w+) .*$/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');

  expect(commands.length).toBeGreaterThan(4);
  const table = readPage('docs/commands.md')
    .match(/^\| `.*$/gm)
    ?.join('\n');
  for (const command of commands) expect(table).toContain(`| \`${command}`);
});

test('the rule of /healthz shows its response', async () => {
  const { body } = await service.get('/healthz');
  expect(readPage('docs/interface.md')).toContain(`| \`GET /healthz\` | \`${JSON.stringify(body)}\`.`);
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
