/** The indexes of the database are those that the fields declare, and those that an operator creates: see docs/commands.md. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { location, recordKinds } from '../../src/records/index.ts';
import { columnName } from '../../src/store/query/columns.ts';
import { isPostgres } from '../support/database.ts';
import { readPlan } from '../support/explain.ts';
import { insert } from '../support/insert.ts';
import { numberOf, storeOpener } from '../support/open-store.ts';
import { openOwnDatabase } from '../support/own-database.ts';

test('the indexes of each table are those that the fields declare, and no others', async () => {
  const { database, close } = await openOwnDatabase();

  for (const { table, storedFields } of recordKinds) {
    // On SQLite, external IDs have a table.
    const declared = Object.entries(storedFields).filter(
      ([, { indexed, unique, type }]) => indexed && !unique && (isPostgres || type !== 'externalIds'),
    );
    const found = await database.run(
      isPostgres
        ? `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as sql from pg_index
            where indrelid = '${table}'::regclass and not indisunique`
        : `select name, sql from sqlite_schema where tbl_name = '${table}' and type = 'index' and sql is not null`,
    );
    expect(found.map(({ name }) => name).toSorted()).toEqual(
      declared.map(([field]) => `${table}_${columnName(field)}`).toSorted(),
    );
    for (const { name, sql } of found) {
      const column = String(name).slice(table.length + 1);
      if (column !== 'external_ids') expect(sql).toContain(`(workspace_id, ${column}`);
    }
  }
  await close();
});

test('an index that an operator creates as documented serves filters and orders at once', async () => {
  const { database, close } = await openOwnDatabase();
  const store = storeOpener(database)('acme');
  await insert(store, location, [{ city: 'Kiel' }, { city: 'Bremen' }, {}]);
  // Otherwise Postgres would read the whole table, because it is small.
  if (isPostgres) {
    await database.run(`insert into locations (workspace_id, id, created_at, updated_at)
      select ${numberOf('acme')}, 'location_' || n, now(), now() from generate_series(1, 2000) as n`);
  }
  const statements = readFileSync('docs/commands.md', 'utf8').match(/^create index .*$/gm) ?? [];
  await database.run(statements.find((sql) => sql.includes('concurrently') === isPostgres) ?? '');
  const sent: { sql: string; bindings: readonly unknown[] }[] = [];
  database.knex.on('query', (statement) => sent.push(statement));

  const fields = new Set(['city']);
  const where = { field: 'city', in: ['Kiel'] };
  const filtered = await store.list(location, { where, limit: 2, fields });
  const orderBy = [{ field: 'city', direction: 'desc' }] as const;
  const sorted = await store.list(location, { orderBy, limit: 2, fields });

  expect(filtered.map(({ city }) => city)).toEqual(['Kiel']);
  expect(sorted.map(({ city }) => city)).toEqual(['Kiel', 'Bremen']);
  const statementsOfLists = sent.splice(0);
  expect(statementsOfLists).toHaveLength(2);
  for (const { sql, bindings } of statementsOfLists) {
    const { text } = await readPlan(database.run, sql, bindings);
    expect(text).toContain('locations_city');
    expect(text).not.toContain('TEMP B-TREE FOR ORDER BY');
  }
  await close();
});
