/** Migrations are frozen: a database that was created long ago has the tables that a new one gets. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { connectDatabase } from '../../src/store/database.ts';
import { migrationSource } from '../../src/store/schema/migrations.ts';
import { createDatabase, isPostgres } from '../support/database.ts';

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
