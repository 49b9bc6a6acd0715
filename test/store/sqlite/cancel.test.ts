/** Statements that take too long, on connections to SQLite: they are cancelled, and never block the process. */
import { pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { defaultOptions } from '../../../src/store/database-settings.ts';
import { createFile } from '../../support/database.ts';

/** Takes some seconds, unless it is interrupted. */
const slow = 'with recursive n(i) as (values (1) union all select i + 1 from n limit 50000000) select count(*) from n';

let database: Database;
let remove: () => Promise<void>;

beforeEach(async () => {
  const file = await createFile();
  remove = file.remove;
  database = await openDatabase(file.url, { ...defaultOptions, statementTimeout: 100 });
});

afterEach(async () => {
  await database.close();
  await remove();
});

test('a statement that only starts after its timeout, because all threads are busy, is interrupted', async () => {
  await database.read('select 1');
  const keepThreadsBusy = Array.from({ length: 8 }, () => promisify(pbkdf2)('', '', 300_000, 64, 'sha512'));

  await expect(database.read(slow)).rejects.toThrow('the database is not available, try again');

  await Promise.all(keepThreadsBusy);
  expect(await database.read('select 1 as n')).toEqual([{ n: 1 }]);
});

test('of more statements sent at once than the cache holds, one that is cancelled does not block the process', async () => {
  const others = Array.from({ length: 300 }, (_, n) => `select ${n} as n`);

  const outcomes = await database
    .snapshot((run) => Promise.allSettled([...others, slow, ...others].map((sql) => run(sql))))
    .catch(({ message }) => message);

  expect(outcomes).toBe('the database is not available, try again');
  expect(await database.read('select 1 as n')).toEqual([{ n: 1 }]);
});
