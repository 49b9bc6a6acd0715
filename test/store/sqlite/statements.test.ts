/** The cache of prepared statements of a connection. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/store/database.ts';

let database: Database;

beforeEach(async () => {
  database = await openDatabase('sqlite::memory:');
});

afterEach(() => database.close());

test('more statements than the cache holds all return their rows, repeatedly', async () => {
  const numbers = Array.from({ length: 500 }, (_, n) => n);

  for (let time = 0; time < 2; time += 1) {
    const results = await Promise.all(numbers.map((n) => database.run(`select ${n} as n, ? as sent`, [`x${n}`])));
    expect(results.flat()).toEqual(numbers.map((n) => ({ n, sent: `x${n}` })));
  }
});

test('concurrent uses of one prepared statement each get their own result', async () => {
  const results = await Promise.all(Array.from({ length: 200 }, (_, n) => database.run('select ? as sent', [n])));

  expect(results.flat()).toEqual(Array.from({ length: 200 }, (_, sent) => ({ sent })));
});

test('a prepared statement still works after a very long value', async () => {
  const long = 'x'.repeat(1_000_000);

  for (const sent of [long, 'short', long]) {
    expect(await database.run('select length(?) as length', [sent])).toEqual([{ length: sent.length }]);
  }
});

test('a failing statement fails every time, and does not affect others', async () => {
  for (let time = 0; time < 3; time += 1) {
    await expect(database.run('select * from nothing')).rejects.toThrow('database error: SQLITE_ERROR');
    expect(await database.run('select 1 as n')).toEqual([{ n: 1 }]);
  }
});

test('a prepared statement sees a later change to its table', async () => {
  await database.run('create table changing (a)');
  await database.run('insert into changing values (1)');
  expect(await database.run('select * from changing')).toEqual([{ a: 1 }]);

  await database.run('alter table changing add column b default 2');

  expect(await database.run('select * from changing')).toEqual([{ a: 1, b: 2 }]);
});
