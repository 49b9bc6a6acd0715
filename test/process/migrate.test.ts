/** Kill -9 in the middle of migrating: the database is as it was, and the next process migrates it. */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { connectDatabase } from '../../src/store/database.ts';
import { migrationNames } from '../../src/store/schema/migrations.ts';
import { runCommand } from '../support/command.ts';
import { isPostgres } from '../support/database.ts';
import { earlierDatabase, migrationsOf, startAndCompare, versionsToMigrate } from '../support/earlier-databases.ts';
import { byEffort } from '../support/effort.ts';
import { useProcesses } from '../support/process.ts';

const processes = useProcesses();
const rounds = byEffort({ small: 2, long: 30 });

/** The rows of all tables, and how the schema is defined; without migrating. */
async function contents(url: string) {
  const database = await connectDatabase(url);
  const { run } = database;
  const alive =
    "select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'";
  // The server may not have noticed yet that a process was killed.
  while (isPostgres && (await run(alive)).length > 0) await pause(5);
  const schema = await run(
    isPostgres
      ? `select relname as name, relkind::text as type, pg_get_indexdef(oid) as definition,
          (select json_agg(format('%s %s', attname, format_type(atttypid, atttypmod)) order by attnum)::text
            from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped) as columns
          from pg_class c where relnamespace = 'public'::regnamespace order by relname`
      : 'select name, type, sql from sqlite_master order by name',
  );
  const rows: Record<string, string[]> = {};
  for (const { name, type } of schema) {
    if (type !== 'table' && type !== 'r') continue;
    rows[String(name)] = (await run(`select * from "${name}"`)).map((row) => JSON.stringify(row)).toSorted();
  }
  await database.close();
  const applied = rows.knex_migrations?.map((row) => JSON.parse(row).name).toSorted();
  return { schema, rows, applied };
}

/** Starts to migrate, and waits until the database is open. */
async function startMigrating(url: string) {
  const started = processes.start({ DATABASE_URL: url }, 'migrate');
  while (!started.said.err.includes('database:')) {
    if (started.child.exitCode !== null) throw new Error(started.said.err);
    await pause(1);
  }
  return started;
}

test('migrating says what disk it may need, and how long each step has taken', async () => {
  const [version = ''] = versionsToMigrate;
  const earlier = await earlierDatabase(version);

  const { out } = await processes.start({ DATABASE_URL: earlier.url }, 'migrate').ended();

  const pending = migrationNames.slice(migrationsOf(version).length);
  expect(out.split('\n')).toEqual([
    expect.stringMatching(/^migrating, which may need up to \d+ MB of disk space$/),
    ...pending.map((name) => expect.stringMatching(new RegExp(`^migrated ${name} in \\d+ ms$`))),
    `migrated: ${pending.join(', ')}`,
  ]);
  await earlier.remove();
});

test.each([
  [['keys', 'create', '--workspace', 'acme', '--user', 'erp-sync']],
  [['workspaces', 'rename', 'acme', 'other']],
])('%j does not migrate: a service of the earlier version may use the database', async (command) => {
  const earlier = await earlierDatabase(versionsToMigrate.at(-1) ?? '');
  const before = await contents(earlier.url);

  const { code, err } = await runCommand({ DATABASE_URL: earlier.url }, ...command);

  expect([code, err.split('\n').at(-1)]).toEqual([
    1,
    'the database is not up to date, run node dist/src/cli.js migrate',
  ]);
  expect(await contents(earlier.url)).toEqual(before);
  await earlier.remove();
});

describe.each([...new Set([versionsToMigrate.at(0), versionsToMigrate.at(-1)])])(
  'from migration %s',
  (version = '') => {
    test(`${rounds} times kill -9 while migrating leaves everything as it was, or migrated`, async () => {
      const first = await earlierDatabase(version);
      const { exited } = await startMigrating(first.url);
      const opened = performance.now();
      expect(await exited).toBe(0);
      const duration = performance.now() - opened;
      await first.remove();
      const outcomes = [];

      for (let round = 0; round < rounds; round += 1) {
        const earlier = await earlierDatabase(version);
        const before = await contents(earlier.url);
        const killed = await startMigrating(earlier.url);
        await pause((duration * (round + Math.random())) / rounds);
        killed.child.kill('SIGKILL');
        await killed.exited;

        const after = await contents(earlier.url);
        const isMigrated = after.applied?.length === migrationNames.length;
        if (isMigrated) expect(after.applied).toEqual(migrationNames);
        else expect(after).toEqual(before);
        expect(before.applied).toEqual(migrationsOf(version));
        outcomes.push(isMigrated ? 'migrated' : 'as it was');
        expect((await processes.start({ DATABASE_URL: earlier.url }, 'migrate').ended()).code).toBe(0);
        await startAndCompare(earlier);
        await earlier.remove();
      }

      expect(outcomes).toContain('as it was');
    });
  },
);
