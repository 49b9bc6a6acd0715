/** The command line: what it says, and what it ends with. */
import { cpSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { version } from '../../package.json';
import { migrationNames } from '../../src/store/schema/migrations.ts';
import { runCommand } from '../support/command.ts';
import { createDatabase } from '../support/database.ts';
import { useProcesses } from '../support/process.ts';

const processes = useProcesses();
/** None of these commands gets as far as to open a database. */
const run = (...command: string[]) => runCommand({ DATABASE_URL: 'sqlite:/nowhere/yardgraph.db' }, ...command);

/** Of the package, with that of the schema. */
const versions = `${version} (schema ${migrationNames.at(-1)})`;

test('the process ends with the exit code of the command', async () => {
  const err = "error: required option '--to <url>' not specified";
  expect(await processes.start({}, 'copy', '--from', 'sqlite:a').ended()).toEqual({ code: 1, out: '', err });
  expect(await run('--version')).toEqual({ code: 0, out: versions, err: '' });
});

test('messages call it as it is called where the package is installed', async () => {
  // As npm packs it; the container has the same. Node finds a module where a link leads.
  cpSync('dist', join(processes.folder, 'dist'), { recursive: true });
  for (const entry of ['node_modules', 'package.json']) symlinkSync(resolve(entry), join(processes.folder, entry));
  const { url, remove } = await createDatabase();

  const listed = processes.startUnder({ checkout: processes.folder, command: ['keys', 'list'] }, { DATABASE_URL: url });
  const { err } = await listed.ended();

  await remove();
  expect(err).toContain('There are no keys: create one with yardgraph keys create.');
});

test('the help of every command says what it does and where the settings come from', async () => {
  const keys = ['create', 'list', 'revoke'].map((name) => `keys ${name}`);
  const workspaces = ['list', 'rename', 'delete'].map((name) => `workspaces ${name}`);
  for (const command of ['serve', 'demo', 'migrate', 'copy', 'import', 'export', 'undo', ...keys, ...workspaces]) {
    const { code, out } = await run(...command.split(' '), '--help');
    expect([command, code]).toEqual([command, 0]);
    expect(out).toMatch(new RegExp(`^Usage: yardgraph ${command} .*\n\n[a-z]`));
    // Commands that are clients of a service need no settings of its own.
    const isClient = ['import', 'export', 'undo'].includes(command);
    expect(/^Settings are environment variables, such as DATABASE_URL/m.test(out), command).toBe(!isClient);
    for (const variable of ['YARDGRAPH_API_KEY', 'YARDGRAPH_URL'])
      expect(out.includes(variable), command).toBe(isClient);
  }
  expect((await run('import', '--help')).out).toMatch(/--batch <rows> .*up to\s+999,999/);
});

const copyTo = '--to: expected sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE';

test.each([
  ['serv', "error: unknown command 'serv' (Did you mean serve?)"],
  ['keys lst', "error: unknown command 'lst' (Did you mean list?)"],
  ['serve --prot 1', "error: unknown option '--prot' (Did you mean --port?)"],
  ['serve --port ', '--port: expected a value'],
  ['demo --host http://localhost', 'HOST: expected an IP address or a host name'],
  ['copy --from sqlite:not-there.db --to sqlite:b.db', '--from: there is no file not-there.db'],
  ['copy --from mysql://x:secret@y/z --to sqlite:b.db', copyTo.replace('--to', '--from')],
  ['copy --from sqlite:a.db --to sqlite::memory:', copyTo],
])('%s is refused in one line, and ends with 1', async (command, line) => {
  expect(await run(...command.split(' '))).toEqual({ code: 1, out: '', err: line });
});
