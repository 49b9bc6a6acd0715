/** Commands on a SQLite file that does not exist yet, and on no file at all. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../../support/command.ts';
import { useProcesses } from '../../support/process.ts';

const processes = useProcesses();
const create = ['keys', 'create', '--workspace', 'acme', '--user', 'erp-sync'];

const onExistingFiles = [
  ['keys', 'list'],
  ['keys', 'revoke', 'yardgraph_acme_00000000'],
  ['workspaces', 'list'],
  ['workspaces', 'rename', 'acme', 'yard'],
  ['workspaces', 'delete', 'acme', '--yes'],
];

test.each(onExistingFiles.map((command) => [command]))('%j does not create a database', async (command) => {
  const path = join(processes.folder, 'data/yardgraph.db');
  expect(await runCommand({ DATABASE_URL: `sqlite:${path}` }, ...command)).toEqual({
    ...{ code: 1, out: '' },
    err: `there is no database file ${path}: check DATABASE_URL and the current folder`,
  });
  expect(existsSync(join(processes.folder, 'data'))).toBe(false);
});

test('keys create creates a database and says so, because the first key may come before the first start', async () => {
  const path = join(processes.folder, 'yardgraph.db');
  const { code, err } = await runCommand({ DATABASE_URL: `sqlite:${path}` }, ...create);
  expect([code, err.split('\n')[0]]).toEqual([0, `created ${path}`]);
});

test.each([create, ['migrate'], ...onExistingFiles].map((command) => [command]))(
  '%j is refused with sqlite::memory:, which it would lose at once',
  async (command) => {
    expect(await runCommand({ DATABASE_URL: 'sqlite::memory:' }, ...command)).toEqual({
      ...{ code: 1, out: '' },
      err: 'DATABASE_URL: sqlite::memory: is lost when the command ends, use a file or a Postgres database',
    });
  },
);
