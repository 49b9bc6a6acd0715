/** Commands on a database that is not up to date: `migrate` brings it up to date, wherever it is killed, and the others refuse it. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { connectDatabase, openDatabase } from '../../src/store/database.ts';
import { migrationNames, migrationSource } from '../../src/store/schema/migrations.ts';
import { runCommand } from '../support/command.ts';
import { createFile, useTestDatabase } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { useProcesses } from '../support/process.ts';

const processes = useProcesses();
const database = useTestDatabase({ empty: true });

const run = (...command: string[]) => runCommand({ DATABASE_URL: database.url }, ...command);

test('keys and workspaces refuse a database that is not up to date, and leave it as it is', async () => {
  const opened = await openDatabase(database.url);
  await opened.knex.migrate.down({ migrationSource });
  await opened.close();

  for (const command of ['keys', 'workspaces']) {
    const { code, out, err } = await run(command, 'list');
    expect([code, out, err.split('\n').at(-1)]).toEqual([
      1,
      '',
      'the database is not up to date, run node dist/src/cli.js migrate',
    ]);
  }
  expect((await run('migrate')).out).toContain(`migrated: ${migrationNames.at(-1)}`);
});

test('migrate brings the database up to date, and says so and where; again there is nothing to do', async () => {
  const path = database.url.replace(/^sqlite:/, '').replace(/\w+:\w+@/, '');
  const err = path === database.url.replace(/^sqlite:/, '') ? `created ${path}` : `database: ${path}`;
  expect(await run('migrate')).toEqual({ code: 0, out: `migrated: ${migrationNames.join(', ')}`, err });
  expect(await run('migrate')).toEqual({ code: 0, out: 'already up to date', err: `database: ${path}` });
});

test('a database of a version before 0.3.0 is refused by the service and by every command, and not changed', async () => {
  const earlier = await connectDatabase(database.url);
  await earlier.run('create table knex_migrations (id integer primary key, name text)');
  await earlier.run("insert into knex_migrations values (1, '0001_record_kinds'), (2, '0002_api_keys')");
  const target = await createFile({ empty: true });

  for (const command of [
    ['serve', '--port', '0'],
    ['migrate'],
    ['keys', 'create', '--workspace', 'acme', '--user', 'erp-sync'],
    ['keys', 'list'],
    ['workspaces', 'list'],
    ['workspaces', 'rename', 'acme', 'other'],
    ['copy', '--from', database.url, '--to', target.url],
  ]) {
    const { code, out, err } = await run(...command);
    expect([code, out, err.split('\n').at(-1)]).toEqual([
      1,
      '',
      'the database is from a version of Yardgraph before 0.3.0, and was not changed: export all records with that version, and import them with this one into a new database (see docs/install.md)',
    ]);
  }

  expect(await earlier.run('select name from knex_migrations order by id')).toHaveLength(2);
  await expect(earlier.run('select * from assets')).rejects.toThrow();
  await earlier.close();
  await target.remove();
});

const kills = byEffort({ small: 2, long: 30 });

test(`after ${kills} times kill -9 while it migrates, the next one completes it`, async () => {
  for (let kill = 0; kill < kills; kill += 1) {
    const { child, said, exited } = processes.start({ DATABASE_URL: database.url }, 'migrate');
    while (said.err === '' && child.exitCode === null) await pause(1);
    await pause((50 * kill) / kills);
    child.kill('SIGKILL');
    await exited;
  }

  expect(await run('migrate')).toMatchObject({ code: 0 });
  const opened = await openDatabase(database.url);
  const applied = await opened.run('select name from knex_migrations order by id');
  await opened.close();
  expect(applied.map(({ name }) => name)).toEqual(migrationNames);
});
