/** The indexes of the database are those that the fields declare, and those that an operator adds. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { location, recordKinds } from '../../src/records/index.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { columnName } from '../../src/store/query/columns.ts';
import { addIndex, dropIndex, fieldsToIndex, listIndexes } from '../../src/store/schema/indexes.ts';
import { createDatabase, isPostgres } from '../support/database.ts';
import { readPlan } from '../support/explain.ts';
import { insert } from '../support/insert.ts';
import { numberOf, storeOpener } from '../support/open-store.ts';

let created: Awaited<ReturnType<typeof createDatabase>>;
let database: Database;

beforeEach(async () => {
  created = await createDatabase();
  database = await openDatabase(created.url);
});

afterEach(async () => {
  await database.close();
  await created.remove();
});

/** The definitions of all indexes of a table but those that make values unique, by their names. */
async function definitionsOf(table: string): Promise<Record<string, string>> {
  const rows = await database.run(
    isPostgres
      ? `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as sql from pg_index
          where indrelid = '${table}'::regclass and not indisunique`
      : `select name, sql from sqlite_schema where tbl_name = '${table}' and type = 'index' and sql is not null`,
  );
  return Object.fromEntries(rows.map(({ name, sql }) => [String(name), String(sql)]));
}

/** The names of the indexes that the fields declare, except of what is unique, and of external IDs on SQLite, which have a table. */
const declaredNames = recordKinds.map(({ table, storedFields }) => {
  const indexed = Object.entries(storedFields).filter(
    ([, { indexed, unique, type }]) => indexed && !unique && (isPostgres || type !== 'externalIds'),
  );
  return [table, indexed.map(([field]) => `${table}_${columnName(field)}`).toSorted()] as const;
});

test.each(declaredNames)('the indexes of %s are those that the fields declare, and no others', async (table, names) => {
  const definitions = await definitionsOf(table);

  expect(Object.keys(definitions).toSorted()).toEqual(names);
  for (const [name, sql] of Object.entries(definitions)) {
    const column = name.slice(table.length + 1);
    if (column !== 'external_ids')
      expect(sql).toMatch(new RegExp(String.raw`\(workspace_id, (?:"left"\()?${column}\b`));
  }
});

test('external IDs and unique values are looked up in an index, too', async () => {
  const list = await listIndexes(database, recordKinds);

  expect(list.every(({ isOwn, isValid, bytes }) => isOwn && isValid && bytes > 0)).toBe(true);
  for (const kind of recordKinds) {
    const declared = Object.entries(kind.storedFields).filter(([, { indexed }]) => indexed);
    const listed = list.filter((index) => index.kind === kind && index.field !== 'id').map(({ field }) => field);
    expect(listed.toSorted()).toEqual(declared.map(([field]) => field).toSorted());
  }
});

test('an index can be added of each field that has none, in the form of those that migrations create', async () => {
  const before = await listIndexes(database, recordKinds);
  const added = recordKinds.flatMap((kind) => fieldsToIndex(kind).map((field) => [kind, field] as const));
  expect(added.length).toBeGreaterThan(20);

  for (const [kind, field] of added) await addIndex(database, kind, field);

  const listed = (await listIndexes(database, recordKinds)).filter(({ isOwn }) => !isOwn);
  expect(listed.map(({ kind, field, name }) => [kind, field, name])).toEqual(
    expect.arrayContaining(added.map(([kind, field]) => [kind, field, `${kind.table}_${columnName(field)}`])),
  );
  expect(listed).toHaveLength(added.length);
  const { locations_name: own, locations_city: ofCity } = await definitionsOf('locations');
  expect(ofCity).toBe(own?.replace('locations_name', 'locations_city').replace(/\bname\b/, 'city'));

  for (const [kind, field] of added) await dropIndex(database, kind, field);
  expect(await listIndexes(database, recordKinds)).toEqual(before);
});

test('after a restart, lists use an added index for their filter and for their order', async () => {
  await insert(storeOpener(database)('acme'), location, [{ city: 'Kiel' }, { city: 'Bremen' }, {}]);
  await addIndex(database, location, 'city');
  await database.close();
  database = await openDatabase(created.url);
  // Otherwise Postgres would read the whole table, because it is small.
  if (isPostgres) {
    await database.run(`insert into locations (workspace_id, id, created_at, updated_at)
      select ${numberOf('acme')}, 'location_' || n, now(), now() from generate_series(1, 2000) as n`);
  }

  const sent: { sql: string; bindings: readonly unknown[] }[] = [];
  database.knex.on('query', (statement) => sent.push(statement));
  const store = storeOpener(database)('acme');
  const query = { orderBy: [{ field: 'city', direction: 'desc' }], limit: 2, fields: new Set(['city']) } as const;
  const cities = (await store.list(location, query)).map(({ city }) => city);
  const [{ sql, bindings } = { sql: '', bindings: [] }] = sent;

  expect(cities).toEqual(['Kiel', 'Bremen']);
  const { text } = await readPlan(database.run, sql, bindings);
  expect(text).toContain('locations_city');
  // Those with a city and those without are read in the order of the index, one after the other.
  expect(sql).toContain('as first_part');
  expect(text).not.toContain('TEMP B-TREE FOR ORDER BY');
});

test.runIf(isPostgres)('an index that an earlier attempt has left is replaced', async () => {
  await addIndex(database, location, 'city');
  await database.run("update pg_index set indisvalid = false where indexrelid = 'locations_city'::regclass");
  const validity = async () => (await listIndexes(database, [location])).find(({ field }) => field === 'city')?.isValid;
  expect(await validity()).toBe(false);

  const reopened = await openDatabase(created.url);
  expect(reopened.dialect.indexes.has('locations_city')).toBe(false);
  await reopened.close();

  await addIndex(database, location, 'city');
  expect(await validity()).toBe(true);
});
