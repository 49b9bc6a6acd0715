/** `yardgraph keys`, and commands on a file that does not exist, or on none at all. What they print is in docs/commands.md, too. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../support/command.ts';
import { useTestDatabase } from '../support/database.ts';

const database = useTestDatabase();

const run = (...command: string[]) => runCommand({ DATABASE_URL: database.url }, ...command);
const creation = ['keys', 'create', '--workspace', 'acme', '--user', 'erp-sync'];
const create = (...options: string[]) => run(...creation, ...options);

test.each([
  [
    ['create', '--workspace', 'Acme Corp', '--user', 'x'],
    '--workspace: expected 1 to 63 lower-case letters, digits and hyphens, no hyphen first or last',
  ],
  [['create', '--workspace', 'acme', '--user', ''], '--user: expected 1 to 255 characters, no control characters'],
  [
    ['create', '--workspace', 'acme', '--user', 'x', '--expires', 'soon'],
    '--expires: expected a duration greater than zero, such as 90d, 12h or 30m',
  ],
  [['create', '--user', 'x'], '--workspace: required'],
  [
    [...creation.slice(1), '--write', 'assets,asset'],
    '--write: expected assets,workOrders,projects,locations,transportOrders,assetCategories,allocations,labels, or some of them',
  ],
  [
    [...creation.slice(1), '--write', 'assets', '--read-only'],
    "error: option '--write <kinds>' cannot be used with option '--read-only'",
  ],
])('%j is refused in one line, and ends with 1', async (command, line) => {
  expect(await run('keys', ...command)).toEqual({ code: 1, out: '', err: line });
});

test('revoke of a key that does not exist names the database that it has no key in', async () => {
  await create();
  const { code, out, err } = await run('keys', 'revoke', 'yardgraph_acme_00000000');
  const location = database.url.replace(/^sqlite:|\w+:\w+@/, '');
  expect([code, out]).toEqual([1, '']);
  expect(err).toBe(`database: ${location}\nthere is no key with this prefix: see node dist/src/cli.js keys list`);
});

test('list --json prints every field that a script may need, with times in ISO 8601', async () => {
  expect((await run('keys', 'list', '--json')).out).toBe('[]');
  const prefix = (
    await create('--label', 'ERP sync', '--expires', '90d', '--write', 'workOrders, assets,assets')
  ).out.slice(0, -44);

  const { code, out } = await run('keys', 'list', '--json');

  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual([
    {
      prefix,
      workspace: 'acme',
      user: 'erp-sync',
      readOnly: false,
      write: ['assets', 'workOrders'],
      label: 'ERP sync',
      state: 'active',
      createdAt: time,
      lastUsedAt: null,
      lastUsedFrom: null,
      expiresAt: time,
      revokedAt: null,
    },
  ]);
});

test('a key that creates a workspace says so: its name may be misspelled', async () => {
  await create();
  const key = (name: string) => run('keys', 'create', '--workspace', name, '--user', 'erp-sync');
  expect((await key('acne')).err).toMatch(/\nThe workspace acne is new\.$/);
  expect((await key('acne')).err).not.toContain('is new');
});

const onExistingFiles = [
  ['keys', 'list'],
  ['keys', 'revoke', 'yardgraph_acme_00000000'],
  ['workspaces', 'list'],
  ['workspaces', 'rename', 'acme', 'yard'],
  ['workspaces', 'delete', 'acme', '--yes'],
];

test.each(onExistingFiles.map((command) => [command]))('%j does not create a database', async (command) => {
  const path = database.url.replace('sqlite:', '').replace('yardgraph.db', 'data/yardgraph.db');
  expect(await runCommand({ DATABASE_URL: `sqlite:${path}` }, ...command)).toEqual({
    ...{ code: 1, out: '' },
    err: `there is no database file ${path}: check DATABASE_URL and the current folder`,
  });
  expect(existsSync(dirname(path))).toBe(false);
});

test('keys create creates a database and says so, because the first key may come before the first start', async () => {
  const path = database.url.replace('sqlite:', '').replace('yardgraph.db', 'new.db');
  const { code, err } = await runCommand({ DATABASE_URL: `sqlite:${path}` }, ...creation);
  expect([code, err.split('\n')[0]]).toEqual([0, `created ${path}`]);
});

test.each([creation, ['migrate'], ...onExistingFiles].map((command) => [command]))(
  '%j is refused with sqlite::memory:, which it would lose at once',
  async (command) => {
    expect(await runCommand({ DATABASE_URL: 'sqlite::memory:' }, ...command)).toEqual({
      ...{ code: 1, out: '' },
      err: 'DATABASE_URL: sqlite::memory: is lost when the command ends, use a file or a Postgres database',
    });
  },
);
