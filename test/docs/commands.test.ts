/** The page on commands can be pasted. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { pastePage, readPage } from '../support/docs.ts';
import { post, useProcesses } from '../support/process.ts';

const page = 'docs/commands.md';
const processes = useProcesses();

test('the commands on keys and workspaces print what the page shows', async () => {
  const service = processes.start();
  const address = await service.ready();
  await post(`${address}/locations`, [{ name: 'North yard' }]);
  service.child.kill('SIGTERM');
  await once(service.child, 'close');

  await pastePage(page, processes.folder, address);
});

test('every command is in the table', async () => {
  const { out } = await processes.start({}, '--help').ended();
  const commands = [...out.matchAll(/^ {2}(\w+) .*$/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');

  expect(commands.length).toBeGreaterThan(4);
  const table = readPage(page)
    .match(/^\| `.*$/gm)
    ?.join('\n');
  for (const command of commands) expect(table).toContain(`| \`${command}`);
});
