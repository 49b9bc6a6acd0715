/** Pages that can be pasted from top to bottom, and their tables, which have everything. */
import { readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { version } from '../../package.json';
import { fillDemo } from '../../src/demo/fill.ts';
import { eventually } from '../support/clock.ts';
import { checkedBlock, pastePage, pasteText, readPage, stepsOf } from '../support/docs.ts';
import { post, useProcesses } from '../support/process.ts';
import { listen, useService } from '../support/service.ts';

const processes = useProcesses();
const service = useService();

test('the demo returns the linked records that README shows', async () => {
  const page = 'README.md';
  const address = await processes.start({}, 'demo').ready();
  const query = checkedBlock(page, 'demo-query').replace('http://127.0.0.1:4000', address);
  const response = await pasteText(query, processes.folder);
  expect(JSON.parse(response)).toEqual(JSON.parse(checkedBlock(page, 'demo-response')));
});

test('the tour and the commands on keys in README can be pasted, in this order', async () => {
  const address = await processes.start().ready();
  const outputs = await pastePage('README.md', processes.folder, address);
  const keys = stepsOf('README.md').findIndex(({ text }) => text.includes('keys create'));
  expect(outputs[keys]).toMatch(/\[\]$/);
  // Within five seconds.
  await eventually(async () => expect((await fetch(`${address}/asset-categories`)).status).toBe(401));
});

test('README is shorter than 10 KB, and names the version', () => {
  expect(statSync('README.md').size).toBeLessThan(10_240);
  expect(readPage('README.md')).toContain(`this is version ${version.split('.').slice(0, 2).join('.')}.`);
});

test('the commands on imports and exports print what the page shows', async () => {
  await pastePage('docs/import-and-export.md', processes.folder, await processes.start().ready());
});

test('the commands on keys and workspaces print what the page shows', async () => {
  const { ready, child, exited } = processes.start();
  const address = await ready();
  await post(`${address}/locations`, [{ name: 'North yard' }]);
  child.kill('SIGTERM');
  await exited;
  await pastePage('docs/commands.md', processes.folder, address);
});

test('every command is in the table', async () => {
  const { out } = await processes.start({}, '--help').ended();
  const commands = [...out.matchAll(/^ {2}(\w+) .*$/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');

  expect(commands.length).toBeGreaterThan(4);
  const table = readPage('docs/commands.md')
    .match(/^\| `.*$/gm)
    ?.join('\n');
  for (const command of commands) expect(table).toContain(`| \`${command}`);
});

test('the examples of the GraphQL guide return what the page shows of the demo', async () => {
  await fillDemo(service.database);
  await pastePage('docs/graphql.md', processes.folder, await listen(service.app));
});

test('the examples of the REST interface return what the page shows', async () => {
  await pastePage('docs/interface.md', processes.folder, await listen(service.app));
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
