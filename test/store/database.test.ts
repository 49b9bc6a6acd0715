/** The database: opened with what durability and integrity need, migrated, and in the shape the kinds declare. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { knex } from 'knex';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { migrationNames } from '../../src/store/migrations.ts';
import { SqliteClient } from '../../src/store/sqlite-client.ts';

let folder: string;
let database: Database;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'yardgraph-'));
  database = await openDatabase(`sqlite:${folder}/new/folder/yardgraph.db`);
});

afterEach(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

const pragma = async (name: string) => Object.values((await database.knex.raw(`pragma ${name}`))[0])[0];

test('every connection is durable, checks foreign keys and waits for other processes', async () => {
  expect(await pragma('journal_mode')).toBe('wal');
  expect(await pragma('synchronous')).toBe(2);
  expect(await pragma('foreign_keys')).toBe(1);
  expect(await pragma('busy_timeout')).toBe(5_000);
});

test('a migration taken back leaves nothing, and can be taken again', async () => {
  await database.knex.migrate.rollback(undefined, true);
  const tables: { name: string }[] = await database.knex.raw(
    "select name from sqlite_master where name not like '%_migrations%' and name not like 'sqlite_%'",
  );
  expect(tables).toEqual([]);

  await database.knex.migrate.latest();
  await database.knex('locations').select();
});

describe('a database that cannot be used', () => {
  const opening = (url: string) => openDatabase(url).then((opened) => opened.close());

  test('is from a newer version', async () => {
    await database.knex('knex_migrations').insert({ name: '0999_future', batch: 1 });

    await expect(opening(`sqlite:${folder}/new/folder/yardgraph.db`)).rejects.toThrow(
      'the database is from a newer version of Yardgraph: it has the migration 0999_future',
    );
  });

  test('is no database', async () => {
    writeFileSync(`${folder}/text.db`, 'this is text, and long enough to be read as a header of some database file');

    await expect(opening(`sqlite:${folder}/text.db`)).rejects.toThrow(/^cannot use the database .*SQLITE_NOTADB/);
    expect(readFileSync(`${folder}/text.db`, 'utf8')).toMatch(/^this is text/);
  });

  test('lies where no folder can be', async () => {
    writeFileSync(`${folder}/file`, '');

    await expect(opening(`sqlite:${folder}/file/yardgraph.db`)).rejects.toThrow(/^cannot write to the folder .*file: /);
  });

  test('is a folder', async () => {
    await expect(opening(`sqlite:${folder}`)).rejects.toThrow(/^cannot use the database /);
  });
});

test('a migration lock that a killed process left does not stop a database that is up to date', async () => {
  await database.knex('knex_migrations_lock').update({ is_locked: 1 });

  const again = await openDatabase(`sqlite:${folder}/new/folder/yardgraph.db`);

  await again.ping();
  await again.close();
});

test('a migration that fails half way leaves nothing, no lock either', async () => {
  const url = `sqlite:${folder}/half.db`;
  const config = { client: SqliteClient, connection: { filename: `${folder}/half.db` }, useNullAsDefault: true };
  const earlier = knex(config);
  await earlier.schema.createTable('projects', (table) => table.increments());

  await expect(openDatabase(url)).rejects.toThrow(/already exists/);
  const tables: { name: string }[] = await earlier.raw("select name from sqlite_master where type = 'table'");
  expect(tables.map(({ name }) => name).filter((name) => !name.startsWith('sqlite_'))).toEqual(['projects']);

  await earlier.schema.dropTable('projects');
  await earlier.destroy();
  await (await openDatabase(url)).close();
});

test('three that are opened at once on a new file leave one clean schema', async () => {
  const url = `sqlite:${folder}/together.db`;

  const opened = await Promise.all(Array.from({ length: 3 }, () => openDatabase(url)));

  const applied = await Promise.all(opened.map(({ knex }) => knex('knex_migrations').pluck('name')));
  expect(applied).toEqual(opened.map(() => migrationNames));
  await Promise.all(opened.map((it) => it.close()));
});
