/** SQLite: the settings that durability and integrity need, and errors in one line if a database cannot be used. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { diskFullType, ServiceError } from '../../../src/errors.ts';
import { location } from '../../../src/records/index.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { defaultOptions } from '../../../src/store/database-settings.ts';
import { byEffort } from '../../support/effort.ts';
import { inSteps } from '../../support/insert.ts';
import { storeOpener } from '../../support/open-store.ts';

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

describe('a database cannot be opened', () => {
  const opening = (url: string) => openDatabase(url).then((opened) => opened.close());

  test('if the file is not a database', async () => {
    writeFileSync(`${folder}/text.db`, 'this is text, and long enough to be read as a header of some database file');

    await expect(opening(`sqlite:${folder}/text.db`)).rejects.toThrow(/^cannot use the database .*SQLITE_NOTADB/);
    expect(readFileSync(`${folder}/text.db`, 'utf8')).toMatch(/^this is text/);
  });

  test('if its folder does not exist, or is a file', async () => {
    writeFileSync(`${folder}/file`, '');

    await expect(opening(`sqlite:${folder}/fodler/yardgraph.db`)).rejects.toThrow(
      `DATABASE_URL: there is no folder ${folder}/fodler: create it first, or correct the path`,
    );
    await expect(opening(`sqlite:${folder}/file/yardgraph.db`)).rejects.toThrow('there is no folder');
  });

  test('if it is a folder', async () => {
    await expect(opening(`sqlite:${folder}`)).rejects.toThrow(/^cannot use the database /);
  });
});

test('a database that is closed is one file, which can be copied', async () => {
  mkdirSync(`${folder}/closed`);
  for (let round = 0; round < byEffort({ small: 20, long: 100 }); round += 1) {
    const opened = await openDatabase(`sqlite:${folder}/closed/yardgraph.db`);
    await opened.run(
      "insert into locations (workspace_id, id, created_at, updated_at) select 1, hex(randomblob(9)), '', ''",
    );
    await Promise.all(Array.from({ length: 9 }, () => opened.read('select * from locations')));
    await opened.close();

    expect(readdirSync(`${folder}/closed`)).toEqual(['yardgraph.db']);
  }
});

const store = () => storeOpener(database)('ours');

test('while another process holds the lock, a write is a 503, and the next one succeeds afterwards', async () => {
  const other = await openDatabase(`sqlite:${folder}/yardgraph.db`);
  await database.run('pragma busy_timeout = 50');
  await other.knex.raw('begin immediate');

  await expect(inSteps(store(), async (steps) => steps.add(location, [{}]))).rejects.toThrow(
    new ServiceError(503, 'the database is not available, try again'),
  );
  await other.knex.raw('rollback');

  await inSteps(store(), async (steps) => steps.add(location, [{}]));
  expect(await store().count(location)).toBe(1);
  await other.close();
});

test('a full disk is a 503: nothing of the batch is stored, and the next batch is', async () => {
  await database.run('pragma max_page_count = 40');
  const large = Array.from({ length: 2_000 }, () => ({ name: 'x'.repeat(100) }));

  await expect(inSteps(store(), async (steps) => steps.add(location, large))).rejects.toThrow(
    new ServiceError(503, 'the disk of the database is full: nothing can be stored', [], { type: diskFullType }),
  );

  await inSteps(store(), async (steps) => steps.add(location, [{}]));
  expect(await store().count(location)).toBe(1);
});

test('a commit that fails is an error, and leaves no transaction open', async () => {
  const orphan =
    "insert into asset_categories (workspace_id, id, parent_id, created_at, updated_at) values (1, 'a', 'b', '', '')";
  const failing = database.transaction(async (run) => {
    await run('pragma defer_foreign_keys = on');
    await run(orphan);
  });

  await expect(failing).rejects.toThrow('database error: SQLITE_CONSTRAINT');
  await database.transaction((run) => run('select 1'));
  expect(await database.run('select * from asset_categories')).toEqual([]);
});

test('a statement that runs too long is cancelled, and is a 503', async () => {
  const impatient = await openDatabase('sqlite::memory:', { ...defaultOptions, statementTimeout: 100 });
  const endless = 'with recursive n(i) as (values (1) union all select i + 1 from n) select count(*) from n';

  await expect(impatient.run(endless)).rejects.toThrow(
    new ServiceError(503, 'the database is not available, try again'),
  );

  await impatient.ping();
  await impatient.close();
});
