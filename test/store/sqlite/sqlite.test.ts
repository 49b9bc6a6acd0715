/** SQLite: the settings that durability and integrity need, and errors in one line if a database cannot be used. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { byEffort } from '../../support/effort.ts';

let folder: string;
let database: Database;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'yardgraph-'));
  database = await openDatabase(`sqlite:${folder}/yardgraph.db`);
});

afterEach(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

const pragma = async (name: string) => Object.values((await database.run(`pragma ${name}`))[0] ?? {})[0];

test('every connection is durable, checks foreign keys and waits for other processes', async () => {
  expect(await pragma('journal_mode')).toBe('wal');
  expect(await pragma('synchronous')).toBe(2);
  expect(await pragma('foreign_keys')).toBe(1);
  expect(await pragma('busy_timeout')).toBe(5_000);
});

const opening = (url: string) => openDatabase(url).then((opened) => opened.close());

test('a file that is not a database cannot be opened', async () => {
  writeFileSync(`${folder}/text.db`, 'this is text, and long enough to be read as a header of some database file');
  await expect(opening(`sqlite:${folder}/text.db`)).rejects.toThrow(/^cannot use the database .*SQLITE_NOTADB/);
  expect(readFileSync(`${folder}/text.db`, 'utf8')).toMatch(/^this is text/);
});

test('a database that is closed is one file, which can be copied', async () => {
  mkdirSync(`${folder}/closed`);
  for (let round = 0; round < byEffort({ small: 8, long: 100 }); round += 1) {
    const opened = await openDatabase(`sqlite:${folder}/closed/yardgraph.db`);
    await opened.run(
      "insert into locations (workspace_id, id, created_at, updated_at) select 1, hex(randomblob(9)), '', ''",
    );
    await Promise.all(Array.from({ length: 9 }, () => opened.read('select * from locations')));
    await opened.close();

    expect(readdirSync(`${folder}/closed`)).toEqual(['yardgraph.db']);
  }
});
