/** Migrations: frozen, complete or not at all, however many processes start at once, and for databases of other versions. */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectDatabase, type Database, openDatabase } from '../../src/store/database.ts';
import { migrationSource } from '../../src/store/schema/migrations.ts';
import { createDatabase, isPostgres } from '../support/database.ts';

let url: string;
let remove: () => Promise<void>;
let database: Database;

beforeEach(async () => {
  ({ url, remove } = await createDatabase({ empty: true }));
  database = await openDatabase(url);
});

afterEach(async () => {
  await database.close();
  await remove();
});

const tablesOf = async ({ run }: Database): Promise<string[]> =>
  (
    await run(
      isPostgres
        ? 'select tablename as name from pg_tables where schemaname = current_schema()'
        : "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'",
    )
  ).map(({ name }) => String(name));

test('rolling back all migrations leaves no tables, and they can run again', async () => {
  await database.knex.migrate.rollback(undefined, true);
  expect((await tablesOf(database)).toSorted()).toEqual(['knex_migrations', 'knex_migrations_lock']);

  await database.knex.migrate.latest();
  await database.knex('locations').select();
});

test('a database from a newer version is not opened', async () => {
  await database.knex('knex_migrations').insert({ name: '0999_future', batch: 1 });
  await expect(openDatabase(url)).rejects.toThrow(
    'the database is from a newer version of Yardgraph: it has the migration 0999_future',
  );
});

test('a migration that fails halfway leaves neither tables nor a lock', async () => {
  await database.knex.migrate.rollback(undefined, true);
  await database.knex.schema.dropTable('knex_migrations').dropTable('knex_migrations_lock');
  await database.knex.schema.createTable('projects', (table) => void table.increments());

  // One line, without its SQL.
  await expect(openDatabase(url)).rejects.toThrow(/^cannot use the database [^\n]+ already exists$/);
  expect(await tablesOf(database)).toEqual(['projects']);

  await database.knex.schema.dropTable('projects');
  await (await openDatabase(url)).close();
});

test.runIf(isPostgres)(
  'six processes can open a new database at once if transactions are serializable by default',
  async () => {
    const fresh = await createDatabase({ empty: true });
    const name = new URL(fresh.url).pathname.slice(1);
    await database.run(`alter database ${name} set default_transaction_isolation = 'serializable'`);
    const opened = await Promise.all(Array.from({ length: 6 }, () => openDatabase(fresh.url)));
    for (const other of opened) await other.close();
    await fresh.remove();
  },
);

/** Hashes of the statements of released migrations. */
const released: Readonly<Record<string, string>> = {
  '0001_schema': isPostgres
    ? 'e674f9211999f72402b21404b8d03b04842904d94e9e641f95f380cadecf8866'
    : '46ad2c5f35f2782db2657285fb9f885b285da8dedf58dacac4757fe20699e6a2',
};

test.each(Object.entries(released))('the migration %s runs the statements of its release', async (name, hash) => {
  const { url, remove } = await createDatabase({ empty: true });
  const { knex, close } = await connectDatabase(url);
  const statements = createHash('sha256');
  knex.on('query', ({ sql, bindings = [] }: { sql: string; bindings?: unknown[] }) =>
    statements.update(`${sql.replace(/\s+/g, ' ')} ${JSON.stringify(bindings)}\n`),
  );
  await (await migrationSource.getMigration(name)).up(knex);
  await close();
  await remove();

  expect(statements.digest('hex'), 'a released migration was changed').toBe(hash);
});
