/** Commands on a database that has not all migrations: one brings it up to date, the others leave it as it is. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { migrationNames, migrationSource } from '../../src/store/schema/migrations.ts';
import { runCommand } from '../support/command.ts';
import { createDatabase } from '../support/database.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;

beforeEach(async () => {
  database = await createDatabase({ empty: true });
});

afterEach(() => database.remove());

const run = (...command: string[]) => runCommand({ DATABASE_URL: database.url }, ...command);

test.each([[['keys', 'list']], [['workspaces', 'list']], [['indexes', 'list']]])(
  '%j refuses an old database, and does not change it',
  async (command) => {
    const opened = await openDatabase(database.url);
    await opened.knex.migrate.down({ migrationSource });
    await opened.close();

    const { code, out, err } = await run(...command);

    expect([code, out, err.split('\n').at(-1)]).toEqual([
      1,
      '',
      'the database is not up to date, run node dist/src/cli.js migrate',
    ]);
    expect((await run('migrate')).out).toContain(`migrated: ${migrationNames.at(-1)}`);
  },
);

test('migrate brings the database up to date, and says so and where; again there is nothing to do', async () => {
  const path = database.url.replace(/^sqlite:/, '').replace(/\w+:\w+@/, '');
  const err = path === database.url.replace(/^sqlite:/, '') ? `created ${path}` : `database: ${path}`;

  expect(await run('migrate')).toEqual({ code: 0, out: `migrated: ${migrationNames.join(', ')}`, err });
  expect(await run('migrate')).toEqual({ code: 0, out: 'already up to date', err: `database: ${path}` });
});
